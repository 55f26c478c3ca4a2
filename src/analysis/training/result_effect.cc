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

bool IsNumber(const std::string& value) {
  return !value.empty() &&
         std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

using Groups = std::map<std::vector<std::string>, std::map<std::string, double>>;

// "8192.0" as "8192".
std::string Shown(const std::string& value) {
  return IsNumber(value) && value.ends_with(".0") ? value.substr(0, value.size() - 2) : value;
}

double NumberOf(const std::string& value) { return std::strtod(value.c_str(), nullptr); }

std::string KindName(SettingKind kind) {
  switch (kind) {
    case SettingKind::kChoice:
      return "choice";
    case SettingKind::kLoad:
      return "load";
    case SettingKind::kDevices:
      return "devices";
    case SettingKind::kGiven:
      return "given";
  }
  return "given";
}

// Rows may lack a setting.
bool HoldsNumbers(const ResultTable& table, size_t setting) {
  const auto known =
      std::ranges::find_if(table.rows, [&](const ResultRow& row) { return !row.values[setting].empty(); });
  return known != table.rows.end() && IsNumber(known->values[setting]);
}

size_t DifferentRows(const ResultTable& table, const std::vector<size_t>& by) {
  std::set<std::vector<std::string>> seen;
  for (const ResultRow& row : table.rows) {
    std::vector<std::string> key;
    for (const size_t i : by) key.push_back(row.values[i]);
    seen.insert(std::move(key));
  }
  return seen.size();
}

// The settings that tell rows apart: one that follows from the others is none of them. Figures that a run
// gave as well go first, then labels of rows; what can be chosen stays longest.
std::vector<size_t> Keys(const ResultTable& table) {
  std::vector<size_t> keys, order;
  for (size_t i = 0; i < table.settings.size(); ++i) keys.push_back(i);
  const auto values = [&](size_t i) { return DifferentRows(table, {i}); };
  const auto rank = [&](size_t i) {
    const bool number = HoldsNumbers(table, i);
    const bool label = !number && values(i) == table.rows.size();
    switch (table.kinds[i]) {
      case SettingKind::kGiven:
        return number ? 0 : label ? 1 : 3;
      case SettingKind::kLoad:
        return 2;
      case SettingKind::kChoice:
        return label ? 1 : 4;
      case SettingKind::kDevices:
        return 5;
    }
    return 0;
  };
  order = keys;
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    return std::pair(rank(i), rank(i) == 0 ? -static_cast<int64_t>(values(i)) : -static_cast<int64_t>(i));
  });
  const size_t all = DifferentRows(table, keys);
  // Labels beside settings that tell rows apart themselves.
  std::vector<size_t> chosen;
  for (const size_t i : keys)
    if (rank(i) > 1) chosen.push_back(i);
  if (!chosen.empty() && DifferentRows(table, chosen) == all) keys = std::move(chosen);
  for (const size_t i : order) {
    if (keys.size() < 2) break;
    std::vector<size_t> without = keys;
    if (std::erase(without, i) == 0) continue;
    if (DifferentRows(table, without) == all) keys = std::move(without);
  }
  return keys;
}

enum class Of { kResult, kPace };

