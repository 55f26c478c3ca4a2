// SPDX-License-Identifier: Apache-2.0
// The rows of a table of single GPU operations as those of a Trace.
//
// Columns have the names of nsys stats ("Start (ns)", "GrdX", "Reg/Trd") or of nvprof ("Start", "Grid X",
// "Registers Per Thread", and a row of units below them). What a row is follows from its name: "[CUDA memcpy
// HtoD]", a kernel, or, without a grid, a call of the CUDA API, which nvprof --print-api-trace adds. Which
// process it is of, and what launched it, stands in no column.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/gpu_rows/row_tables.h"
#include "src/trace/trace.h"

namespace dladvisor::gpu_table {

enum class Column : uint8_t {
  kStart,
  kDuration,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kStatic,
  kDynamic,
  kBytes,
  kFrom,
  kTo,
  kDevice,
  kStream,
  kName,
};
inline constexpr size_t kColumns = static_cast<size_t>(Column::kName) + 1;

// The columns of a header. Valid where it has a start, a duration, a grid and a name.
class Header {
 public:
  explicit Header(const std::vector<std::string>& cells);
  bool is_valid() const { return is_valid_; }
  bool is_of_nvprof() const { return is_of_nvprof_; }
  // The row of units below nvprof's; false where it is none.
  bool TakeUnits(const std::vector<std::string>& cells);

 private:
  friend class OperationRows;
  std::array<size_t, kColumns> at_{};
  std::array<double, kColumns> unit_{};  // in ns, or bytes
  size_t cells_ = 0;
  bool is_valid_ = false, is_of_nvprof_ = false;
};

class OperationRows {
 public:
  OperationRows();
  OperationRows(const OperationRows&) = delete;
  OperationRows& operator=(const OperationRows&) = delete;

  void Add(const Header& header, const std::vector<std::string>& cells);
  bool empty() const { return trace_.health.rows_read.empty(); }
  Trace Finish(const Header& header);

 private:
  uint32_t DeviceOf(std::string_view text);
  void AddCall(Ns start, Ns end, std::string_view name);
  void AddWork(GpuOperations& ops, Ns start, Ns end, std::string_view device, int64_t stream);

  Trace trace_;
  gpu_rows::Tables tables_;
  std::map<std::string, int64_t, std::less<>> ordinals_;
  std::map<int64_t, std::string> names_;
  std::vector<int64_t> launches_;  // of kernels, the number that nvprof gives their call
  Ns total_ = 0;
};

}  // namespace dladvisor::gpu_table
