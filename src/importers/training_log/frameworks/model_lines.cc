// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/model_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfModel = 16384, kMostModelRanks = 65536;
constexpr double kLeastParameters = 1e5, kMostParameters = 1e14;

double ScaleOf(std::string_view letter) {
  if (letter.empty()) return 1;
  switch (letter.front()) {
    case 'K':
    case 'k':
      return 1e3;
    case 'M':
    case 'm':
      return 1e6;
    case 'B':
    case 'b':
    case 'G':
      return 1e9;
    default:
      return 1e12;
  }
}

std::optional<double> Parameters(std::string number, std::string_view scale) {
  std::erase(number, ',');
  std::erase(number, '_');
  const auto count = Number(number);
  if (!count) return std::nullopt;
  const double parameters = *count * ScaleOf(scale);
  return parameters >= kLeastParameters && parameters <= kMostParameters ? std::optional(parameters)
                                                                         : std::nullopt;
}

}  // namespace

void ModelLinesReader::TakeParameters(std::string_view line, std::map<std::string, std::string>& settings) {
  if ((line.find("aram") == std::string_view::npos || line.size() > 512) &&
      line.find("config_overrides") == std::string_view::npos)
    return;
  static const RE2 of_rank(
      R"(number of parameters on \(tensor, pipeline\) model parallel rank \((\d+), (\d+)\): (\d+))"),
      adapter(R"(trainable params: [\d,]+ \|\| all params: ([\d,]+))"),
      whole(
          R"((?i)\b(?:(?:total )?number of (?:model |trainable )?param(?:eter)?s|(?:total|model|num(?:ber)?|n)[ _](?:trainable[ _])?param(?:eter)?s(?:[ _]count)?|param(?:eter)?[ _]count)\s*[:=]?\s*([\d,_]+(?:\.\d+)?) ?([KMBGT]?)(?:illion)?(?: |\s*$|[,.;)|]))");
  std::string first, second, number;
  if (RE2::PartialMatch(line, of_rank, &first, &second, &number)) {
    const auto count = Number(number);
    if (!count || ranks_.size() > kMostModelRanks || !ranks_.insert(first + "," + second).second) return;
    of_ranks_ += *count;
    settings["model_parameters"] = std::to_string(std::llround(of_ranks_));
    return;
  }
  if (RE2::PartialMatch(line, adapter, &number)) {
    settings["adapter"] = "True";
    if (const auto count = Parameters(number, ""))
      settings["model_parameters"] = std::to_string(std::llround(*count));
    return;
  }
  // Of Transformers' "--config_overrides n_embd=11264,n_head=32,n_layer=64": the products of its layers.
  static const RE2 width(R"(\bn_embd=(\d{2,6})\b)"), depth(R"(\bn_layer=(\d{1,4})\b)");
  if (line.find("config_overrides") != std::string_view::npos && RE2::PartialMatch(line, width, &first) &&
      RE2::PartialMatch(line, depth, &second)) {
    const double wide = Number(first).value_or(0), layers = Number(second).value_or(0);
    settings.try_emplace("model_parameters", std::to_string(std::llround(12 * layers * wide * wide)));
    return;
  }
  // "2 trainable params: ..." of one model among several leaves open which is trained.
  if (!ranks_.empty() || settings.contains("adapter") || !RE2::PartialMatch(line, whole, &number, &first))
    return;
  if (const auto count = Parameters(number, first)) {
    const auto known = settings.try_emplace("model_parameters", std::to_string(std::llround(*count))).first;
    const auto before = Number(known->second);
    // The whole model is the larger of two counts; Megatron's of a rank are of other lines.
    if (before && *count > *before) known->second = std::to_string(std::llround(*count));
  }
}

void ModelLinesReader::Line(std::string_view line, std::map<std::string, std::string>& settings) {
  TakeParameters(line, settings);
  if (line.size() > kLongestLineOfModel) return;
  static const RE2 experts(
      R"((?i)\bmoe\b|mixture[- ]of[- ]experts|mixtral|num_(?:local_|routed_)?experts['"]?[:= ]+[1-9]|deepseek[-_]?v[23]|qwen\d[\w.]*-\d+b-a\d+b)");
  if (!settings.contains("experts") && RE2::PartialMatch(line, experts)) settings["experts"] = "True";
  if (line.find("heckpoint") == std::string_view::npos && line.find("CHECKPOINT") == std::string_view::npos &&
      line.find("Synchronization") == std::string_view::npos)
    return;
  static const RE2 on(
      R"re((?i)(?:^|[\s,{(\['"-])(?:use_|enable_)?(?:gradient|activation)[_-]checkpointing['"]?(?:[:= ]+['"]?(true|false|on|off|full|none|null|yes|no|1|0)\b))re"),
      flag(R"((?:^|\s)--(?:use_|enable_)?(?:gradient|activation)[_-]checkpointing(?:\s+-|\s*\\?\s*$))"),
      // Transformers' own, and torchtitan's.
      warned(
          R"(`use_cache=True` is incompatible with gradient checkpointing|Applied full activation checkpointing|[Gg]radient checkpointing (?:is )?enabled)"),
      elsewhere(R"(Partition Activations (True|False), CPU CHECKPOINTING (True|False))"),
      synchronizes(R"(----Synchronization True)");
  std::string value, host;
  if (RE2::PartialMatch(line, warned) || RE2::PartialMatch(line, flag))
    settings["checkpoint_activations"] = "True";
  if (RE2::PartialMatch(line, on, &value)) {
    value = Lower(value);
    if (value == "true" || value == "on" || value == "full" || value == "yes" || value == "1")
      settings["checkpoint_activations"] = "True";
    else
      settings.try_emplace("checkpoint_activations", "False");
  }
  if (RE2::PartialMatch(line, elsewhere, &value, &host)) {
    settings["partition_activations"] = value;
    settings["activations_on_host"] = host;
  }
  if (line.find("checkpointing.py") != std::string_view::npos && RE2::PartialMatch(line, synchronizes))
    settings["checkpoint_synchronizes"] = "True";
}

}  // namespace dladvisor::training_log
