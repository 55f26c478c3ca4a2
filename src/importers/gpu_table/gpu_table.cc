// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_table/gpu_table.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/lines.h"
#include "src/importers/bytes/plain_json.h"
#include "src/importers/bytes/whole_text.h"
#include "src/importers/gpu_table/operation_rows.h"
#include "src/importers/gpu_table/printed_rows.h"
#include "src/importers/summary_table/summary_lines.h"

namespace dladvisor {
namespace {

using gpu_table::Header;
using gpu_table::OperationRows;
using gpu_table::PrintedRows;
using json = nlohmann::ordered_json;  // columns in their order
using summary_table::CsvCells;

// Rows of numbers and texts by the names of their columns.
bool IsJsonTable(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return false;
  const std::string_view row = head.substr(0, head.find('}'));
  const auto has = [&](std::string_view key) { return row.find(key) != std::string_view::npos; };
  return (has("\"Start") && has("\"GrdX\"")) || ((has("\"Time (%)\"") || has("\"Time(%)\"")) &&
                                                 (has("\"Total Time (ns)\"") || has("\"Total Time\"")));
}

// The line of headers of a table as CSV, which lines of the profiler may precede.
bool IsHeader(std::string_view line) {
  const bool may_be =
      line.find("GrdX") != std::string_view::npos || line.find("Grid X") != std::string_view::npos;
  return may_be && Header(CsvCells(line)).is_valid();
}

bool IsCsvTable(std::string_view head) {
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (IsHeader(line)) return true;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

// The line of headers of a table of nvprof as text, with grids or of calls alone.
bool IsPrintedTable(std::string_view head) {
  if (head.find("Duration") == std::string_view::npos) return false;
  bool of_nvprof = false;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    of_nvprof = of_nvprof || (line.starts_with("==") && line.ends_with("== Profiling result:"));
    if (const auto rows = PrintedRows::Of(line)) return rows->has_grids() || of_nvprof;
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

std::string TextOf(const json& cell) { return cell.is_string() ? cell.get<std::string>() : cell.dump(); }

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c == '\n' ? ' ' : c);
    line += '"';
  }
  return line;
}

Trace ReadTotals(const std::string& name, const json& rows, const std::vector<std::string>& keys) {
  summary_table::SummaryLinesReader lines;
  lines.Line(CsvLine(keys));
  for (const json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(row.contains(key) ? TextOf(row[key]) : "");
    lines.Line(CsvLine(cells));
  }
  std::vector<SummaryTable> tables = lines.Finish();
  if (tables.empty())
    throw WrongKind(name, "a table of nsys stats as JSON without rows of kernels, copies or calls",
                    "give the report itself (REPORT.nsys-rep), or its export: nsys export --type sqlite "
                    "REPORT.nsys-rep");
  Trace trace;
  trace.format = "summary";
  trace.facts["profiler"] = tables.front().tool;
  trace.health.rows_read["rows"] = lines.rows();
  trace.summary_tables = std::move(tables);
  return trace;
}

Trace ReadJson(ByteSource& source) {
  const json rows = json::parse(PlainJson(WholeText(source)), nullptr, false);
  if (rows.is_discarded() || !rows.is_array() || rows.empty() || !rows.front().is_object())
    throw WrongKind(source.name(), "a table of nsys stats as JSON that is cut or not JSON", "write it again");
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows.front().items()) keys.push_back(key);
  const Header header(keys);
  if (!header.is_valid()) return ReadTotals(source.name(), rows, keys);
  OperationRows operations;
  for (const json& row : rows) {
    if (!row.is_object()) continue;
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(row.contains(key) ? TextOf(row[key]) : "");
    operations.Add(header, cells);
  }
  return operations.Finish(header);
}

Trace ReadCsv(ByteSource& source) {
  Lines lines(source);
  std::optional<Header> header;
  OperationRows operations;
  bool ended = false;
  while (const auto line = lines.Next()) {
    if (IsHeader(*line)) {
      header.emplace(CsvCells(*line));
      ended = false;
      continue;
    }
    if (!header || ended) continue;
    const std::vector<std::string> cells = CsvCells(*line);
    if (header->TakeUnits(cells)) continue;
    // Another table of the same output may follow.
    if (cells.size() < gpu_table::kColumns / 2)
      ended = line->find_first_not_of(" \t") != std::string_view::npos && cells.size() > 1;
    else
      operations.Add(*header, cells);
  }
  if (operations.empty())
    throw WrongKind(source.name(), "a table of single GPU operations without a row",
                    "see that the program runs on the GPU, and record it with Nsight Systems: nsys profile "
                    "--trace=cuda,nvtx -o run PROGRAM");
  return operations.Finish(*header);
}

Trace ReadPrinted(ByteSource& source) {
  Lines lines(source);
  std::optional<PrintedRows> printed;
  gpu_table::PrintedTotals totals;
  while (const auto line = lines.Next()) {
    if (auto found = PrintedRows::Of(*line)) {
      printed = std::move(found);
      totals.BeginTable();
    } else if (const auto row = printed ? printed->RowOf(*line) : std::nullopt) {
      totals.Add(*row);
    }
  }
  if (totals.rows() == 0)
    throw WrongKind(source.name(), "a table of nvprof without a row",
                    "see that the program runs on the GPU, and record it with Nsight Systems: nsys profile "
                    "--trace=cuda,nvtx -o run PROGRAM");
  Trace trace;
  trace.format = "summary";
  trace.facts["profiler"] = "nvprof";
  trace.health.rows_read["rows"] = totals.rows();
  trace.summary_tables.push_back(totals.Finish());
  return trace;
}

}  // namespace

constinit const Importer kGpuTableImporter = {
    .in_list = "table of GPU operations of nsys stats or nvprof (CSV, JSON, text)",
    .extensions = "",
    .more_extensions = ".csv .json",
    .fits =
        [](const Input& input) {
          return input.IsText() && (IsJsonTable(input.head()) || IsCsvTable(input.head()) ||
                                    IsPrintedTable(input.head()))
                     ? Importer::Fit::kYes
                     : Importer::Fit::kNo;
        },
    .read =
        [](Input& input) {
          Trace trace = IsJsonTable(input.head())  ? ReadJson(input.bytes())
                        : IsCsvTable(input.head()) ? ReadCsv(input.bytes())
                                                   : ReadPrinted(input.bytes());
          trace.path = input.name();
          return std::optional(std::move(trace));
        },
};

}  // namespace dladvisor
