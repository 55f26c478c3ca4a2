// SPDX-License-Identifier: Apache-2.0
// What hyperfine prints on a terminal: for each command a block ("Benchmark 1: python infer.py", "  Time
// (mean ± σ):      2.345 s ±  0.054 s    [User: 2.100 s, System: 0.300 s]").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/importers/benchmark_log/result_columns.h"

namespace dladvisor::benchmark_log {

class HyperfineLinesReader {
 public:
  // Whether the line is one of its.
  bool Line(std::string_view line);
  // With the columns of its own files; nothing without two commands.
  std::optional<RawResults> Finish() const;

 private:
  std::string command_;  // whose times follow
  bool open_ = false, summary_ = false;
  RawResults results_;
};

}  // namespace dladvisor::benchmark_log
