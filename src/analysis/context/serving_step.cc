// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/serving_step.h"

#include <re2/re2.h>

#include <string>

namespace dladvisor {

std::string_view ServingStepPattern(std::string_view range) {
  static const RE2 step(R"(^step\[[A-Z_]+ bs=\d+)"), execute(R"(^execute_(?:\d+_)?context_\d+\()");
  const re2::StringPiece text(range.data(), range.size());
  if (range.starts_with("step[") && RE2::PartialMatch(text, step)) return kEngineStep;
  if (range.starts_with("execute_") && RE2::PartialMatch(text, execute)) return kEngineExecution;
  return {};
}

namespace {

std::optional<int64_t> NumberIn(const std::string& digits) {
  return digits.empty() ? std::nullopt : std::optional<int64_t>(std::stoll(digits));
}

}  // namespace

std::optional<ServingStep> ParseServingStep(std::string_view range) {
  static const RE2 step(R"(^step\[([A-Z_]+) bs=(\d{1,9})(?: toks=(\d{1,9}))?)"),
      execute(R"(^execute_(?:(\d{1,9})_)?context_(\d{1,9})\([^)]*\)_generation_(\d{1,9})\()");
  const re2::StringPiece text(range.data(), range.size());
  if (range.starts_with("step[")) {
    std::string mode, digits;
    int64_t requests = 0;
    if (!RE2::PartialMatch(text, step, &mode, &requests, &digits)) return std::nullopt;
    std::optional<int64_t> tokens = NumberIn(digits);
    const std::string_view of = mode == "DECODE" ? kDecode : mode == "EXTEND" ? kPrefill : kMixed;
    if (of == kDecode && !tokens) tokens = requests;
    return ServingStep{of, requests, tokens};
  }
  if (!range.starts_with("execute_")) return std::nullopt;
  std::string digits;
  int64_t context = 0, generation = 0;
  if (!RE2::PartialMatch(text, execute, &digits, &context, &generation)) return std::nullopt;
  const std::string_view mode = context == 0 ? kDecode : generation == 0 ? kPrefill : kMixed;
  return ServingStep{mode, context + generation, NumberIn(digits)};
}

}  // namespace dladvisor
