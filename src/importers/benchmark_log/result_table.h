// SPDX-License-Identifier: Apache-2.0
// Tables of results that a benchmark of one's own writes, as CSV, between bars or in columns: settings, and a
// time or a rate for each row of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  enum class Form { kNone, kCsv, kBars, kColumns };
  struct Raw {
    std::string title;  // the line above it
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;
  };

  static std::vector<std::string> CellsOf(std::string_view line, Form form);
  bool Opens(std::string_view line);
  Raw Largest() const;

  Form form_ = Form::kNone;
  std::string title_;
  std::vector<Raw> tables_;
  size_t lines_ = 0, taken_ = 0;
};

}  // namespace dladvisor::benchmark_log
