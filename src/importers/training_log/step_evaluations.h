// SPDX-License-Identifier: Apache-2.0
// What evaluations between lines of steps took.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// Adds to a log, whose iterations are those before the line, what a line says of an evaluation.
class StepEvaluations {
 public:
  void Bar(std::string_view line, TrainingLog& log);
  void Line(std::string_view line, TrainingLog& log);
  static void Total(std::string_view line, TrainingLog& log);

 private:
  double ns_ = 0;               // of the evaluation whose lines come
  std::optional<size_t> rows_;  // how many there were at the last evaluation
};

}  // namespace dladvisor::training_log
