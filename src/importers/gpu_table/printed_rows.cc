// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_table/printed_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/base/trim.h"

namespace dladvisor::gpu_table {
namespace {

constexpr size_t kLongestPrinted = 4096, kMostNames = 100'000;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

struct Unit {
  std::string_view name;
  double scale;
};
constexpr auto kTimes = std::to_array<Unit>({{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
// nvprof's thousand of bytes is 1024.
constexpr auto kSizes =
    std::to_array<Unit>({{"B", 1}, {"KB", 1024}, {"MB", 1024.0 * 1024}, {"GB", 1024.0 * 1024 * 1024}});

// "10.512ms" in ns, "64.000MB" in bytes.
template <size_t kCount>
std::optional<double> ValueOf(std::string_view text, const std::array<Unit, kCount>& units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0 && number < 1e9)) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const auto found = std::ranges::find(units, unit, &Unit::name);
  return found == units.end() ? std::nullopt : std::optional(number * found->scale);
}

// Of "14.965ms": 1 us.
double CoarsenessOf(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const auto found = std::ranges::find(kTimes, text.substr(std::min(digits, text.size())), &Unit::name);
  double coarse = found == kTimes.end() ? 1 : found->scale;
  constexpr double kTen = 10;
  if (const size_t point = text.find('.'); point != text.npos)
    for (size_t i = point + 1; i < std::min(digits, text.size()); ++i) coarse /= kTen;
  return coarse;
}

std::string_view Part(std::string_view line, std::pair<size_t, size_t> place) {
  return Trim(line.substr(place.first, place.second - place.first));
}

SummaryRowKind KindOf(std::string_view name, bool has_grid) {
  if (name.starts_with("[CUDA memset")) return SummaryRowKind::kSet;
  if (name.starts_with("[CUDA mem") || name.starts_with("[Unified Memory")) return SummaryRowKind::kCopy;
  return has_grid ? SummaryRowKind::kKernel : SummaryRowKind::kApi;
}

}  // namespace

std::optional<PrintedRows> PrintedRows::Of(std::string_view line) {
  static const RE2 header(R"(^\s*Start\s+Duration\s{2,}(?:\S.*\s{2,})?Name\s*$)"),
      column(R"((\S+(?: \S+)*))");
  if (line.find("Duration") == line.npos || line.find(',') != line.npos ||
      !RE2::PartialMatch(Piece(line), header))
    return std::nullopt;
  PrintedRows rows;
  size_t begin = 0;
  re2::StringPiece rest = Piece(line), found;
  while (RE2::FindAndConsume(&rest, column, &found)) {
    const std::string_view name(found.data(), found.size());
    const size_t first = static_cast<size_t>(found.data() - line.data()), end = first + name.size();
    if (name == "Start") rows.start_ = {begin, end};
    if (name == "Duration") rows.duration_ = {begin, end};
    if (name == "Grid Size") rows.grid_ = {begin, end};
    if (name == "Size") rows.size_ = {begin, end};
    if (name == "SrcMemType") rows.from_ = {begin, end};
    if (name == "DstMemType") rows.to_ = {begin, end};
    if (name == "Device") rows.device_ = {begin, end};
    if (name == "Name") rows.name_ = first;
    begin = end;
  }
  return rows;
}

std::optional<PrintedRow> PrintedRows::RowOf(std::string_view line) const {
  if (line.size() <= name_ || line[name_ - 1] != ' ') return std::nullopt;
  const auto start = ValueOf(Part(line, start_), kTimes), duration = ValueOf(Part(line, duration_), kTimes);
  if (!start || !duration) return std::nullopt;
  PrintedRow row;
  row.start_ns = *start;
  row.ns = *duration;
  row.coarse_ns = CoarsenessOf(Part(line, start_));
  if (device_) row.device = Part(line, *device_);
  std::string_view name = Trim(line.substr(name_)).substr(0, kLongestPrinted);
  const bool has_grid = grid_ && Part(line, *grid_).starts_with('(');
  row.kind = KindOf(name, has_grid);
  if (size_) row.bytes = ValueOf(Part(line, *size_), kSizes);
  // "gemm(float*) [112]", "cudaLaunchKernel (gemm(float*) [112])".
  static const RE2 numbered(R"((.*) \[\d+\])");
  if (row.kind == SummaryRowKind::kApi)
    name = name.substr(0, name.find(' '));
  else if (re2::StringPiece without; RE2::FullMatch(Piece(name), numbered, &without))
    name = name.substr(0, without.size());
  row.name = name;
  if (row.kind == SummaryRowKind::kCopy && from_ && to_ && Part(line, *from_) != "-" &&
      Part(line, *to_) != "-")
    row.name.append(" (").append(Part(line, *from_)).append(" -> ").append(Part(line, *to_)).append(")");
  std::erase_if(row.name, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return row.name.empty() ? std::nullopt : std::optional(std::move(row));
}

void PrintedTotals::BeginTable() { one_timeline_ = one_timeline_ && !first_ns_; }

// Rows are in the order of their starts, of all streams.
void PrintedTotals::AddTime(const PrintedRow& row) {
  if (row.kind == SummaryRowKind::kApi || row.name.starts_with("[Unified Memory")) return;
  if (!first_ns_) {
    first_ns_ = row.start_ns;
    device_ = row.device;
  }
  one_timeline_ = one_timeline_ && row.device == device_ && row.start_ns >= last_start_ns_;
  constexpr double kPause = 1e6, kTimesCoarse = 10;
  const double pause = row.start_ns - last_ns_;
  if (last_ns_ > 0 && pause >= std::max(kPause, kTimesCoarse * row.coarse_ns)) {
    ++table_.pauses;
    table_.pause_ns += pause;
    table_.longest_pause_ns = std::max(table_.longest_pause_ns, pause);
  }
  last_start_ns_ = row.start_ns;
  last_ns_ = std::max(last_ns_, row.start_ns + row.ns);
}

void PrintedTotals::Add(const PrintedRow& row) {
  AddTime(row);
  const auto known = row_of_.find(row.name);
  if (known == row_of_.end() && row_of_.size() >= kMostNames) return;
  ++rows_;
  const size_t at = known != row_of_.end() ? known->second : table_.rows.size();
  if (known == row_of_.end()) {
    row_of_.emplace(row.name, at);
    SummaryRow& of = table_.rows.emplace_back();
    of.name = row.name;
    of.kind = row.kind;
  }
  SummaryRow& of = table_.rows[at];
  ++of.calls;
  of.total_ns += row.ns;
  of.min_ns = std::min(of.min_ns.value_or(row.ns), row.ns);
  of.max_ns = std::max(of.max_ns.value_or(row.ns), row.ns);
  if (row.bytes) of.bytes = of.bytes.value_or(0) + *row.bytes;
}

SummaryTable PrintedTotals::Finish() {
  table_.tool = "nvprof";
  if (one_timeline_ && first_ns_ && last_ns_ > *first_ns_) {
    table_.span_ns = last_ns_ - *first_ns_;
  } else {
    table_.pauses = 0;
    table_.pause_ns = table_.longest_pause_ns = 0;
  }
  for (SummaryRow& row : table_.rows) {
    row.average_ns = row.total_ns / static_cast<double>(row.calls);
    table_.has_device = table_.has_device || row.kind != SummaryRowKind::kApi;
  }
  return std::move(table_);
}

}  // namespace dladvisor::gpu_table