// By what rows have in common but the setting: of each of its values the best time, or the greatest pace.
Groups GroupsOf(const ResultTable& table, const std::vector<size_t>& keys, size_t setting, Of of) {
  Groups groups;
  for (const ResultRow& row : table.rows) {
    const double value = of == Of::kPace ? row.pace : row.result;
    if (value <= 0 || row.values[setting].empty()) continue;
    std::vector<std::string> key;
    for (const size_t i : keys)
      if (i != setting) key.push_back(row.values[i]);
    const double taken = of == Of::kResult && table.rate ? 1 / value : value;
    auto [found, added] = groups[key].emplace(row.values[setting], taken);
    // Of several the best: the others measured something else, too.
    if (!added)
      found->second = of == Of::kPace ? std::max(found->second, taken) : std::min(found->second, taken);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  // The values that most groups have, and the groups that have all of these.
  std::map<std::string, int64_t> counts;
  for (const auto& [key, found] : groups)
    for (const auto& [value, number] : found) ++counts[value];
  int64_t most = 0;
  for (const auto& [value, count] : counts) most = std::max(most, count);
  std::erase_if(counts, [&](const auto& count) { return 2 * count.second <= most; });
  for (auto& [key, found] : groups)
    std::erase_if(found, [&](const auto& value) { return !counts.contains(value.first); });
  std::erase_if(groups, [&](const auto& group) { return group.second.size() < counts.size(); });
  return counts.size() < 2 ? Groups() : groups;
}

// Of numbers of what works beside each other, such as workers: the least of those that are next to the best.
std::string LeastNextToBest(const std::map<std::string, double>& sums, const std::string& best) {
  constexpr double kNext = 1.03;
  std::string least = best;
  for (const auto& [value, sum] : sums)
    if (sum <= kNext * sums.at(best) && NumberOf(value) < NumberOf(least)) least = value;
  return least;
}

// What tells a set of results from the others, in words: "prefill_8k, length 512".
std::string SetText(const ResultTable& table, const std::vector<size_t>& keys, size_t setting,
                    const std::vector<std::string>& set, const Groups& groups) {
  constexpr size_t kLongest = 60;
  std::string text;
  size_t at = 0;
  for (const size_t i : keys) {
    if (i == setting) continue;
    const std::string& value = set[at];
    const bool differs =
        std::ranges::any_of(groups, [&](const auto& group) { return group.first[at] != value; });
    ++at;
    if (!differs || value.empty() || value.size() > kLongest || text.size() > kLongest) continue;
    if (!text.empty()) text += ", ";
    text += IsNumber(value) ? table.settings[i] + " " + Shown(value) : value;
  }
  return text;
}

// Of one set of results, how many times as good the best is as the worst.
void AddRatio(const ResultTable& table, const std::vector<size_t>& keys, size_t setting,
              const std::vector<std::string>& set, const Groups& groups, double ratio, ResultEffectRow& row) {
  const std::string of = SetText(table, keys, setting, set, groups);
  const auto name = of.empty() ? std::nullopt : std::optional(of);
  if (!row.least_times || ratio < *row.least_times) {
    row.least_times = ratio;
    row.least_of = name;
  }
  if (!row.most_times || ratio > *row.most_times) {
    row.most_times = ratio;
    row.most_of = name;
  }
}

// The time of each value, summed over the groups.
std::optional<ResultEffectRow> ChoiceEffect(const ResultTable& table, const std::vector<size_t>& keys,
                                            size_t setting) {
  const Groups groups = GroupsOf(table, keys, setting, Of::kResult);
  std::map<std::string, double> sums;
  for (const auto& [key, times] : groups)
    for (const auto& [value, time] : times) sums[value] += time;
  if (sums.size() < 2) return std::nullopt;
  const auto by_sum = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::string best = std::ranges::min_element(sums, by_sum)->first;
  const std::string worst = std::ranges::max_element(sums, by_sum)->first;
  static const RE2 beside("(?i)thread|worker|proc|stream|prefetch|queue");
  if (RE2::PartialMatch(table.settings[setting], beside) &&
      std::ranges::all_of(sums, [](const auto& sum) { return IsNumber(sum.first); }))
    best = LeastNextToBest(sums, best);
  ResultEffectRow row;
  row.best = best;
  row.worst = worst;
  row.times = sums.at(worst) / sums.at(best);
  row.compared = static_cast<int64_t>(sums.size());
  row.groups = static_cast<int64_t>(groups.size());
  for (const auto& [key, times] : groups) {
    AddRatio(table, keys, setting, key, groups, times.at(worst) / times.at(best), row);
  }
  return row;
}

// The pace at each number, against the greatest of its group: the mean of the groups.
std::vector<std::pair<std::string, double>> PaceByNumber(const Groups& groups) {
  std::map<std::string, double> sums;
  for (const auto& [key, paces] : groups) {
    double most = 0;
    for (const auto& [value, pace] : paces) most = std::max(most, pace);
    for (const auto& [value, pace] : paces) sums[value] += pace / most;
  }
  std::vector<std::pair<std::string, double>> points(sums.begin(), sums.end());
  std::ranges::sort(points, {}, [](const auto& point) { return NumberOf(point.first); });
  for (auto& [value, pace] : points) pace /= static_cast<double>(groups.size());
  return points;
}

// The least number from which on all results that have so much ran out of memory.
std::optional<std::string> FullFrom(const ResultTable& table, size_t setting) {
  std::map<double, std::pair<std::string, bool>> values;
  for (const ResultRow& row : table.rows) {
    const std::string& value = row.values[setting];
    const auto found = values.emplace(NumberOf(value), std::pair(value, true)).first;
    found->second.second = found->second.second && row.out_of_memory;
  }
  std::optional<std::string> from;
  for (auto value = values.rbegin(); value != values.rend() && value->second.second; ++value)
    from = value->second.first;
  return from;
}

std::optional<ResultEffectRow> LoadEffect(const ResultTable& table, const std::vector<size_t>& keys,
                                          size_t setting) {
  const Groups groups = GroupsOf(table, keys, setting, Of::kPace);
  if (groups.empty()) return std::nullopt;
  const auto points = PaceByNumber(groups);
  constexpr double kEnough = 0.95;
  const auto by_pace = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::ranges::max_element(points, by_pace),
             least = std::ranges::min_element(points, by_pace);
  const auto enough =
      std::ranges::find_if(points, [&](const auto& point) { return point.second >= kEnough * most->second; });
  ResultEffectRow row;
  row.best = most->first;
  row.worst = least->first;
  row.times = most->second / least->second;
  row.compared = static_cast<int64_t>(points.size());
  row.groups = static_cast<int64_t>(groups.size());
  row.enough = enough->first;
  row.enough_share = enough->second / most->second;
  row.last = points.back().first;
  row.last_share = points.back().second / most->second;
  row.before = points[points.size() - 2].first;
  row.last_growth = points.back().second / points[points.size() - 2].second;
  row.full_from = FullFrom(table, setting);
  for (const auto& [key, paces] : groups) {
    const auto more = paces.find(row.best), less = paces.find(row.worst);
    if (groups.size() > 1 && more != paces.end() && less != paces.end())
      AddRatio(table, keys, setting, key, groups, more->second / less->second, row);
  }
  return row;
}

std::optional<ResultEffectRow> DevicesEffect(const ResultTable& table, const std::vector<size_t>& keys,
                                             size_t setting) {
  const Groups groups = GroupsOf(table, keys, setting, Of::kPace);
  if (groups.empty()) return std::nullopt;
  const auto points = PaceByNumber(groups);
  constexpr double kEfficient = 0.8;
  const auto efficiency = [&](const auto& point) {
    return point.second / points[0].second * NumberOf(points[0].first) / NumberOf(point.first);
  };
  ResultEffectRow row;
  row.worst = points[0].first;
  row.best = points.back().first;
  row.times = points.back().second / points[0].second;
  row.compared = static_cast<int64_t>(points.size());
  row.groups = static_cast<int64_t>(groups.size());
  row.efficiency = efficiency(points.back());
  for (const auto& point : points) {
    if (efficiency(point) < kEfficient) break;
    row.efficient_to = point.first;
  }
  row.full_from = std::nullopt;
  return row;
}

// Whether results that differ in the setting differ in how much is done at once, too, so that their times
// say nothing of the setting.
bool IsConfounded(const ResultTable& table, const std::vector<size_t>& keys, size_t setting) {
  std::vector<size_t> others = keys;
  std::erase(others, setting);
  const size_t alike = DifferentRows(table, others);
  for (size_t i = 0; i < table.settings.size(); ++i) {
    if (table.kinds[i] != SettingKind::kLoad || std::ranges::find(keys, i) != keys.end()) continue;
    others.push_back(i);
    if (DifferentRows(table, others) > alike) return true;
    others.pop_back();
  }
  return false;
}

std::optional<ResultEffectRow> EffectOf(const ResultTable& table, const std::vector<size_t>& keys,
                                        size_t setting) {
  switch (table.kinds[setting]) {
    case SettingKind::kChoice:
      return IsConfounded(table, keys, setting) ? std::nullopt : ChoiceEffect(table, keys, setting);
    case SettingKind::kLoad:
      return LoadEffect(table, keys, setting);
    case SettingKind::kDevices:
      return DevicesEffect(table, keys, setting);
    case SettingKind::kGiven:
      return std::nullopt;
  }
  return std::nullopt;
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
          .Column("measure", &Row::measure, Unit::kText,
                  "The column of the results; of load and devices what says how much is done in a time.")
          .Column("setting", &Row::setting, Unit::kText,
                  "The column of the setting; table where each value has a table; unknown where each has a "
                  "column.")
          .Column(
              "kind", &Row::kind, Unit::kText,
              "choice: how the same is computed; load: how much at once, as a batch; devices: on how many.")
          .Column(
              "best", &Row::best, Unit::kText,
              "Of a choice the value with the least time in all, or the highest rate; of load that at which "
              "most is done in a time; of devices the most.")
          .Column("worst", &Row::worst, Unit::kText, "The opposite; of devices the fewest.")
          .Column(
              "times", &Row::times, Unit::kNone,
              "The time of the worst over that of the best; of load and devices what is done in a time with "
              "the best over that with the worst.")
          .Column("least_times", &Row::least_times, Unit::kNone,
                  "Of a choice and of load the same in the set of results where it is least.")
          .Column("most_times", &Row::most_times, Unit::kNone, "And where it is most.")
          .Column("least_of", &Row::least_of, Unit::kText,
                  "What tells the set where it is least from the others; unknown where nothing does in few "
                  "words.")
          .Column("most_of", &Row::most_of, Unit::kText, "And that where it is most.")
          .Column("compared", &Row::compared, Unit::kCount, "Values that are compared.")
          .Column("groups", &Row::groups, Unit::kCount,
                  "Sets of results, alike in all else, that have all of them.")
          .Column("enough", &Row::enough, Unit::kText,
                  "Of load: the least value with 95 % of what is done in a time with the best.")
          .Column("enough_share", &Row::enough_share, Unit::kRatio, "What is done with that, of the most.")
          .Column("last", &Row::last, Unit::kText, "Of load: the greatest value.")
          .Column("last_share", &Row::last_share, Unit::kRatio, "What is done with that, of the most.")
          .Column("before_last", &Row::before, Unit::kText, "The value before that.")
          .Column("last_growth", &Row::last_growth, Unit::kNone,
                  "What is done with the last over that before.")
          .Column(
              "full_from", &Row::full_from, Unit::kText,
              "Of load: the least value from which on all results ran out of memory; unknown where none did.")
          .Column("efficiency", &Row::efficiency, Unit::kRatio,
                  "Of devices: what the most do in a time over as many times what each of the fewest does.")
          .Column("efficient_to", &Row::efficient_to, Unit::kText,
                  "Of devices: the most that have an efficiency of 80 % or more, as all fewer have.")
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
  for (const size_t setting : keys) {
    auto effect = EffectOf(*table, keys, setting);
    if (!effect) continue;
    const SettingKind kind = table->kinds[setting];
    effect->measure = kind == SettingKind::kChoice ? table->measure : table->pace_measure;
    effect->kind = KindName(kind);
    if (!table->settings[setting].empty()) effect->setting = table->settings[setting];
    rows.push_back(*std::move(effect));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &ResultEffectRow::times);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].effect = static_cast<int64_t>(i);
    rows[i].results = static_cast<int64_t>(table->rows.size());
    rows[i].failed = table->failed;
  }
  return rows;
}

