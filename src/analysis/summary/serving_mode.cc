// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/serving_mode.h"

#include <map>
#include <utility>

#include "src/analysis/context/range_text.h"
#include "src/analysis/context/serving_step.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<ServingModeRow>& ServingModeRelation() {
  static const auto relation =
      RelationOf<ServingModeRow>(
          "serving_mode", "Steps of an inference server by what they do, from the ranges of its engine.")
          .Key("rank", &ServingModeRow::rank, kRankNumber, "Rank.")
          .Key("mode", &ServingModeRow::mode, Unit::kText,
               "prefill (new prompts), decode (a token for each request), or mixed.")
          .Column("steps", &ServingModeRow::steps, Unit::kCount, "Steps in the profile.")
          .Column("requests", &ServingModeRow::requests, Unit::kCount, "Mean number of requests in one.")
          .Column("tokens", &ServingModeRow::tokens, Unit::kCount,
                  "Mean number of tokens in one; unknown where ranges do not say it.");
  return relation;
}

std::vector<ServingModeRow> ComputeServingModes(const Context& context) {
  const Ranges& ranges = context.trace.ranges;
  const RangeTexts& texts = *context.texts;
  std::vector<std::optional<ServingStep>> steps(texts.size());
  for (uint32_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts.TextAt(i);
    // Engines that nest both kinds of ranges give each step two.
    if (context.steps.range_pattern.empty() || ServingStepPattern(text) == context.steps.range_pattern)
      steps[i] = ParseServingStep(text);
  }
  struct Sums {
    int64_t steps = 0, requests = 0, tokens = 0, with_tokens = 0;
  };
  std::map<std::pair<int64_t, std::string_view>, Sums> by_mode;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& step = steps[texts.IndexOf(ranges.name[i])];
    const int64_t rank = step ? context.RankOfThread(ranges.thread[i]) : -1;
    if (rank < 0) continue;
    Sums& sums = by_mode[{rank, step->mode}];
    ++sums.steps;
    sums.requests += step->requests;
    sums.tokens += step->tokens.value_or(0);
    sums.with_tokens += step->tokens.has_value();
  }
  std::vector<ServingModeRow> rows;
  for (const auto& [key, sums] : by_mode) {
    ServingModeRow& row = rows.emplace_back();
    row.rank = key.first;
    row.mode = key.second;
    row.steps = sums.steps;
    row.requests = static_cast<double>(sums.requests) / static_cast<double>(sums.steps);
    if (sums.with_tokens == sums.steps)
      row.tokens = static_cast<double>(sums.tokens) / static_cast<double>(sums.steps);
  }
  return rows;
}

const Family& ServingModeFamily() {
  static const Family family = FamilyOf(ServingModeRelation(), ComputeServingModes);
  return family;
}

}  // namespace dladvisor
