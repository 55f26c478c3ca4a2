// SPDX-License-Identifier: Apache-2.0
// Tables of torch.utils.benchmark's Compare: a row for each case, a column for each way to compute it, and
// one after the other for each number of threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/benchmark_log/result_columns.h"

namespace dladvisor::benchmark_log {

class CompareTableReader {
 public:
  // Whether the line is part of such a table.
  bool Line(std::string_view line);
  // A row for each time; nothing without the unit, which stands below.
  std::optional<RawResults> Finish() const;

 private:
  std::string title_, threads_, unit_;
  std::vector<std::string> ways_;
  std::vector<std::vector<std::string>> rows_;  // title, threads, case, way, time
  bool open_ = false;
};

}  // namespace dladvisor::benchmark_log
