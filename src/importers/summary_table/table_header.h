// SPDX-License-Identifier: Apache-2.0
// The line of headers of a table of totals by name, and the cells of its rows: of nsys stats, nvprof,
// torch.profiler's key_averages().table() and rocprof, as text and as CSV, and of scripts that say their
// units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::summary_table {

enum class Column : uint8_t {
  kOther,
  kName,
  kType,      // "GPU activities:", where it changes
  kWord,      // one word that says nothing here
  kThree,     // a size in three dimensions
  kCategory,  // "CUDA_KERNEL"
  kShare,
  kCalls,
  kTotal,
  kAverage,
  kMedian,
  kMin,
  kMax,
  kBytes,
  kHostTotal,
  kHostSelf,
  kDeviceTotal,
  kDeviceSelf,
};

enum class Layout : uint8_t {
  kWords,  // cells hold no blank but the last one
  kWide,   // two blanks or more part them
  kCsv,    // a sign parts them
};

enum class Tool : uint8_t { kNsys, kNvprof, kTorch, kRocprof, kRocprofCompute, kScript };

// Of what its rows are.
enum class Rows : uint8_t { kKernels, kMemory, kRanges, kCalls, kOperators, kMigrations, kTyped, kByName };

struct HeaderCell {
  Column column = Column::kOther;
  double unit = 1;        // of a number without one: in ns, or bytes
  bool has_unit = false;  // whether the header says it
};

struct TableHeader {
  Layout layout = Layout::kWords;
  char separator = ',';  // of kCsv: also a tab, a semicolon, or the border of a drawn table or of Markdown's
  Tool tool = Tool::kNsys;
  Rows rows = Rows::kKernels;
  std::string device;  // as PyTorch's columns call it: "CUDA", "XPU"
  std::vector<HeaderCell> cells;

  bool Has(Column column) const;
};

// Nothing where the line is none. `title` is what was written last above it: "by size in KiB", and `before`
// what stands above that.
std::optional<TableHeader> HeaderOf(std::string_view line, std::string_view title, std::string_view before);

// "1,234.5", "45.2%", "952.81ms" in the unit given, or in its own.
std::optional<double> NumberIn(std::string_view cell, double unit);
// Of a header's parentheses or a row of units: 1e6 of "ms", of "MB"; nothing of others.
std::optional<double> UnitOf(std::string_view name);

// Of a row of the table, by the header's cells; nothing where the line is no row of it.
std::optional<std::vector<std::string>> CellsOf(std::string_view line, const TableHeader& header);
// The separator parts them, but within quotes.
std::vector<std::string> CsvCells(std::string_view line, char separator = ',');

}  // namespace dladvisor::summary_table
