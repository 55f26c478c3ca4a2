// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_csv/csv_rows.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace dladvisor::rocprof_csv {
namespace {

constexpr size_t kNoColumn = std::numeric_limits<size_t>::max(), kMostColumns = 200;

using Named = std::pair<std::string_view, Cell>;
constexpr auto kColumns = std::to_array<Named>({
    {"Domain", Cell::kDomain},
    {"Function", Cell::kFunction},
    {"Process_Id", Cell::kProcess},
    {"Thread_Id", Cell::kThread},
    {"Correlation_Id", Cell::kCorrelation},
    {"Start_Timestamp", Cell::kStart},
    {"End_Timestamp", Cell::kEnd},
    {"Agent_Id", Cell::kAgent},
    {"Queue_Id", Cell::kQueue},
    {"Stream_Id", Cell::kStream},
    {"Kernel_Name", Cell::kKernel},
    {"VGPR_Count", Cell::kRegisters},
    {"LDS_Block_Size", Cell::kShared},
    {"Group_Segment_Size", Cell::kShared},
    {"Scratch_Size", Cell::kScratch},
    {"Private_Segment_Size", Cell::kScratch},
    {"Workgroup_Size_X", Cell::kBlockX},
    {"Workgroup_Size_Y", Cell::kBlockY},
    {"Workgroup_Size_Z", Cell::kBlockZ},
    {"Grid_Size_X", Cell::kGridX},
    {"Grid_Size_Y", Cell::kGridY},
    {"Grid_Size_Z", Cell::kGridZ},
    {"Direction", Cell::kDirection},
    {"Source_Agent_Id", Cell::kFrom},
    {"Destination_Agent_Id", Cell::kTo},
    {"Operation", Cell::kOperation},
    {"Allocation_Size", Cell::kBytes},
    {"Address", Cell::kAddress},
    {"Node_Id", Cell::kNode},
    {"Agent_Type", Cell::kType},
    {"Cu_Count", Cell::kUnits},
    {"Max_Engine_Clk_Fcompute", Cell::kClock},
    {"Name", Cell::kName},
    {"Product_Name", Cell::kProduct},
});

}  // namespace

std::optional<Kind> KindOf(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto has = [&](std::string_view name) {
    for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const auto is_end = [](char c) { return c == '"' || c == ',' || c == '\r'; };
      const size_t end = at + name.size();
      if ((at == 0 || is_end(line[at - 1])) && (end == line.size() || is_end(line[end]))) return true;
    }
    return false;
  };
  if (has("Node_Id") && has("Agent_Type") && has("Cu_Count")) return Kind::kAgents;
  if (!has("Start_Timestamp") || !has("End_Timestamp") || has("Counter_Name")) return std::nullopt;
  if (has("Kernel_Name") && has("Agent_Id")) return Kind::kKernels;
  if (has("Direction") && has("Source_Agent_Id")) return Kind::kCopies;
  if (has("Operation") && has("Address")) return Kind::kMemory;
  return has("Domain") && has("Function") ? std::optional(Kind::kRegions) : std::nullopt;
}

CsvRows::CsvRows(ByteSource& source) : lines_(source) {
  column_.fill(kNoColumn);
  if (const auto line = lines_.Next()) Split(*line);
  names_ = count_;
  for (size_t i = 0; i < names_; ++i)
    for (const auto& [name, cell] : kColumns)
      if (size_t& column = column_[static_cast<size_t>(cell)]; cells_[i] == name && column == kNoColumn)
        column = i;
}

bool CsvRows::Next() {
  while (const auto line = lines_.Next()) {
    if (line->empty()) continue;
    Split(*line);
    if (count_ == names_ && !lines_.IsCut()) return true;
    ++broken_;
  }
  return false;
}

// Commas within quotes are text, as is a quote that is written twice.
void CsvRows::Split(std::string_view line) {
  count_ = 0;
  const auto begin = [&] {
    if (++count_ > cells_.size()) cells_.emplace_back();
    cells_[count_ - 1].clear();
  };
  begin();
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells_[count_ - 1] += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted && count_ < kMostColumns) {
      begin();
    } else {
      cells_[count_ - 1] += c;
    }
  }
}

std::string_view CsvRows::Text(Cell cell) const {
  const size_t column = column_[static_cast<size_t>(cell)];
  return column < count_ ? std::string_view(cells_[column]) : std::string_view();
}

// Also "0x00007ffb26354000".
std::optional<int64_t> CsvRows::Number(Cell cell) const {
  std::string_view text = Text(cell);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace dladvisor::rocprof_csv
