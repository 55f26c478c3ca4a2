// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/result_effect.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

using Groups = std::map<std::vector<std::string>, std::map<std::string, double>>;

bool IsNumber(const std::string& value) {
  return !value.empty() &&
         std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

// Whether it may be chosen without changing what is computed: words, and numbers of what shares the work out.
// More of a batch is more work for a time, and for a rate none.
bool IsChoice(const ResultTable& table, size_t setting) {
  static const RE2 shares(
      R"((?i)micro|thread|worker|proc|block|tile|chunk|stream|gpu|node|rank|depth|prefetch|stage|split|unroll|warp|\b[tpd]p\b)"),
      batch("(?i)batch|concurren|client|parallel");
  const std::string& name = table.settings[setting];
  const bool number =
      std::ranges::all_of(table.rows, [&](const ResultRow& row) { return IsNumber(row.values[setting]); });
  return !number || RE2::PartialMatch(name, shares) || (table.rate && RE2::PartialMatch(name, batch));
}

// The settings that tell rows apart: one that follows from the others is none of them.
std::vector<size_t> Keys(const ResultTable& table) {
  std::vector<size_t> keys;
  for (size_t i = 0; i < table.settings.size(); ++i) keys.push_back(i);
  const auto different = [&](const std::vector<size_t>& by) {
    std::set<std::vector<std::string>> seen;
    for (const ResultRow& row : table.rows) {
      std::vector<std::string> key;
      for (const size_t i : by) key.push_back(row.values[i]);
      seen.insert(std::move(key));
    }
    return seen.size();
  };
  const size_t all = different(keys);
  for (size_t i = keys.size(); i-- > 0 && keys.size() > 1;) {
    std::vector<size_t> without = keys;
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    if (different(without) == all) keys = std::move(without);
  }
  return keys;
}

// The time of each value, summed over the groups that have all of the values that most have.
std::optional<ResultEffectRow> EffectOf(const ResultTable& table, const std::vector<size_t>& keys,
                                        size_t setting) {
  Groups groups;
  for (const ResultRow& row : table.rows) {
    if (row.result <= 0) continue;
    std::vector<std::string> key;
    for (const size_t i : keys)
      if (i != setting) key.push_back(row.values[i]);
    const double time = table.rate ? 1 / row.result : row.result;
    // Of several the best: the others measured something else, too.
    auto [found, added] = groups[key].emplace(row.values[setting], time);
    if (!added) found->second = std::min(found->second, time);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  std::map<std::string, int64_t> counts;
  for (const auto& [key, times] : groups)
    for (const auto& [value, time] : times) ++counts[value];
  int64_t most = 0;
  for (const auto& [value, count] : counts) most = std::max(most, count);
  std::map<std::string, double> sums;
  for (const auto& [value, count] : counts)
    if (2 * count > most) sums[value] = 0;
  int64_t compared = 0;
  for (const auto& [key, times] : groups) {
    if (!std::ranges::all_of(sums, [&](const auto& sum) { return times.contains(sum.first); })) continue;
    ++compared;
    for (auto& [value, sum] : sums) sum += times.at(value);
  }
  if (compared == 0 || sums.size() < 2) return std::nullopt;
  const auto by_sum = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto best = std::ranges::min_element(sums, by_sum), worst = std::ranges::max_element(sums, by_sum);
  ResultEffectRow row;
  row.measure = table.measure;
  if (!table.settings[setting].empty()) row.setting = table.settings[setting];
  row.best = best->first;
  row.worst = worst->first;
  row.times = worst->second / best->second;
  row.compared = static_cast<int64_t>(sums.size());
  row.groups = compared;
  return row;
}

}  // namespace

const RelationOf<ResultEffectRow>& ResultEffectRelation() {
  using Row = ResultEffectRow;
  static const auto relation =
      RelationOf<Row>(
          "result_effect",
          "A setting of a benchmark's own table, and what results that differ in nothing but that say of "
          "it. The greatest difference first.")
          .Key("profile", &Row::profile, kProfileNumber, "Number of the file.")
          .Key("effect", &Row::effect, Unit::kNone, "Its number, from 0.")
          .Column("measure", &Row::measure, Unit::kText, "The column of the results.")
          .Column("setting", &Row::setting, Unit::kText,
                  "The column of the setting; table where each value has a table; unknown where each has a "
                  "column.")
          .Column("best", &Row::best, Unit::kText,
                  "The value with the least time in all, or the highest rate.")
          .Column("worst", &Row::worst, Unit::kText, "That with the most.")
          .Column("times", &Row::times, Unit::kNone, "The time of the worst over that of the best.")
          .Column("compared", &Row::compared, Unit::kCount, "Values that are compared.")
          .Column("groups", &Row::groups, Unit::kCount,
                  "Sets of results, alike in all else, that have all of them.")
          .Column("results", &Row::results, Unit::kCount, "Rows of the table.")
          .Column("failed", &Row::failed, Unit::kCount,
                  "Of these the ones that did not succeed, as it says.");
  return relation;
}

std::vector<ResultEffectRow> ComputeResultEffects(const Context& context) {
  const std::optional<ResultTable>& table = context.trace.program_output.results;
  if (!table) return {};
  std::vector<ResultEffectRow> rows;
  const std::vector<size_t> keys = Keys(*table);
  for (const size_t setting : keys)
    if (IsChoice(*table, setting))
      if (auto effect = EffectOf(*table, keys, setting)) rows.push_back(*std::move(effect));
  std::ranges::stable_sort(rows, std::ranges::greater(), &ResultEffectRow::times);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].effect = static_cast<int64_t>(i);
    rows[i].results = static_cast<int64_t>(table->rows.size());
    rows[i].failed = table->failed;
  }
  return rows;
}

std::string ResultsText(const std::optional<ResultTable>& table) {
  if (!table) return {};
  double least = std::numeric_limits<double>::max(), most = 0;
  int64_t results = 0;
  for (const ResultRow& row : table->rows) {
    if (row.result <= 0) continue;
    ++results;
    least = std::min(least, row.result);
    most = std::max(most, row.result);
  }
  return fmt::format(
      "{} results, {} {} to {}{}", FormatValue(results, Unit::kCount), table->measure, ThreeDigits(least),
      ThreeDigits(most),
      table->failed > 0 ? fmt::format(", {} that failed", FormatValue(table->failed, Unit::kCount)) : "");
}

const Family& ResultEffectFamily() {
  static const Family family = FamilyOf<std::vector<ResultEffectRow>>(ResultEffectRelation());
  return family;
}

}  // namespace dladvisor
