// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/serving_step.h"

#include <re2/re2.h>

namespace dladvisor {

std::string_view ServingStepPattern(std::string_view range) {
  static const RE2 step(R"(^step\[[A-Z_]+ bs=\d+)"), execute(R"(^execute_(?:\d+_)?context_\d+\()");
  const re2::StringPiece text(range.data(), range.size());
  if (range.starts_with("step[") && RE2::PartialMatch(text, step)) return kEngineStep;
  if (range.starts_with("execute_") && RE2::PartialMatch(text, execute)) return kEngineExecution;
  return {};
}

}  // namespace dladvisor
