// SPDX-License-Identifier: Apache-2.0
// What launchers and loggers print before each line of what a program prints: "[rank0]: ", "0: " of srun -l,
// "(Worker_TP0 pid=12) ", "2025-01-01 10:00:00,123 - INFO - ". A table within keeps the order of its columns
// behind it.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor::summary_table {

class LinePrefix {
 public:
  // The line without the prefix of the table that is open; nothing of a line of another rank or process.
  std::string_view Without(std::string_view line);

 private:
  std::string prefix_;
  bool dated_ = false;  // so that its digits differ from line to line
};

}  // namespace dladvisor::summary_table
