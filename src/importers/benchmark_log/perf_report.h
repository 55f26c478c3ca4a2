// SPDX-License-Identifier: Apache-2.0
// Results of NVIDIA's clients of servers, GenAI-Perf and AIPerf, whose statistics have a row each: as the
// table of their terminal ("│ Time to first token (ms) │ 16.26 │ 12.39 │ ..."), as CSV, and as JSON
// ("time_to_first_token":
// {"unit": "ms", "avg": 16.26, ...}).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class PerfReportReader {
 public:
  // Whether the line is part of a table.
  bool Line(std::string_view line);
  std::vector<RequestBenchmark> Finish() const;

 private:
  using Row = std::map<std::string, double, std::less<>>;  // by column: "avg", "p99"

  bool CsvLine(std::string_view line);
  bool TakeRow(const std::vector<std::string>& cells);

  bool csv_ = false;
  std::vector<std::string> columns_;  // of the table that is open; empty without one
  std::vector<std::map<std::string, Row, std::less<>>> tables_;
};

bool LooksLikePerfReport(std::string_view head);
// Nothing where it names no time until the first token.
std::optional<RequestBenchmark> PerfReportOfJson(std::string_view text);

}  // namespace dladvisor::benchmark_log
