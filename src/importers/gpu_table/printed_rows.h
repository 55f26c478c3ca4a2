// SPDX-License-Identifier: Apache-2.0
// Lines of nvprof --print-gpu-trace and --print-api-trace as people read them: columns end where their names
// end, and each value has its unit. Starts have five digits, 1 ms of 12 s, which is too coarse for a
// timeline: what is read of them is how often what ran, for how long in all, and where long pauses are.
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
  double start_ns = 0, ns = 0;
  double coarse_ns = 0;  // how exact the start is
  std::string device;
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

  std::optional<Place> grid_, size_, from_, to_, device_;
  Place start_, duration_;
  size_t name_ = 0;  // where it begins
};

class PrintedTotals {
 public:
  void Add(const PrintedRow& row);
  // That another table begins, of a process with starts of its own.
  void BeginTable();
  int64_t rows() const { return rows_; }
  SummaryTable Finish();

 private:
  void AddTime(const PrintedRow& row);

  SummaryTable table_;
  std::optional<double> first_ns_;
  double last_ns_ = 0, last_start_ns_ = 0;
  std::string device_;
  bool one_timeline_ = true;  // of one process and one GPU
  std::map<std::string, size_t, std::less<>> row_of_;
  int64_t rows_ = 0;
};

}  // namespace dladvisor::gpu_table
