// SPDX-License-Identifier: Apache-2.0
// What evaluations between lines of steps took.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// A progress bar that is full, and that its title names for one of an evaluation.
struct EvaluationBar {
  std::string title;
  double ns = 0;
};
std::optional<EvaluationBar> FullEvaluationBar(std::string_view line);

// Adds to a log, whose iterations are those before the line, what a line says of an evaluation.
class StepEvaluations {
 public:
  void Bar(std::string_view line, TrainingLog& log);
  void Line(std::string_view line, TrainingLog& log);
  static void Total(std::string_view line, TrainingLog& log);
  // A single one behind the last iteration is the test of what was trained.
  void LeaveOutTest(TrainingLog& log) const;

 private:
  double ns_ = 0;               // of the evaluation whose lines come
  std::optional<size_t> rows_;  // how many there were at the last evaluation
  std::string title_;           // of its bar
};

}  // namespace dladvisor::training_log
