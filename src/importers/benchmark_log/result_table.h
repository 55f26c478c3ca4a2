// SPDX-License-Identifier: Apache-2.0
// Tables of results that a benchmark of one's own writes, as CSV, between bars or in columns: settings, and a
// time or a rate for each row of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/benchmark_log/compare_table.h"
#include "src/importers/benchmark_log/hyperfine_lines.h"
#include "src/importers/benchmark_log/result_columns.h"
#include "src/importers/benchmark_log/triton_table.h"
#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class ResultTableReader {
 public:
  void Line(std::string_view line);
  // The one with most rows, where it has a measure and a setting, and those with the same columns, whose
  // titles are a setting then. Nothing where there is none, the text is more than tables, or the rows are
  // parts of one run.
  std::optional<ResultTable> Finish() const;

 private:
  enum class Form { kNone, kCsv, kBars, kColumns, kWords };
  static std::vector<std::string> CellsOf(std::string_view line, Form form);
  bool Opens(std::string_view line);
  RawResults Largest() const;

  Form form_ = Form::kNone;
  std::string title_;
  std::vector<RawResults> tables_;
  CompareTableReader compare_;
  HyperfineLinesReader hyperfine_;
  TritonTableReader triton_;
  std::string records_;  // lines that are objects of JSON
  size_t lines_ = 0, taken_ = 0, record_lines_ = 0;
};

}  // namespace dladvisor::benchmark_log
