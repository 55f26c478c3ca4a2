// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_texts.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_settings.h"

namespace dladvisor::benchmark_log {
namespace {

struct NumberedText {
  std::string mask;  // with # for numbers, and without the s of several
  Pairs numbers;     // with the words before each or behind it
};

// "Testing batch size 8..." has 8 for "batch size", "4 GPUs" has 4 for "GPUs".
NumberedText Numbered(const std::string& text) {
  static const RE2 number(R"((^|[^\w.])(\d[\d,]*(?:\.\d+)?[kKM]?)(?:\b|$))"),
      behind(
          R"((?i)^[ -]?((?:gpu|thread|worker|node|process|proc|rank|core|device|stream|client|user|request)s?)\b)"),
      before(R"(((?:[A-Za-z][\w.]* )?[A-Za-z#][\w.]*)[\s=:_-]*$)"),
      idle(R"(^(?i:running|testing|with|for|benchmarking|using|the|at|and|size) )"), plural(R"(s\b)");
  NumberedText result;
  re2::StringPiece rest(text), start, digits;
  const char* from = text.data();
  while (RE2::FindAndConsume(&rest, number, &start, &digits)) {
    const std::string lead(from, static_cast<size_t>(digits.data() - from));
    std::string name;
    if (!RE2::PartialMatch(rest, behind, &name) && RE2::PartialMatch(lead, before, &name))
      RE2::Replace(&name, idle, "");
    if (name.empty()) name = "n";
    std::string value(digits.data(), digits.size());
    std::erase(value, ',');
    result.numbers.emplace_back(name, value);
    result.mask += lead + "#";
    from = rest.data();
  }
  result.mask.append(from, static_cast<size_t>(text.data() + text.size() - from));
  RE2::GlobalReplace(&result.mask, plural, "");
  return result;
}

std::set<std::string> WordsOf(const std::string& text) {
  static const RE2 word(R"(([A-Za-z]+))");
  std::set<std::string> words;
  re2::StringPiece rest(text);
  for (std::string found; RE2::FindAndConsume(&rest, word, &found);) {
    std::ranges::transform(found, found.begin(), [](unsigned char c) { return std::tolower(c); });
    words.insert(found);
  }
  return words;
}

// Whether a text names a stage of the work, by words that not all texts have.
bool NamesStage(const std::string& text, const std::set<std::string>& common) {
  static const RE2 stage(
      R"((?:(?:pre|post)?_?process(?:ing|ed)?|pre|post|load(?:ing|er)?|read(?:ing)?|writ(?:e|ing)|init(?:iali[sz]\w*)?|warm(?:up|ing)?|setup|alloc\w*|free|cop(?:y|ies|ying)|memcpy|transfers?|upload|download|hd|dh|dtoh|htod|prefill|decod(?:e|ing)|encod(?:e|ing)|tokeni[sz]\w*|forward|backward|fwd|bwd|optimizer|total|overall|sum|all|wall|elapsed|compilation|first|cold|warm|setting|host|overhead|idle|wait(?:ing)?|verif\w*|generat\w*|train(?:ing)?|eval\w*|user|sys|real|epoch|step))");
  return std::ranges::any_of(WordsOf(text), [&](const std::string& word) {
    return !common.contains(word) && RE2::FullMatch(word, stage);
  });
}

}  // namespace

bool AreWays(const std::vector<std::string>& texts) {
  const std::set<std::string> values(texts.begin(), texts.end());
  if (values.size() < 2) return false;
  std::map<std::string, size_t> counts;
  for (const std::string& text : values)
    for (const std::string& word : WordsOf(text)) ++counts[word];
  std::set<std::string> common;
  for (const auto& [word, count] : counts)
    if (count == values.size()) common.insert(word);
  if (std::ranges::any_of(values, [&](const std::string& text) { return NamesStage(text, common); }))
    return false;
  static const RE2 base(
      R"((?i)(?:^|[\W_])(?:naive|base(?:line)?|ref(?:erence)?|eager|(?:py)?torch|cublas|cudnn|numpy|unfused|unoptimi[sz]ed|sequential|serial|default|vanilla|native|fp32|float32|cpu)(?:$|[\W_]))");
  const auto ways = static_cast<size_t>(std::ranges::count_if(values, IsWay));
  return 4 * ways >= values.size() && ways > 0 && (ways == values.size() || ways > 1 || values.size() == 2) &&
         std::ranges::any_of(values, [](const std::string& value) { return RE2::PartialMatch(value, base); });
}

std::vector<Pairs> SettingsOfTexts(const std::vector<std::string>& texts) {
  std::vector<Pairs> settings(texts.size());
  if (texts.empty() || std::ranges::all_of(texts, [&](const auto& text) { return text == texts[0]; }))
    return settings;
  std::vector<NumberedText> numbered;
  for (const std::string& text : texts) numbered.push_back(Numbered(text));
  const bool by_number = !numbered[0].numbers.empty() && std::ranges::all_of(numbered, [&](const auto& text) {
    return text.mask == numbered[0].mask;
  });
  const char* const name = !by_number && AreWays(texts) ? "variant" : "case";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!by_number) {
      settings[i].emplace_back(name, texts[i]);
      continue;
    }
    for (size_t k = 0; k < numbered[0].numbers.size(); ++k)
      settings[i].emplace_back(numbered[0].numbers[k].first, numbered[i].numbers[k].second);
  }
  return settings;
}

}  // namespace dladvisor::benchmark_log
