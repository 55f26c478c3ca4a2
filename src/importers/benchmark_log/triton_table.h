// SPDX-License-Identifier: Apache-2.0
// Tables that triton.testing's perf_report prints without the unit of their values, which may be times or
// rates: a title with a colon, the names of columns, and numbered rows with a value for each provider. With a
// unit they are tables of results as others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class TritonTableReader {
 public:
  // Whether the line is part of such a table.
  bool Line(std::string_view line);
  // The one with most rows. All its settings are given: which provider is faster does not follow without the
  // unit.
  std::optional<ResultTable> Finish() const;

 private:
  struct Table {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;
  };

  std::vector<Table> tables_;
  bool titled_ = false, open_ = false;
};

}  // namespace dladvisor::benchmark_log
