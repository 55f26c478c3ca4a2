// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/triton_table.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_cells.h"
#include "src/importers/benchmark_log/result_settings.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfTriton = 1024, kMostColumnsOfTriton = 24, kMostRowsOfTriton = 10'000,
                 kMostTablesOfTriton = 200, kLeastRowsOfTriton = 3;

// Two blanks or more part names, which may hold single ones; any part values.
std::vector<std::string> PartedBy(std::string_view line, std::string_view mark) {
  std::vector<std::string> cells;
  line = Trim(line);
  while (!line.empty() && cells.size() <= kMostColumnsOfTriton) {
    const size_t end = std::min(line.find(mark), line.size());
    cells.emplace_back(line.substr(0, end));
    line = Trim(line.substr(end));
  }
  return cells;
}

// "1024.0" as "1024"; nothing of what is no whole number.
std::optional<std::string> WholeNumber(const std::string& cell) {
  static const RE2 whole(R"((\d{1,15})(?:\.0*)?)");
  std::string digits;
  return RE2::FullMatch(cell, whole, &digits) ? std::optional(digits) : std::nullopt;
}

}  // namespace

bool TritonTableReader::Line(std::string_view line) {
  line = Trim(line);
  if (line.empty() || line.size() > kLongestOfTriton) return false;
  if (open_) {
    Table& table = tables_.back();
    std::vector<std::string> cells = PartedBy(line, " ");
    const bool fits = cells.size() == table.names.size() + 1 &&
                      cells[0] == std::to_string(table.rows.size()) &&
                      std::ranges::all_of(cells, [](const std::string& cell) {
                        return cell == "NaN" || cell == "inf" || NumberOfCell(cell).has_value();
                      });
    if (fits && table.rows.size() < kMostRowsOfTriton) {
      cells.erase(cells.begin());
      table.rows.push_back(std::move(cells));
      return true;
    }
    open_ = false;
  }
  static const RE2 title(R"([A-Za-z][\w.=,()\[\]+-]*:)");
  const bool below_title = std::exchange(titled_, RE2::FullMatch({line.data(), line.size()}, title));
  if (!below_title || titled_ || tables_.size() >= kMostTablesOfTriton) return false;
  std::vector<std::string> names = PartedBy(line, "  ");
  if (names.size() < 2) names = PartedBy(line, " ");
  const bool words = std::ranges::all_of(names, [](const std::string& name) {
    static const RE2 with_unit(R"(.*\(.*\))");
    // What says by its name what it measures is read as other tables are.
    const Role role = RoleOfName(name);
    return !NumberOfCell(name) && !RE2::FullMatch(name, with_unit) && role != Role::kTime &&
           role != Role::kRate;
  });
  if (names.size() < 2 || names.size() > kMostColumnsOfTriton || !words) return false;
  tables_.push_back({std::move(names), {}});
  open_ = true;
  return true;
}

std::optional<ResultTable> TritonTableReader::Finish() const {
  const auto most =
      std::ranges::max_element(tables_, {}, [](const Table& table) { return table.rows.size(); });
  if (most == tables_.end() || most->rows.size() < kLeastRowsOfTriton) return std::nullopt;
  // The sizes stand in front, as whole numbers.
  size_t sizes = 0;
  while (sizes < most->names.size() && std::ranges::all_of(most->rows, [&](const auto& row) {
           return WholeNumber(row[sizes]).has_value();
         }))
    ++sizes;
  if (sizes == 0 || sizes == most->names.size()) return std::nullopt;
  ResultTable table;
  table.measure = "values without a unit";
  table.rate = true;
  table.settings.assign(most->names.begin(), most->names.begin() + static_cast<ptrdiff_t>(sizes));
  table.settings.emplace_back();
  table.kinds.assign(table.settings.size(), SettingKind::kGiven);
  for (const auto& row : most->rows)
    for (size_t i = sizes; i < row.size(); ++i) {
      ResultRow& result = table.rows.emplace_back();
      for (size_t k = 0; k < sizes; ++k) result.values.push_back(*WholeNumber(row[k]));
      result.values.push_back(most->names[i]);
      const auto number = NumberOfCell(row[i]);
      result.result = number && std::isfinite(number->value) ? std::max(0.0, number->value) : 0;
    }
  return std::ranges::any_of(table.rows, [](const ResultRow& row) { return row.result > 0; })
             ? std::optional(std::move(table))
             : std::nullopt;
}

}  // namespace dladvisor::benchmark_log
