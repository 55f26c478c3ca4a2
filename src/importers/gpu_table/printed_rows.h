// SPDX-License-Identifier: Apache-2.0
// Lines of nvprof --print-gpu-trace and --print-api-trace as people read them: columns end where their names
// end, and each value has its unit. Starts have five digits, 1 ms of 12 s, which is too coarse for a
// timeline: what is read of them is how often what ran, and for how long in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/summary_table.h"

namespace dladvisor::gpu_table {

struct PrintedRow {
  SummaryRowKind kind = SummaryRowKind::kKernel;
  std::string name;
  double ns = 0;
  std::optional<double> bytes;
};

// The columns of a table.
class PrintedRows {
 public:
  // Nothing where the line is no header of such a table.
  static std::optional<PrintedRows> Of(std::string_view line);

  bool has_grids() const { return grid_.has_value(); }
  // Nothing where the line is no row.
  std::optional<PrintedRow> RowOf(std::string_view line) const;

 private:
  using Place = std::pair<size_t, size_t>;  // where a column begins and ends

  std::optional<Place> grid_, size_;
  Place start_, duration_;
  size_t name_ = 0;  // where it begins
};

class PrintedTotals {
 public:
  void Add(const PrintedRow& row);
  int64_t rows() const { return rows_; }
  SummaryTable Finish();

 private:
  SummaryTable table_;
  std::map<std::string, size_t, std::less<>> row_of_;
  int64_t rows_ = 0;
};

}  // namespace dladvisor::gpu_table
