// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/summary_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/summary_table/script_rows.h"
#include "src/importers/summary_table/torch_rows.h"

namespace dladvisor::summary_table {
namespace {

constexpr int64_t kMostRows = 100'000;
constexpr size_t kMostTables = 64, kLongestName = 4096, kLongestTitle = 80;
// Blanks in front of what goes on with the name of the row before.
constexpr size_t kIndented = 30;
// Percent with one decimal, from which a row's share tells the whole.
constexpr double kSharePrecise = 5;

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

// "-----  ------", "=====", "|:---|---:|".
bool IsRule(std::string_view line) {
  return line.find_first_not_of(" \t\r-=+|:") == std::string_view::npos && !IsBlank(line);
}

std::string Printable(std::string_view text, size_t most) {
  std::string plain(Trim(text).substr(0, most));
  std::erase_if(plain, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return plain;
}

bool IsApi(std::string_view name) {
  static const RE2 api(R"(hsa_\w+|__hip\w+|hip[A-Z]\w*|cuda[A-Z]\w*|cu[A-Z]\w*)");
  return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), api);
}

// Of what a GPU does.
SummaryRowKind OfDevice(std::string_view name) {
  static const RE2 set(R"((?i)^\[?(?:cuda )?memset\b|^__amd_rocclr_fillBuffer|^hip ?memset|^FillBuffer$)"),
      copy(
          R"((?i)^\[?(?:cuda )?(?:unified memory )?memcpy\b|^__amd_rocclr_copy|^memory_copy_|^copy(?:host|device)|^hip ?memcpy)");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, set)) return SummaryRowKind::kSet;
  return RE2::PartialMatch(text, copy) ? SummaryRowKind::kCopy : SummaryRowKind::kKernel;
}

SummaryRowKind OfCalls(std::string_view name) {
  static const RE2 os("[a-z_0-9]+");
  if (IsApi(name)) return SummaryRowKind::kApi;
  return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), os) ? SummaryRowKind::kOs
                                                                        : SummaryRowKind::kRange;
}

// A table of domains has their totals, and none of names.
bool IsDomain(std::string_view name) {
  static const RE2 domain(
      R"((?:HIP|HSA|ROCTX|MARKER|RCCL|KERNEL|MEMORY|SCRATCH|ROCDECODE|ROCJPEG|OMPT)_(?:API|DISPATCH|COPY|MEMORY|ALLOCATION|\w+_API)(?:_EXT)?)");
  return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), domain);
}

// Of AMD's queues, which wait in it for others: no kernel.
constexpr std::string_view kBarrierPacket = "<barrier packet>";

// What the driver and the profiler do themselves stands among operators, too.
SummaryRowKind OfOperator(const SummaryRow& row) {
  static const RE2 own(
      "Lazy Function Loading|Runtime Triggered Module Loading|Activity Buffer Request|Command Buffer Full|"
      "Buffer Flush|Instrumentation|Resource");
  const bool on_host = row.total_ns > 0 || row.self_ns.value_or(0) > 0;
  if (!on_host && row.device_self_ns.value_or(0) > 0) return OfDevice(row.name);
  return IsApi(row.name) || RE2::FullMatch(row.name, own) ? SummaryRowKind::kApi : SummaryRowKind::kOperator;
}

SummaryRowKind KindOf(const SummaryRow& row, const TableHeader& header, std::string_view type,
                      std::string_view category) {
  switch (header.rows) {
    case Rows::kKernels:
    case Rows::kMemory:
      return header.rows == Rows::kMemory && OfDevice(row.name) != SummaryRowKind::kSet
                 ? SummaryRowKind::kCopy
                 : OfDevice(row.name);
    case Rows::kMigrations:
      return SummaryRowKind::kCopy;
    case Rows::kRanges:
      return SummaryRowKind::kRange;
    case Rows::kCalls:
      return OfCalls(row.name);
    case Rows::kOperators:
      return OfOperator(row);
    case Rows::kTyped:
      if (type.starts_with("GPU")) return OfDevice(row.name);
      if (type.starts_with("API")) return SummaryRowKind::kApi;
      if (!type.empty()) return SummaryRowKind::kRange;
      [[fallthrough]];
    case Rows::kByName:
      if (category.starts_with("CUDA_API") || IsApi(row.name)) return SummaryRowKind::kApi;
      return OfDevice(row.name);
  }
  return SummaryRowKind::kRange;
}

