// SPDX-License-Identifier: Apache-2.0
// What evaluations took in logs of no known program: by the dates of the lines that begin and end one, or by
// the clock of a progress bar that is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class GeneralEvaluations {
 public:
  // Looks for a bar, with a title or below a heading, behind so many lines of steps. True where it tells of
  // an evaluation; `known`: that there is one behind these steps, which then is the same.
  bool Bar(std::string_view line, size_t steps, bool known);
  // A line that tells that something happens between steps.
  void Line(std::string_view line);
  // `steps`: lines of them in the whole log. A single evaluation behind the last is the test of what was
  // trained.
  void Report(size_t steps, TrainingLog& log) const;

 private:
  std::optional<int64_t> since_;
  bool headed_ = false;  // by the last line that is no bar
  int64_t count_ = 0;
  double ns_ = 0;
  size_t titled_at_ = 0;  // lines of steps before the last bar that has a title
  std::string title_;     // this
};

}  // namespace dladvisor::training_log
