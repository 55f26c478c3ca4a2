// SPDX-License-Identifier: Apache-2.0
// The rows of one table of rocprofv3, as CSV with the names of its columns first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/bytes/byte_source.h"
#include "src/importers/bytes/lines.h"

namespace dladvisor::rocprof_csv {

enum class Kind : uint8_t { kKernels, kCopies, kMemory, kRegions, kAgents };
// By its first line.
std::optional<Kind> KindOf(std::string_view head);

enum class Cell : uint8_t {
  kDomain,
  kFunction,
  kProcess,
  kThread,
  kCorrelation,
  kStart,
  kEnd,
  kAgent,
  kQueue,
  kStream,
  kKernel,
  kRegisters,
  kShared,
  kScratch,
  kBlockX,
  kBlockY,
  kBlockZ,
  kGridX,
  kGridY,
  kGridZ,
  kDirection,
  kFrom,
  kTo,
  kOperation,
  kBytes,
  kAddress,
  kNode,
  kType,
  kUnits,
  kClock,
  kName,
  kProduct,
};
inline constexpr size_t kCells = static_cast<size_t>(Cell::kProduct) + 1;

class CsvRows {
 public:
  // At its beginning.
  explicit CsvRows(ByteSource& source);

  // False at the end. Lines that have fewer cells than the first, or more, are passed over and counted.
  bool Next();
  int64_t broken() const { return broken_; }

  bool Has(Cell cell) const { return column_[static_cast<size_t>(cell)] < names_; }
  // "" where the table has no such column.
  std::string_view Text(Cell cell) const;
  std::optional<int64_t> Number(Cell cell) const;
  int64_t Number(Cell cell, int64_t fallback) const { return Number(cell).value_or(fallback); }

 private:
  void Split(std::string_view line);

  Lines lines_;
  std::vector<std::string> cells_;
  size_t count_ = 0, names_ = 0;  // cells of the line; columns
  std::array<size_t, kCells> column_{};
  int64_t broken_ = 0;
};

}  // namespace dladvisor::rocprof_csv