// Of the tables of one profile each has another.
std::string PartOf(const std::vector<SummaryRow>& rows, const TableHeader& header) {
  if (header.rows == Rows::kMigrations) return "migrations";
  if (header.Has(Column::kBytes)) return "sizes";
  if (header.Has(Column::kCategory) || header.Has(Column::kThree)) return "again";
  if (header.rows == Rows::kRanges) return "ranges";
  switch (rows.front().kind) {
    case SummaryRowKind::kKernel:
      return "device";
    case SummaryRowKind::kCopy:
    case SummaryRowKind::kSet:
      return header.rows == Rows::kMemory ? "memory" : "device";
    case SummaryRowKind::kApi:
      return "api";
    case SummaryRowKind::kRange:
      return "ranges";
    case SummaryRowKind::kOperator:
      return "operators";
    case SummaryRowKind::kOs:
      return "os";
  }
  return "";
}

constexpr std::string_view NameOf(Tool tool) {
  switch (tool) {
    case Tool::kNsys:
      return "nsys stats";
    case Tool::kNvprof:
      return "nvprof";
    case Tool::kTorch:
      return "torch.profiler";
    case Tool::kRocprof:
      return "rocprof";
    case Tool::kRocprofCompute:
      return "rocprof-compute";
    case Tool::kScript:
      return "a script";
  }
  return "";
}

// Borders of tables that terminals draw: U+2500 to U+257F, of which verticals part cells. False where there
// are none.
bool InAscii(std::string_view line, std::string& plain) {
  if (line.find("\xE2\x94") == line.npos && line.find("\xE2\x95") == line.npos) return false;
  plain.clear();
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view sign = line.substr(i, 3);
    if (!sign.starts_with("\xE2\x94") && !sign.starts_with("\xE2\x95")) {
      plain += line[i];
      continue;
    }
    plain += sign == "\xE2\x94\x82" || sign == "\xE2\x94\x83" || sign == "\xE2\x95\x91" ? '|' : '-';
    i += 2;
  }
  return true;
}

// "-688540.000us": older profilers of PyTorch measure between events of the stream, which takes in what waits
// there.
bool IsBelowZero(const std::string& cell) {
  static const RE2 below(R"(-\d+(?:\.\d+)?[a-z]*)");
  return RE2::FullMatch(cell, below);
}

// "1.000" of some locales is a thousand.
bool HasGroupsOfPoints(std::string_view count) {
  static const RE2 groups(R"([1-9]\d{0,2}(?:\.\d{3})+)");
  return RE2::FullMatch(re2::StringPiece(count.data(), count.size()), groups);
}

bool Alike(const SummaryRow& a, const SummaryRow& b) {
  return a.kind == b.kind && a.name == b.name && a.calls == b.calls && a.total_ns == b.total_ns;
}

}  // namespace

bool SummaryLinesReader::Line(std::string_view line) {
  ++lines_;
  if (IsBlank(line)) return false;
  if (InAscii(line, plain_)) line = plain_;
  if (TakeHeader(line)) return true;
  if (open_) {
    if (IsRule(line) || TakeRow(line)) return true;
    const bool goes_on = line.find_first_not_of(' ') >= kIndented && !open_->rows.empty();
    if (goes_on) return true;
    Close();
  }
  if (TakeFooter(line)) return true;
  TakeTitle(line);
  return false;
}

bool SummaryLinesReader::TakeHeader(std::string_view line) {
  auto header = HeaderOf(line, words_, before_);
  if (!header) return false;
  Close();
  has_headers_ = true;
  title_ = Printable(words_, kLongestTitle);
  title_line_ = lines_;
  open_.emplace().header = std::move(*header);
  return true;
}

// nvprof's CSV has them in a row below the headers: ",%,ms,,us,us,us,".
bool SummaryLinesReader::TakeUnits(const std::vector<std::string>& cells) {
  if (open_->header.layout != Layout::kCsv || !open_->rows.empty()) return false;
  bool any = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty() || cells[i] == "%") continue;
    const auto unit = UnitOf(cells[i]);
    if (!unit) return false;
    open_->header.cells[i].unit = *unit;
    any = true;
  }
  return any;
}

