// SPDX-License-Identifier: Apache-2.0
// Rows of the CSV files that tools of load and of benchmarks write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::benchmark_log {

// Commas part the cells, but within quotes, which are left out.
std::vector<std::string> CsvCells(std::string_view line);

}  // namespace dladvisor::benchmark_log
