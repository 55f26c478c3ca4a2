// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/part_purpose.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

struct PurposeWords {
  std::string_view purpose;
  const char* words;
};

// The first that fits counts: "load checkpoint" reads weights, "save checkpoint" writes them, "validation
// data loading" is input.
constexpr PurposeWords kPurposes[] = {
    // Of llama.cpp and Ollama, reading the prompt and generating.
    {"", "\\bprompt eval|\\beval duration"},
    // A collection that is compiled, and a phase of the training that is called so.
    {"",
     "compil\\w+ (?:the )?(?:data|corpus|report|list|results?|stat)|warm ?up "
     "(?:epochs?|training|phase|lr|learning)"},
    // Of Ollama, reading the model.
    {"weights", "^ ?load duration"},
    {"compilation",
     "compil(?:e|ing|ation)|warm ?up|\\bfirst call\\b|\\bjit\\b|auto ?tun(?:e|ing)|\\blower(?:ing)?$|graph "
     "capture|trac(?:e|ing) model"},
    {"weights",
     "(?:load|restor|read|download|initiali[sz]|instantiat)\\w* (?:\\w+ "
     "){0,3}(?:model|weights?|checkpoint|ckpt|pipeline|engine|tokenizer|encoder)s?\\b|"
     "\\b(?:model|weights?|checkpoint|ckpt|pipeline|engine|tokenizer)s? (?:load|init|download|start "
     "?up|setup)\\w*"},
    {"checkpoint",
     "(?:sav|writ|dump)\\w* (?:\\w+ "
     "){0,3}(?:model|weights?|checkpoint|ckpt|state)s?\\b|\\bcheckpoint\\w*|\\bckpt\\b"},
    {"transfer",
     "\\b(?:h2d|d2h|host to device|device to host|host2device|to (?:the "
     ")?(?:gpu|cuda|device|cpu|host)|memcpy|htod|dtoh|data ?transfer|transfer)\\b"},
    {"postprocessing",
     "post ?process|\\bnms\\b|non.max|\\bde ?tokeni[sz]|\\bdraw|visuali[sz]|\\brender(?:ing)? "
     "(?:box|result|label)"},
    {"preprocessing",
     "pre ?process|\\btokeni[sz]|\\bresiz|\\baugment|\\btransforms?\\b|feature extract|\\bcollat|letterbox"},
    {"input",
     "\\bdata ?load|\\bload(?:ing|er)?\\b|\\bdata\\b(?: "
     "(?:time|wait\\w*|fetch\\w*|read\\w*|prep\\w*))?$|\\b(?:fetch|read|decod)\\w* (?:\\w+ "
     "){0,2}(?:batch|data|images?|video|frames?|samples?|files?|audio)\\w*|"
     "\\bbatch (?:generat|fetch|load|prep)\\w*|\\bnext batch\\b|\\binput pipeline\\b|\\bi ?o\\b"},
    {"evaluation", "\\b(?:eval\\w*|valid(?:at\\w*)?|val)\\b|\\bmetrics?\\b"},
    {"optimizer",
     "\\boptimi[sz]er|\\bopt(?:im)? (?:step|time|update)|\\badamw?\\b|\\b(?:weights?|params?|parameters?) "
     "updat|\\bclip\\w* grad|\\bgrad\\w* clip"},
    {"communication",
     "\\ball ?reduce|\\breduce ?scatter|\\ball "
     "?gather|\\bnccl\\b|\\bcomm(?:unication)?s?\\b|\\b(?:sync|synchroni[sz])\\w* (?:\\w+ )?grad|\\bgrad\\w* "
     "sync"},
    {"environment",
     "\\benv(?:ironment)?s?\\b|\\brollouts?\\b|\\bcollect\\w* (?:experience|rollout|sample|data)"},
    {"output",
     "\\b(?:writ|sav|export|upload|stor)\\w* (?:\\w+ "
     "){0,2}(?:outputs?|results?|images?|video|frames?|files?|disk)\\b|\\bwrit(?:e|ing)\\b|\\bsav(?:e|ing)"
     "\\b"},
};

}  // namespace

std::string_view PartPurpose(std::string_view name) {
  std::string words(name);
  static const RE2 camel("([a-z])([A-Z])"), no_letter("[^A-Za-z0-9]+");
  RE2::GlobalReplace(&words, camel, R"(\1 \2)");
  RE2::GlobalReplace(&words, no_letter, " ");
  static const auto* forms = [] {
    auto* list = new std::vector<std::pair<std::string_view, std::unique_ptr<RE2>>>;
    for (const PurposeWords& row : kPurposes)
      list->emplace_back(row.purpose, std::make_unique<RE2>(fmt::format("(?i){}", row.words)));
    return list;
  }();
  for (const auto& [purpose, form] : *forms)
    if (RE2::PartialMatch(words, *form)) return purpose;
  return "";
}

}  // namespace dladvisor