bool SummaryLinesReader::TakeRow(std::string_view line) {
  const TableHeader& header = open_->header;
  const auto cells = CellsOf(line, header);
  if (!cells) return false;
  if (TakeUnits(*cells)) return true;
  SummaryRow row;
  std::string_view category;
  bool counted = false, timed = false;
  double percent = 0;
  std::string type;
  for (size_t i = 0; i < header.cells.size() && i < cells->size(); ++i) {
    const std::string& cell = (*cells)[i];
    const auto number = NumberIn(cell, header.cells[i].unit);
    switch (header.cells[i].column) {
      case Column::kName:
        if (row.name.empty()) row.name = Printable(cell, kLongestName);
        break;
      case Column::kType:
        type = cell;
        break;
      case Column::kShare:
        percent = number.value_or(0);
        break;
      case Column::kCategory:
        category = cell;
        break;
      case Column::kCalls:
        counted = number.has_value() && *number < 1e15 && !HasGroupsOfPoints(cell);
        if (counted) row.calls = static_cast<int64_t>(NumberIn(cell, 1).value_or(0));
        break;
      case Column::kTotal:
      case Column::kHostTotal:
        timed = timed || number.has_value();
        row.total_ns = number.value_or(0);
        break;
      case Column::kAverage:
        row.average_ns = number;
        break;
      case Column::kMedian:
        row.median_ns = number;
        break;
      case Column::kMin:
        row.min_ns = number;
        break;
      case Column::kMax:
        row.max_ns = number;
        break;
      case Column::kBytes:
        timed = timed || number.has_value();
        row.bytes = number;
        break;
      case Column::kHostSelf:
        timed = timed || number.has_value();
        row.self_ns = number;
        break;
      case Column::kDeviceTotal:
        row.device_ns = number;
        break;
      case Column::kDeviceSelf:
        open_->negative = open_->negative || IsBelowZero(cell);
        row.device_self_ns = number;
        break;
      default:
        break;
    }
  }
  if (header.rows == Rows::kMigrations) {
    if (row.name.find(" To ") == row.name.npos) return true;  // page faults
    row.name.insert(0, "Unified Memory ");
  }
  // A name that is broken into lines.
  if (header.tool == Tool::kRocprofCompute && !row.name.empty() && !open_->rows.empty() &&
      std::ranges::count(*cells, "") + 1 == static_cast<ptrdiff_t>(cells->size())) {
    std::string& name = open_->rows.back().name;
    name += row.name.substr(0, kLongestName - std::min(name.size(), kLongestName));
    return true;
  }
  if (!counted || !timed || row.name.empty()) return false;
  if (!type.empty()) open_->type = type;
  if (row.total_ns > open_->longest_ns) {
    open_->longest_ns = row.total_ns;
    open_->whole_ns = percent >= kSharePrecise && percent <= 100 ? row.total_ns * 100 / percent : 0;
  }
  // Sizes have no times.
  if (row.bytes && header.rows != Rows::kMigrations)
    row.average_ns = row.median_ns = row.min_ns = row.max_ns = std::nullopt;
  if (header.Has(Column::kHostSelf) && !header.Has(Column::kHostTotal))
    row.total_ns = row.self_ns.value_or(0);
  row.kind = KindOf(row, header, open_->type, category);
  if (row.kind == SummaryRowKind::kKernel || row.kind == SummaryRowKind::kCopy ||
      row.kind == SummaryRowKind::kSet)
    if (header.rows == Rows::kOperators) {
      row.total_ns = row.device_self_ns.value_or(0);
      row.self_ns.reset();
    }
  if (++rows_ <= kMostRows && !IsDomain(row.name) && row.name != kBarrierPacket)
    open_->rows.push_back(std::move(row));
  return true;
}

// "Self CUDA time total: 121.882ms".
bool SummaryLinesReader::TakeFooter(std::string_view line) {
  if (line.find("time total:") == std::string_view::npos || tables_.empty()) return false;
  static const RE2 footer(R"(^\s*(?:Self )?(\w+) time total:\s*(\S+)\s*$)");
  std::string where, time;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), footer, &where, &time)) return false;
  SummaryTable& table = tables_.back();
  const auto ns = NumberIn(time, 1e3);
  if (table.tool != NameOf(Tool::kTorch) || !ns) return false;
  if (where == "CPU") {
    if (table.host_ns) return false;
    table.host_ns = ns;
  } else {
    table.device_ns = ns;
    table.has_device = true;
  }
  footed_ = true;
  return true;
}

void SummaryLinesReader::TakeTitle(std::string_view line) {
  if (IsRule(line)) return;
  before_ = std::move(words_);
  words_.assign(line.substr(0, kLongestTitle));
  if (line.find("SKIPPED: ") != line.npos) {
    static const RE2 skipped(R"(SKIPPED: .*does not contain (CUDA (?:trace|kernel) data))");
    std::string what;
    if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), skipped, &what)) missing_.insert(what);
    return;
  }
  if (line.find("Processing [") == line.npos && line.find("NVPROF is") == line.npos) return;
  static const RE2 processing(
      R"(Processing \[(?:[^\]\n]*/)?([^\]/\n]+)\] with|NVPROF is profiling process \d+, command: (.+))");
  std::string file, command;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), processing, &file, &command)) return;
  file = Printable(file.empty() ? command : file, kLongestTitle);
  if (file == file_ && command.empty()) return;
  file_ = std::move(file);
  parts_.insert("other file");
}

