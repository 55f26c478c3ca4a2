// SPDX-License-Identifier: Apache-2.0
// Numbers in the cells of tables of results, as people write them: "1,234", "**8.1**", "8.1 ± 0.3", "1.06x",
// "120 us" among "1.2 ms".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::benchmark_log {

struct CellNumber {
  double value = 0;
  double unit = 0;  // of a time that it names, in seconds; 0 without
};

// What a cell begins with, and next to nothing behind it; nothing of words, dates and names.
std::optional<CellNumber> NumberOfCell(std::string_view cell);

// Of a column, in one unit; 0 where a cell holds no number.
std::vector<double> NumbersOfColumn(const std::vector<std::string>& cells);

// That the first cell names with a unit of time; "" without.
std::string UnitOfColumn(const std::vector<std::string>& cells);

// "OOM", "CUDA out of memory".
bool SaysOutOfMemory(std::string_view cell);
// A cell of a column of numbers that says that there is none: "timeout", "N/A", "OOM".
bool SaysFailed(std::string_view cell);

}  // namespace dladvisor::benchmark_log
