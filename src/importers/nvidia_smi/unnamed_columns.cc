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

// "2026/04/25 16:06:06.780", which only nvidia-smi writes so.
bool IsDriverTime(std::string_view cell) {
  return cell.size() >= 19 && cell[4] == '/' && cell[7] == '/' && cell[10] == ' ' && ParseTime(cell);
}

std::vector<Row> RowsOf(std::string_view head) {
  std::vector<Row> rows;
  while (rows.size() < kMaxRows) {
    const size_t end = head.find('\n');
    // The last line may be cut, where another stands before it.
    if (end == std::string_view::npos && !rows.empty()) break;
    const std::string_view line = TrimCell(head.substr(0, end));
    if (!line.empty()) {
      Row row = SplitAtCommas(line);
      if (row.size() < 2 || !IsDriverTime(row[0]) || (!rows.empty() && row.size() != rows[0].size()))
        return {};
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

}  // namespace

std::vector<LogColumn> UnnamedColumns(std::string_view head) {
  const std::vector<Row> rows = RowsOf(head);
  if (rows.empty()) return {};
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
  if (shares.empty() && powers.empty()) return {};
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