namespace {

// Of what is given, such as models, the means of each: "by Model on average a 12.4, b 30.4"; "" where results
// of each are not of the same, or differ little.
std::string MeansText(const ResultTable& table) {
  constexpr size_t kMostValues = 5, kMostKeyRows = 2'000, kLongest = 40;
  constexpr double kLeastRatio = 1.2;
  if (table.rows.size() > kMostKeyRows) return {};
  std::string text;
  double most_ratio = kLeastRatio;
  const std::vector<size_t> keys = Keys(table);
  for (const size_t setting : keys) {
    static const RE2 compared("(?i)model|variant|device|gpu|machine|hardware|host|platform");
    if (table.kinds[setting] != SettingKind::kGiven || HoldsNumbers(table, setting) ||
        !RE2::PartialMatch(table.settings[setting], compared))
      continue;
    std::set<std::string> values;
    for (const ResultRow& row : table.rows) values.insert(row.values[setting]);
    const Groups groups = GroupsOf(table, keys, setting, Of::kResult);
    if (values.size() > kMostValues || groups.empty() || groups.begin()->second.size() != values.size())
      continue;
    std::map<std::string, double> means;
    for (const auto& [key, results] : groups)
      for (const auto& [value, taken] : results)
        means[value] += (table.rate ? 1 / taken : taken) / static_cast<double>(groups.size());
    double least = std::numeric_limits<double>::max(), most = 0;
    for (const auto& [value, mean] : means) {
      least = std::min(least, mean);
      most = std::max(most, mean);
    }
    const bool too_long =
        std::ranges::any_of(values, [](const std::string& value) { return value.size() > kLongest; });
    if (too_long || most < most_ratio * least) continue;
    most_ratio = most / least;
    text = fmt::format("; by {} on average", table.settings[setting]);
    std::string_view sign = " ";
    for (const auto& [value, mean] : means) {
      text += fmt::format("{}{} {}", sign, value, ThreeDigits(mean));
      sign = ", ";
    }
  }
  return text;
}

// Of columns of results, one for each way, those at the greatest size: "; at size 8192 a 209, b 211"; ""
// where rows do not end with it.
std::string LastText(const ResultTable& table) {
  constexpr size_t kMostWays = 5;
  if (table.settings.size() < 2 || !table.settings.back().empty()) return {};
  std::vector<std::string> last = table.rows.back().values;
  last.pop_back();
  std::string text;
  size_t ways = 0;
  for (const ResultRow& row : table.rows) {
    if (!std::equal(last.begin(), last.end(), row.values.begin())) continue;
    if (row.result > 0)
      text += fmt::format("{} {} {}", text.empty() ? "" : ",", row.values.back(), ThreeDigits(row.result));
    ++ways;
  }
  std::string at;
  for (size_t i = 0; i < last.size(); ++i) {
    if (std::ranges::any_of(table.rows, [&](const ResultRow& row) {
          return !IsNumber(row.values[i]) || NumberOf(row.values[i]) > NumberOf(last[i]);
        }))
      return {};
    at += fmt::format("{}{} {}", i == 0 ? "" : ", ", table.settings[i], Shown(last[i]));
  }
  return text.empty() || ways > kMostWays ? std::string() : fmt::format("; at {}{}", at, text);
}

}  // namespace

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
      "{} results, {} {} to {}{}{}{}", FormatValue(results, Unit::kCount), table->measure, ThreeDigits(least),
      ThreeDigits(most),
      table->failed > 0 ? fmt::format(", {} that failed", FormatValue(table->failed, Unit::kCount)) : "",
      LastText(*table), MeansText(*table));
}

const Family& ResultEffectFamily() {
  static const Family family = FamilyOf<std::vector<ResultEffectRow>>(ResultEffectRelation());
  return family;
}

}  // namespace dladvisor
