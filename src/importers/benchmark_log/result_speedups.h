// SPDX-License-Identifier: Apache-2.0
// Columns of a table of results that say how many times as fast each row is as a reference.
#pragma once

#include <string>
#include <vector>

#include "src/importers/benchmark_log/result_settings.h"
#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

struct ResultColumn {
  std::string name;
  Role role = Role::kIgnored;
  SettingKind kind = SettingKind::kGiven;
  std::vector<std::string> cells;
  std::vector<double> numbers;  // 0 where a cell holds none
};

// Those of times as fast alone: not of percent, of energy or memory, of an ideal, nor of a row of the table
// itself, such as one device. Where two columns of times are to be seen they must be their ratio.
std::vector<ResultSpeedup> SpeedupsOf(const std::vector<ResultColumn>& columns,
                                      const std::vector<ResultColumn*>& settings);

}  // namespace dladvisor::benchmark_log
