// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/evidence_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor {
namespace {

struct StepTime {
  double start = 0, end = 0;
  int64_t number = 0;
};
using StepsByRank = std::map<int64_t, std::vector<StepTime>>;

std::optional<size_t> ColumnOf(const ResultSet& rows, const char* name) {
  const auto column = std::ranges::find(rows.columns, name, &ResultColumn::name);
  if (column == rows.columns.end()) return std::nullopt;
  return static_cast<size_t>(column - rows.columns.begin());
}

Value PlaceOf(const std::vector<StepTime>& steps, double start) {
  const auto after = std::ranges::upper_bound(steps, start, {}, &StepTime::start);
  if (after == steps.begin() || std::prev(after)->end <= start) return {};
  const StepTime& step = *std::prev(after);
  return fmt::format("{} into step {}", FormatValue(start - step.start, Unit::kNanoseconds), step.number);
}

void PlaceRows(Finding& finding, const StepsByRank& steps) {
  ResultSet& rows = finding.evidence;
  const auto start = ColumnOf(rows, "start_ns"), rank_column = ColumnOf(rows, "rank");
  if (!start || rows.rows.empty()) return;
  std::optional<double> rank_of_finding;
  for (const NamedValue& key : finding.subject)
    if (key.name == "rank") rank_of_finding = AsNumber(key.value);
  std::vector<Value> places;
  for (const auto& row : rows.rows) {
    const auto rank = rank_column ? AsNumber(row[*rank_column]) : rank_of_finding;
    const auto known = rank                ? steps.find(static_cast<int64_t>(*rank))
                       : steps.size() == 1 ? steps.begin()
                                           : steps.end();
    const auto when = AsNumber(row[*start]);
    places.push_back(known == steps.end() || !when ? Value() : PlaceOf(known->second, *when));
  }
  if (std::ranges::all_of(places, [](const Value& place) { return IsNull(place); })) return;
  const auto at = static_cast<std::ptrdiff_t>(*start) + 1;
  rows.columns.insert(rows.columns.begin() + at, {"place", Unit::kText});
  for (size_t i = 0; i < places.size(); ++i)
    rows.rows[i].insert(rows.rows[i].begin() + at, std::move(places[i]));
}

}  // namespace

void PlaceEvidence(Advice& advice, const Database& database) {
  StepsByRank steps;
  for (const auto& row :
       database.Query("SELECT rank, start_ns, end_ns, step FROM step ORDER BY rank, start_ns").rows)
    steps[std::get<int64_t>(row[0])].push_back(
        {AsNumber(row[1]).value_or(0), AsNumber(row[2]).value_or(0), std::get<int64_t>(row[3])});
  if (steps.empty()) return;
  for (Finding& finding : advice.findings)
    if (finding.outcome == Outcome::kFired) PlaceRows(finding, steps);
}

}  // namespace dladvisor
