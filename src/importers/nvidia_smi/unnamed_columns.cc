// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/unnamed_columns.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "src/importers/nvidia_smi/log_cell.h"

namespace dladvisor::nvidia_smi {
namespace {

using Kind = LogColumn::Kind;
using Metric = TelemetryMetric;
using Row = std::vector<std::string_view>;

// Enough to see whether a size ever changes.
constexpr size_t kMaxRows = 1000;
// In degrees; smaller numbers are indices.
constexpr double kColdest = 10, kHottest = 120;

// Fewer rows do not show which numbers change.
constexpr size_t kLeastRows = 5;
// In MiB; no GPU for such work has less.
constexpr double kLeastMemory = 2000;
// In %: what of some rows is less and of others more is no temperature, nor an index.
constexpr double kHardlyBusy = 5, kBusy = 20;

// "2026/04/25 16:06:06.780", which only nvidia-smi writes so.
bool IsDriverTime(std::string_view cell) {
  return cell.size() >= 19 && cell[4] == '/' && cell[7] == '/' && cell[10] == ' ' && ParseTime(cell);
}

// Of this century, as a date or in seconds: not the first number of any table.
bool IsAnyTime(std::string_view cell) {
  constexpr Ns k2010 = Ns{1'262'304'000} * 1'000'000'000;
  const std::optional<Time> time = ParseTime(cell);
  return time && time->ns > k2010 && time->ns < 3 * k2010;
}

std::vector<Row> RowsOf(std::string_view head, bool (*is_time)(std::string_view)) {
  std::vector<Row> rows;
  while (rows.size() < kMaxRows) {
    const size_t end = head.find('\n');
    // The last line may be cut, where another stands before it.
    if (end == std::string_view::npos && !rows.empty()) break;
    const std::string_view line = Trim(head.substr(0, end));
    if (!line.empty()) {
      Row row = SplitAtCommas(line);
      if (row.size() < 2 || !is_time(row[0]) || (!rows.empty() && row.size() != rows[0].size())) return {};
      rows.push_back(std::move(row));
    }
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return rows;
}

void Give(LogColumn& column, Metric metric) {
  column.kind = Kind::kMetric;
  column.metric = metric;
}

// Which of two columns of sizes is the used memory: it never exceeds the total, and it changes. Free memory
// looks like it, but is asked for after it.
std::optional<size_t> UsedMemory(const std::vector<Row>& rows, const std::vector<size_t>& sizes) {
  if (sizes.size() == 1) return sizes[0];
  if (sizes.size() != 2) return std::nullopt;
  const auto number = [&](const Row& row, size_t i) {
    const std::optional<Quantity> quantity = ParseQuantity(row[sizes[i]]);
    return quantity ? quantity->number : 0;
  };
  const auto constant = [&](size_t i) {
    return std::ranges::all_of(rows, [&](const Row& row) { return number(row, i) == number(rows[0], i); });
  };
  if (std::ranges::all_of(rows, [&](const Row& row) { return number(row, 0) <= number(row, 1); }))
    return sizes[0];
  if (constant(0) && !constant(1)) return sizes[1];
  return std::nullopt;
}

// Of numbers without units (--format=csv,noheader,nounits): a size that never changes, and one before it that
// never exceeds it, are memory; beside them a share is what is next to nothing in some rows and much in
// others, and a power what has decimals.
std::vector<LogColumn> ColumnsWithoutUnits(std::string_view head) {
  const std::vector<Row> rows = RowsOf(head, IsAnyTime);
  if (rows.size() < kLeastRows) return {};
  struct Range {
    double least = 0, most = 0;
    bool decimals = true;
  };
  std::vector<Range> ranges(rows[0].size());
  for (size_t i = 1; i < ranges.size(); ++i)
    for (size_t r = 0; r < rows.size(); ++r) {
      const std::optional<Quantity> quantity = ParseQuantity(rows[r][i]);
      if (!quantity || !quantity->unit.empty() || quantity->number < 0) return {};
      ranges[i].least = r == 0 ? quantity->number : std::min(ranges[i].least, quantity->number);
      ranges[i].most = std::max(ranges[i].most, quantity->number);
      ranges[i].decimals = ranges[i].decimals && rows[r][i].find('.') != std::string_view::npos;
    }
  std::vector<LogColumn> columns(ranges.size());
  columns[0].kind = Kind::kTime;
  std::optional<size_t> total, share, power;
  for (size_t i = 2; i < ranges.size(); ++i)
    if (!ranges[i].decimals && ranges[i].least == ranges[i].most && ranges[i].most >= kLeastMemory &&
        !ranges[i - 1].decimals && ranges[i - 1].most <= ranges[i].most && ranges[i - 1].most > 100)
      total = total ? total : i;
  for (size_t i = 1; i < ranges.size(); ++i) {
    columns[i].names_gpu = true;
    const Range& range = ranges[i];
    if (range.decimals && range.least > kHardlyBusy && range.most < kLeastMemory && !power) power = i;
    if (!range.decimals && range.least <= kHardlyBusy && range.most >= kBusy && range.most <= 100 && !share)
      share = i;
  }
  if (!total || !share) return {};
  Give(columns[*total], Metric::kMemoryTotal);
  Give(columns[*total - 1], Metric::kMemoryUsed);
  columns[*total].unit = columns[*total - 1].unit = "MiB";
  Give(columns[*share], Metric::kGpuUtilization);
  columns[*share].unit = "%";
  if (power) {
    Give(columns[*power], Metric::kPower);
    columns[*power].unit = "W";
  }
  // Several rows of one time are of several GPUs, whose index is the first column of few small numbers.
  if (*share != 1 && !ranges[1].decimals && ranges[1].most < kColdest && rows[0][0] == rows[1][0])
    columns[1].kind = Kind::kIdentity;
  return columns;
}

}  // namespace

std::vector<LogColumn> UnnamedColumns(std::string_view head) {
  const std::vector<Row> rows = RowsOf(head, IsDriverTime);
  if (rows.empty()) return ColumnsWithoutUnits(head);
  std::vector<LogColumn> columns(rows[0].size());
  columns[0].kind = Kind::kTime;
  std::vector<size_t> shares, sizes, powers, clocks;
  std::optional<size_t> identity, temperature;
  for (size_t i = 1; i < columns.size(); ++i) {
    const std::string_view cell = rows[0][i];
    const std::optional<Quantity> quantity = ParseQuantity(cell);
    columns[i].names_gpu = true;
    if (cell.starts_with("GPU-")) {
      if (!identity) identity = i;
    } else if (cell.starts_with("NVIDIA") || cell.starts_with("Tesla") || cell.starts_with("Quadro")) {
      columns[i].kind = Kind::kName;
    } else if (quantity && quantity->unit == "%") {
      shares.push_back(i);
    } else if (quantity && quantity->unit == "MiB") {
      sizes.push_back(i);
    } else if (quantity && quantity->unit == "W") {
      powers.push_back(i);
    } else if (quantity && quantity->unit == "MHz") {
      clocks.push_back(i);
    } else if (quantity && quantity->unit.empty() && !cell.starts_with("0x")) {
      if (quantity->number >= kColdest && quantity->number <= kHottest) {
        if (!temperature) temperature = i;
      } else if (quantity->number >= 0 && quantity->number < kColdest && i == 1) {
        identity = i;
      }
    }
  }
  // Without a share or a power it may be anything.
  if (shares.empty() && powers.empty()) return ColumnsWithoutUnits(head);
  if (identity) columns[*identity].kind = Kind::kIdentity;
  if (!shares.empty()) Give(columns[shares[0]], Metric::kGpuUtilization);
  if (shares.size() > 1) Give(columns[shares[1]], Metric::kMemoryUtilization);
  if (const std::optional<size_t> used = UsedMemory(rows, sizes)) Give(columns[*used], Metric::kMemoryUsed);
  if (!powers.empty()) Give(columns[powers[0]], Metric::kPower);
  if (powers.size() > 1) Give(columns[powers[1]], Metric::kPowerLimit);
  if (!clocks.empty()) Give(columns[clocks[0]], Metric::kSmClock);
  if (temperature) Give(columns[*temperature], Metric::kTemperature);
  return columns;
}

}  // namespace dladvisor::nvidia_smi