// A table that prints the same profile in another order has the same totals.
void SummaryLinesReader::MergeWithBefore() {
  if (tables_.size() < 2 || !footed_) return;
  SummaryTable& before = tables_[tables_.size() - 2];
  SummaryTable& last = tables_.back();
  if (before.tool != last.tool || !last.host_ns || before.host_ns != last.host_ns ||
      before.device_ns != last.device_ns)
    return;
  for (SummaryRow& row : last.rows)
    if (std::ranges::none_of(before.rows, [&](const SummaryRow& known) { return Alike(known, row); }))
      before.rows.push_back(std::move(row));
  tables_.pop_back();
}

void SummaryLinesReader::AddRows(std::vector<SummaryRow> rows, bool sizes, SummaryTable& table) {
  for (SummaryRow& row : rows) {
    const auto known = std::ranges::find_if(table.rows, [&](const SummaryRow& other) {
      return sizes && other.kind == row.kind && other.name == row.name;
    });
    if (known != table.rows.end())
      known->bytes = row.bytes;
    else
      table.rows.push_back(std::move(row));
  }
}

void SummaryLinesReader::Close() {
  if (!open_) return;
  Open closed = std::move(*open_);
  open_.reset();
  if (closed.header.rows == Rows::kOperators) DropSpans(closed.rows);
  if (closed.header.Has(Column::kThree)) JoinRowsOfOneName(closed.rows);
  if (closed.rows.empty()) return;
  std::optional<double> whole_ns;
  // It lists the longest ten.
  if (closed.header.tool == Tool::kRocprofCompute && closed.whole_ns > 0) whole_ns = closed.whole_ns;
  if (closed.header.tool == Tool::kScript) {
    whole_ns = WholeOf(closed.rows, closed.whole_ns);
    DropTotals(closed.rows);
    if (closed.rows.empty() || !IsOfGpu(closed.rows)) return;
  }
  const std::string part = PartOf(closed.rows, closed.header);
  const std::string_view tool = NameOf(closed.header.tool);
  const bool known = !tables_.empty() && tables_.back().tool == tool && !parts_.contains("other file");
  // Kernels by their grids, or with what else the GPU does, are the same kernels.
  if (part == "again" && known && parts_.contains("device")) return;
  if (!known || parts_.contains(part) || closed.header.rows == Rows::kOperators) {
    MergeWithBefore();
    if (tables_.size() >= kMostTables) return;
    SummaryTable& table = tables_.emplace_back();
    table.tool = tool;
    table.title = closed.header.tool == Tool::kTorch ? title_ : file_;
    places_.resize(tables_.size());
    places_.back() = {title_line_, closed.negative};
    parts_.clear();
    footed_ = false;
  }
  parts_.insert(part);
  SummaryTable& table = tables_.back();
  if (!closed.header.device.empty()) table.device = closed.header.device;
  if (whole_ns) table.device_ns = whole_ns;
  table.has_device = table.has_device || closed.header.rows != Rows::kOperators ||
                     closed.header.Has(Column::kDeviceSelf) || closed.header.Has(Column::kDeviceTotal);
  AddRows(std::move(closed.rows), part == "sizes", table);
}

// Of several tables, those that nothing or the same stands above have the line where they begin.
void SummaryLinesReader::GiveTitles() {
  if (tables_.size() < 2) return;
  std::map<std::string, size_t> counts;
  for (const SummaryTable& table : tables_) ++counts[table.title];
  for (size_t i = 0; i < tables_.size(); ++i) {
    std::string& title = tables_[i].title;
    if (title.empty())
      title = "the table of line " + std::to_string(places_[i].line);
    else if (counts[title] > 1)
      title += " of line " + std::to_string(places_[i].line);
  }
}

std::vector<SummaryTable> SummaryLinesReader::Finish() {
  Close();
  MergeWithBefore();
  for (size_t i = 0; i < tables_.size(); ++i)
    if (SummaryTable& table = tables_[i]; table.tool == NameOf(Tool::kTorch)) {
      JoinRowsOfOneName(table.rows);
      if (places_[i].negative || HasTimesOfViews(table)) ForgetTimesOfGpu(table);
      DropSpansByTotal(table);
    }
  GiveTitles();
  return std::move(tables_);
}

}  // namespace dladvisor::summary_table
