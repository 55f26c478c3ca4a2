// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/csv_cells.h"

namespace dladvisor::benchmark_log {

std::vector<std::string> CsvCells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

}  // namespace dladvisor::benchmark_log
