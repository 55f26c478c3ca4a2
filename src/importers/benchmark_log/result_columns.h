// SPDX-License-Identifier: Apache-2.0
// A table of cells as results: which columns are settings, which one is measured, and how much work in a time
// each row stands for. Whatever its file is, text or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

struct RawResults {
  std::string title;  // the line above it
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  // a cell for each name
  bool compares = false;                       // by a tool that measures ways to do the same: two are enough
};

// Whether a table with these names may be one of results: with a measure, and not a profiler's, of parts.
bool MayBeResults(const std::vector<std::string>& names);

// Nothing where no column is a measure or a setting, or the rows are parts of one run.
std::optional<ResultTable> ResultsOf(const RawResults& raw);

}  // namespace dladvisor::benchmark_log
