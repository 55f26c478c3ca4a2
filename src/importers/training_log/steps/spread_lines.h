// SPDX-License-Identifier: Apache-2.0
// Steps that a program prints over several lines: a heading with the step's number, "--> STEP: 24/36", and
// below it a line for each figure, "| > step_time: 1.3". As one line they are what others print.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

class SpreadLinesReader {
 public:
  // The step whose lines end before this one, as a line of its own; nothing where none does.
  std::optional<std::string> Line(std::string_view line);

 private:
  std::string step_;  // the heading and the figures so far, "" outside
  int figures_ = 0;
};

}  // namespace dladvisor::training_log
