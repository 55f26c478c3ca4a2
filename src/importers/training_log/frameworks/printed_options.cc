// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/printed_options.h"

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfOptions = 65536, kLongestSingleOption = 256;
// Fewer pairs are a call in code, or a line of results.
constexpr int kLeastOptions = 5;
constexpr int64_t kLargestBatch = 1'000'000, kMostWorkersOfOptions = 999;

void KeepMost(const char* name, int64_t value, std::map<std::string, std::string>& settings) {
  const auto known = settings.try_emplace(name, std::to_string(value)).first;
  if (value > Integer(known->second).value_or(value)) known->second = std::to_string(value);
}

void TakeBatch(std::string_view text, std::map<std::string, std::string>& settings) {
  const auto count = Integer(text);
  if (count && *count > 0 && *count < kLargestBatch) KeepMost("printed_batch_size", *count, settings);
}

// Whether the pairs on a line are those of a program's options.
bool PrintsOptions(std::string_view line) {
  static const RE2 named(
      R"((?:^|[^\w.])(?:Namespace|\w*(?:Config|Configuration|Args|Arguments|Options|Params))\()"),
      dictionary(R"([{(] ?['"][\w.-]+['"]: )"), pair(R"(\b\w+['"]?(?:=|: )['"]?[\w./-]+['"]?\s?[,)}])");
  if (!RE2::PartialMatch(line, named) && !RE2::PartialMatch(line, dictionary)) return false;
  re2::StringPiece rest(line.data(), line.size());
  int pairs = 0;
  while (pairs < kLeastOptions && RE2::FindAndConsume(&rest, pair)) ++pairs;
  return pairs == kLeastOptions;
}

void TakeOptions(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 option(
      R"(\b(batch_size|batchSize|batch_size_per_gpu|samples_per_gpu|num_?workers|n_workers|workers|nThreads|data_workers|dataloader_num_workers|workers_per_gpu|fp16|use_fp16|amp|use_amp|mixed_precision|compile|torch_compile|use_compile|compile_model)['"]?(?:=|: )['"]?([\w.-]+)['"]?\s?[,)}])"),
      half(
          R"((?i)\b\w*(?:fp16|bf16|amp|half|autocast|mixed_precision)\w*['"]?(?:=|: )(?:True|1\b)|(?:=|: )['"]?(?:torch\.)?(?:(?:fp16|bf16|float16|bfloat16|half|16-mixed|bf16-mixed|16-true|bf16-true)['"]?|16['"])\s?[,)}]|\b\w*(?:dtype|precision)['"]?(?:=|: )['"]?(?:torch\.)?(?:fp16|bf16|float16|bfloat16|half|16)\b)");
  re2::StringPiece rest(line.data(), line.size());
  std::string name, value;
  // Workers of reinforcement learning play the environment.
  static const RE2 of_playing(R"(gamma|rollout|num_envs|env_name|env_id)");
  const bool plays = RE2::PartialMatch(line, of_playing);
  bool full = false;
  while (RE2::FindAndConsume(&rest, option, &name, &value)) {
    const bool off = value == "False" || value == "false" || value == "no";
    if (name.starts_with("batch") || name.starts_with("samples")) {
      TakeBatch(value, settings);
    } else if (name.find("orkers") != std::string::npos || name == "nThreads") {
      const auto count = Integer(value);
      if (!plays && count && *count >= 0 && *count <= kMostWorkersOfOptions)
        KeepMost("num_workers", *count, settings);
    } else if (name.find("compile") != std::string::npos) {
      if (value == "True") settings["compile"] = value;
      if (value == "False") settings.try_emplace("compile", value);
    } else {
      full = full || off;
    }
  }
  if (full && !RE2::PartialMatch(line, half)) settings.try_emplace("amp", "False");
}

}  // namespace

void TakePrintedOptions(std::string_view line, std::map<std::string, std::string>& settings) {
  if (line.size() <= kLongestSingleOption) {
    static const RE2 batch(
        R"((?:^|[\s|])['"]?(?:batch_size|batchSize|batch_size_per_gpu|samples_per_gpu)['"]? *[:=|] *(\d{1,6})\s?[,|]?\s*(?:\[default: .*)?$)");
    std::string value;
    if ((line.find("batch") != std::string_view::npos ||
         line.find("samples_per_gpu") != std::string_view::npos) &&
        RE2::PartialMatch(line, batch, &value))
      TakeBatch(value, settings);
  }
  if (line.size() > kLongestLineOfOptions ||
      (line.find("atch") == std::string_view::npos && line.find("orkers") == std::string_view::npos))
    return;
  if (PrintsOptions(line)) TakeOptions(line, settings);
}

}  // namespace dladvisor::training_log
