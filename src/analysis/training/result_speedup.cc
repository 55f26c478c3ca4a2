// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/result_speedup.h"

#include <re2/re2.h>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<ResultSpeedupRow>& ResultSpeedupRelation() {
  using Row = ResultSpeedupRow;
  static const auto relation =
      RelationOf<Row>(
          "result_speedup",
          "A column of a benchmark's own table that says how many times as fast each result is as "
          "a reference.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("speedup", &Row::speedup, Unit::kNone, "Its number, from 0.")
          .Column("name", &Row::name, Unit::kText, "As the column is called.")
          .Column("of_all", &Row::of_all, Unit::kNone,
                  "1 where it is the only one, or its name says that it is of the whole.")
          .Column("rows", &Row::rows, Unit::kCount, "Results that have it.")
          .Column("below", &Row::below, Unit::kCount,
                  "Of these that are slower than the reference, by 5 % or more.")
          .Column("below_share", &Row::below_share, Unit::kRatio, "Their share.")
          .Column("least", &Row::least, Unit::kNone, "The least of it.")
          .Column("median", &Row::median, Unit::kNone, "Its median.")
          .Column("most", &Row::most, Unit::kNone, "The greatest.")
          .Column("setting", &Row::setting, Unit::kText,
                  "A setting of numbers that tells where it is below 1; unknown where none does.")
          .Column("from_value", &Row::from, Unit::kText,
                  "Of it the value from which on it is 1 or more, in nine results of ten.");
  return relation;
}

std::vector<ResultSpeedupRow> ComputeResultSpeedups(const Context& context) {
  const std::optional<ResultTable>& table = context.trace.program_output.results;
  std::vector<ResultSpeedupRow> rows;
  if (!table) return rows;
  static const RE2 whole("(?i)total|e2e|end.to.end|overall|whole");
  for (const ResultSpeedup& speedup : table->speedups) {
    ResultSpeedupRow& row = rows.emplace_back();
    row.speedup = static_cast<int64_t>(rows.size()) - 1;
    row.name = speedup.name;
    row.of_all = table->speedups.size() == 1 || RE2::PartialMatch(speedup.name, whole);
    row.rows = speedup.rows;
    row.below = speedup.below;
    row.below_share = static_cast<double>(speedup.below) / static_cast<double>(speedup.rows);
    row.least = speedup.least;
    row.median = speedup.median;
    row.most = speedup.most;
    if (!speedup.from.empty()) {
      row.setting = speedup.setting;
      row.from = speedup.from;
    }
  }
  return rows;
}

const Family& ResultSpeedupFamily() {
  static const Family family = FamilyOf<std::vector<ResultSpeedupRow>>(ResultSpeedupRelation());
  return family;
}

}  // namespace dladvisor
