// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_columns.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/importers/benchmark_log/result_cells.h"
#include "src/importers/benchmark_log/result_settings.h"
#include "src/importers/benchmark_log/result_speedups.h"
#include "src/importers/benchmark_log/result_texts.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kMostValues = 64, kMostResultColumns = 40, kLeastResults = 3, kLeastCompared = 2;

// A column that says of each row whether its result is right: "correct", "allclose" of True and False.
bool TellsRight(const std::string& name, const std::vector<std::string>& cells) {
  static const RE2 right(
      R"((?i)^(?:is[ _]?)?(?:correct(?:ness)?|allclose|all[ _]close|pass(?:ed|es)?|verif(?:y|ied)|valid(?:ated)?|match(?:es|ed)?|ok)[?]?$)"),
      answer(
          R"((?i)^(?:true|false|yes|no|y|n|ok|pass(?:ed)?|fail(?:ed|s)?|correct|incorrect|wrong|✓|✔|✅|✗|✘|❌)$)");
  return RE2::FullMatch(name, right) &&
         std::ranges::all_of(cells, [](const std::string& cell) { return RE2::FullMatch(cell, answer); });
}

std::vector<ResultColumn> ColumnsOf(const RawResults& raw) {
  std::vector<ResultColumn> columns;
  for (size_t i = 0; i < raw.names.size(); ++i) {
    ResultColumn& column = columns.emplace_back();
    column.name = raw.names[i];
    for (const auto& row : raw.rows) column.cells.push_back(row[i]);
    column.numbers = NumbersOfColumn(column.cells);
    size_t numbers = 0, failures = 0;
    for (const std::string& cell : column.cells) {
      numbers += NumberOfCell(cell).has_value();
      failures += !NumberOfCell(cell) && SaysFailed(cell);
    }
    const bool numeric = numbers > 0 && numbers + failures == column.cells.size();
    column.role = numeric ? RoleOfName(column.name) : RoleOfWords(column.name);
    if (!numeric && TellsRight(column.name, column.cells)) column.role = Role::kStatus;
    if (numeric && column.role == Role::kSetting && !UnitOfColumn(column.cells).empty())
      column.role = Role::kTime;
    if (column.role != Role::kSetting) continue;
    // "**8**" and "1,024" are 8 and 1024.
    for (std::string& cell : column.cells)
      std::erase_if(cell, [&](char c) { return c == '*' || c == '`' || (numeric && c == ','); });
    column.kind = KindOfSetting(column.name, column.cells);
  }
  // "c" is the requests at once of a server's results, and a count of channels or clusters in others.
  static const RE2 serves("(?i)tok|ttft|tpot|itl|request|\\breq");
  if (std::ranges::none_of(columns, [](const auto& c) { return RE2::PartialMatch(c.name, serves); }))
    for (ResultColumn& column : columns)
      if (column.name == "c" && column.kind == SettingKind::kLoad) column.kind = SettingKind::kGiven;
  return columns;
}

bool IsFailure(const std::string& status) {
  static const RE2 well(
      R"((?i)^(?:ok|okay|success|succeeded|pass(?:ed)?|complete[d]?|done|true|yes|y|correct|✓|✔|✅|1|0|none|)$)");
  return !RE2::FullMatch(status, well);
}

// A setting has several values, and not as many as a measure.
bool Varies(const ResultColumn& column) {
  std::set<std::string> values(column.cells.begin(), column.cells.end());
  constexpr size_t kMostFractions = 12;
  const bool fractions =
      std::ranges::any_of(column.numbers, [](double number) { return number != std::floor(number); });
  return values.size() > 1 && values.size() <= kMostValues && (!fractions || values.size() <= kMostFractions);
}

// How much came out of each row, which a model decides: their times are of different work.
bool IsOutcome(const ResultColumn& column) {
  static const RE2 tokens(
      R"((?i)^(?:num|n|total|avg)?[ _]?(?:tokens?[ _](?:generated|out(?:put)?|produced)|(?:generated|output|completion|response)[ _]tokens?)(?:[ _]count)?$)");
  const std::set<std::string> values(column.cells.begin(), column.cells.end());
  return RE2::FullMatch(column.name, tokens) && 2 * values.size() > column.cells.size();
}

bool IsRateOfTokens(const ResultColumn* column) {
  static const RE2 tokens(R"((?i)tok(?:en)?s?\b|\btps\b)");
  return RE2::PartialMatch(column->name, tokens);
}

// Words that each row has for itself: they tell nothing of what rows have in common.
bool IsLabel(const ResultColumn& column) {
  return !NumberOfCell(column.cells[0]) &&
         std::set(column.cells.begin(), column.cells.end()).size() == column.cells.size();
}

// Whether the time is the same whatever this setting is, where all else is alike, and another one is not:
// that of a reference, printed beside each.
bool IsSameWithAny(const ResultColumn& time, const ResultColumn& other, const ResultColumn& setting,
                   const std::vector<ResultColumn*>& settings) {
  constexpr size_t kLeastGroups = 3;
  struct Group {
    std::set<std::string> values;
    std::set<double> times, others;
  };
  std::map<std::vector<std::string>, Group> groups;
  for (size_t row = 0; row < time.cells.size(); ++row) {
    std::vector<std::string> key;
    for (const ResultColumn* column : settings)
      if (column != &setting) key.push_back(column->cells[row]);
    Group& group = groups[key];
    group.values.insert(setting.cells[row]);
    group.times.insert(time.numbers[row]);
    group.others.insert(other.numbers[row]);
  }
  size_t counted = 0, differ = 0;
  for (const auto& [key, group] : groups) {
    if (group.values.size() < 2) continue;
    if (group.times.size() > 1) return false;
    ++counted;
    differ += group.others.size() > 1;
  }
  return counted >= kLeastGroups && 2 * differ > counted;
}

// Leaves out times that are none of what the rows try: those that do not vary with a setting with which
// others do, and the first of two that a speed-up follows, "A PT | A TR | A Speedup".
void LeaveOutReferences(const std::vector<ResultColumn>& columns, const std::vector<ResultColumn*>& settings,
                        std::vector<const ResultColumn*>& times) {
  static const RE2 speedup(R"((?i)speed-?[ _]?up)");
  std::set<const ResultColumn*> references;
  for (const ResultColumn* time : times)
    for (const ResultColumn* other : times)
      for (const ResultColumn* setting : settings)
        if (other != time && IsSameWithAny(*time, *other, *setting, settings)) references.insert(time);
  for (size_t i = 2; i < columns.size(); ++i)
    if (RE2::PartialMatch(columns[i].name, speedup) && columns[i - 1].role == Role::kTime &&
        columns[i - 2].role == Role::kTime)
      references.insert(&columns[i - 2]);
  if (references.size() < times.size())
    std::erase_if(times, [&](const ResultColumn* time) { return references.contains(time); });
}

// The whole before a part of it, and of these the mean.
const ResultColumn* BestOf(const std::vector<const ResultColumn*>& columns) {
  static const RE2 whole("(?i)total|e2e|end.to.end|wall|overall|aggregate|gesamt|real|output"),
      mean("(?i)mean|avg|average");
  const auto rank = [&](const ResultColumn* column) {
    return (IsRateOfOne(column->name) ? 4 : 0) + (RE2::PartialMatch(column->name, whole)  ? 0
                                                  : RE2::PartialMatch(column->name, mean) ? 1
                                                                                          : 2);
  };
  return columns.empty() ? nullptr : *std::ranges::min_element(columns, {}, rank);
}

// How a time goes with a setting where all else is alike: that at its greatest value over that at its least;
// 0 where nothing tells.
double GrowthWith(const ResultColumn& time, const ResultColumn& setting,
                  const std::vector<const ResultColumn*>& settings) {
  std::map<std::vector<std::string>, std::map<double, double>> groups;
  for (size_t row = 0; row < time.cells.size(); ++row) {
    if (time.numbers[row] <= 0 || setting.numbers[row] <= 0) continue;
    std::vector<std::string> key;
    for (const ResultColumn* other : settings)
      if (other != &setting && other->kind != SettingKind::kGiven && !IsLabel(*other))
        key.push_back(other->cells[row]);
    groups[key].emplace(setting.numbers[row], time.numbers[row]);
  }
  double sum = 0;
  int64_t counted = 0;
  for (const auto& [key, times] : groups) {
    if (times.size() < 2) continue;
    sum += std::log(times.rbegin()->second / times.begin()->second);
    ++counted;
  }
  return counted == 0 ? 0 : std::exp(sum / static_cast<double>(counted));
}

constexpr double kFalls = 0.9, kRises = 1.3;

// Of how much work the time of each row is, where its column tells: a batch more is more of it, unless it
// takes less time. Settings that are none of load after all become what they are.
const ResultColumn* WorkOf(const ResultColumn& time, std::vector<ResultColumn*>& settings) {
  const std::vector<const ResultColumn*> all(settings.begin(), settings.end());
  const ResultColumn* work = nullptr;
  for (ResultColumn* setting : settings) {
    if (setting->kind != SettingKind::kLoad) continue;
    const double growth = GrowthWith(time, *setting, all);
    if (growth > 0 && growth <= kFalls) {
      // The same work in fewer pieces.
      if (IsLoadOfDevice(setting->name)) setting->kind = SettingKind::kChoice;
      continue;
    }
    const bool more = growth >= kRises || (growth > kFalls && IsTimeOfBatch(time.name));
    if (more && !work)
      work = setting;
    else
      setting->kind = SettingKind::kGiven;
  }
  return work;
}

// Fills the pace of rows: from a rate that stands in the table, or from a time and the work of it.
void GivePace(const ResultColumn* rate, const ResultColumn* time, std::vector<ResultColumn*>& settings,
              const std::vector<size_t>& kept, ResultTable& table) {
  const auto of_kind = [&](SettingKind kind) {
    std::vector<ResultColumn*> found;
    for (ResultColumn* setting : settings)
      if (setting->kind == kind) found.push_back(setting);
    return found;
  };
  std::vector<ResultColumn*> devices = of_kind(SettingKind::kDevices);
  // Of several, none is the number of all.
  if (devices.size() > 1) {
    for (ResultColumn* column : devices) column->kind = SettingKind::kGiven;
    devices.clear();
  }
  const ResultColumn* work = nullptr;
  if (!rate) {
    work = WorkOf(*time, settings);
    const std::vector<const ResultColumn*> all(settings.begin(), settings.end());
    const double growth = devices.empty() ? 0 : GrowthWith(*time, *devices[0], all);
    const bool strong = growth > 0 && growth <= kFalls, weak = work && !IsLoadOfDevice(work->name);
    if (!devices.empty() && !strong && !weak) devices[0]->kind = SettingKind::kGiven;
    if (of_kind(SettingKind::kLoad).empty() && of_kind(SettingKind::kDevices).empty()) return;
    table.pace_measure = work ? work->name + " / " + time->name : "1 / " + time->name;
  } else {
    const auto loads = of_kind(SettingKind::kLoad);
    static const RE2 requests("(?i)concurren|client|user|seqs|prompts|flight");
    if (loads.size() == 1 && IsRateOfBatches(rate->name) && !RE2::PartialMatch(loads[0]->name, requests))
      work = loads[0];
    table.pace_measure = work ? work->name + " · " + rate->name : rate->name;
  }
  const bool each = rate && IsRateOfOne(rate->name);
  for (size_t i = 0; i < kept.size(); ++i) {
    const size_t row = kept[i];
    const double measured = rate ? rate->numbers[row] : time->numbers[row];
    if (measured <= 0 || table.rows[i].failed) continue;
    const double many = work ? work->numbers[row] : 1,
                 all = each && !devices.empty() ? devices[0]->numbers[row] : 1;
    table.rows[i].pace = rate ? measured * many * all : many / measured;
  }
}

// Whether each has the same of another way to compute it: "Custom (us)", "PyTorch (us)".
bool AreColumnsOfWays(const std::vector<const ResultColumn*>& columns) {
  if (columns.size() < 2) return false;
  if (std::ranges::all_of(columns, [](const ResultColumn* column) { return IsWay(column->name); }))
    return true;
  static const RE2 with_unit(R"(.*[^ ] ?[(\[]([^()\[\]]+)[)\]])");
  std::vector<std::string> names, units;
  for (const ResultColumn* column : columns) {
    names.push_back(column->name);
    if (!RE2::FullMatch(column->name, with_unit, &units.emplace_back())) return false;
  }
  return std::ranges::all_of(units, [&](const std::string& unit) { return unit == units[0]; }) &&
         AreWays(names);
}

// Without rows of what a device could do at best: "theoretical_peak", "roofline".
RawResults WithoutBounds(RawResults raw) {
  static const RE2 bound(
      R"((?i)^(?:theor\w*|roof[ _-]?line|speed[ _-]of[ _-]light|sol|peak)(?:[ _-](?:peak|max\w*|limit|bound|\w?flops))?$|[ _-](?:peak|roofline)$)");
  std::erase_if(raw.rows, [](const std::vector<std::string>& row) {
    return std::ranges::any_of(row, [](const std::string& cell) { return RE2::PartialMatch(cell, bound); });
  });
  return raw;
}

}  // namespace

bool MayBeResults(const std::vector<std::string>& names) {
  if (!names.empty() && names[0].starts_with("Name (time in ")) return true;  // pytest-benchmark's
  if (names.size() > 2 && names[0] == "command" && names[1] == "mean" && names[2] == "stddev")
    return true;  // hyperfine's
  const bool words = std::ranges::all_of(names, [](const std::string& name) {
    constexpr size_t kLongestName = 48;
    return !name.empty() && name.size() <= kLongestName && !NumberOfCell(name);
  });
  const bool measures = std::ranges::any_of(names, [](const std::string& name) {
    const Role role = RoleOfName(name);
    return role == Role::kTime || role == Role::kRate;
  });
  return words && measures && names.size() > 1 && names.size() <= kMostResultColumns &&
         std::ranges::none_of(names, IsOfProfile);
}

std::optional<ResultTable> ResultsOf(const RawResults& all) {
  const RawResults raw = WithoutBounds(all);
  std::vector<ResultColumn> columns = ColumnsOf(raw);
  std::vector<const ResultColumn*> times, rates, states;
  std::vector<ResultColumn*> settings;
  static const RE2 steps("(?i)^(?:(?:global[ _])?steps?|epochs?|iter(?:ation)?s?)$");
  for (ResultColumn& column : columns) {
    if (column.role == Role::kTime) times.push_back(&column);
    if (column.role == Role::kRate) rates.push_back(&column);
    if (column.role == Role::kStatus) states.push_back(&column);
    if (column.role != Role::kSetting || !Varies(column)) continue;
    if (RE2::FullMatch(column.name, steps)) return std::nullopt;  // rows of one run
    settings.push_back(&column);
  }
  if (std::ranges::any_of(settings, [](const auto* setting) { return IsOutcome(*setting); }) &&
      std::ranges::any_of(rates, IsRateOfTokens)) {
    times.clear();
    std::erase_if(settings, [](const auto* setting) { return IsOutcome(*setting); });
  }
  ResultTable table;
  table.rate = times.empty();
  // Whether more pieces are more work tells only the batch.
  const bool batch = std::ranges::any_of(
      columns, [](const ResultColumn& column) { return column.kind == SettingKind::kLoad; });
  for (ResultColumn* setting : settings)
    if (!table.rate && !batch && IsNumberOfPieces(setting->name)) setting->kind = SettingKind::kGiven;
  std::vector<const ResultColumn*> measures = table.rate ? rates : times;
  if (measures.empty()) return std::nullopt;
  const bool ways = AreColumnsOfWays(measures);
  if (!ways && !table.rate) LeaveOutReferences(columns, settings, measures);
  if (!ways) measures = {BestOf(measures)};
  std::vector<size_t> kept;
  for (size_t row = 0; row < raw.rows.size(); ++row) {
    const auto fails = [&](const ResultColumn* column) {
      return !NumberOfCell(column->cells[row]) && SaysFailed(column->cells[row]);
    };
    const bool failed =
        std::ranges::any_of(states, [&](const auto* column) { return IsFailure(column->cells[row]); }) ||
        std::ranges::all_of(measures, fails);
    for (const ResultColumn* measure : measures) {
      ResultRow& result = table.rows.emplace_back();
      for (const ResultColumn* setting : settings) result.values.push_back(setting->cells[row]);
      if (ways) result.values.push_back(measure->name);
      result.failed = failed || fails(measure);
      result.out_of_memory = result.failed && std::ranges::any_of(raw.rows[row], SaysOutOfMemory);
      if (!result.failed) result.result = measure->numbers[row];
      table.failed += result.failed;
      kept.push_back(row);
    }
  }
  table.measure = ways ? (table.rate ? "rates" : "times") : measures.front()->name;
  if (const std::string unit = UnitOfColumn(measures.front()->cells); !ways && !unit.empty())
    table.measure += " (" + unit + ")";
  if (!ways) GivePace(BestOf(rates), times.empty() ? nullptr : measures.front(), settings, kept, table);
  for (const ResultColumn* setting : settings) {
    table.settings.push_back(setting->name);
    table.kinds.push_back(setting->kind);
  }
  table.speedups = SpeedupsOf(columns, settings);
  if (ways) {
    table.settings.emplace_back();
    table.kinds.push_back(SettingKind::kChoice);
  }
  const auto measured =
      std::ranges::count_if(table.rows, [](const ResultRow& row) { return row.result > 0; });
  // One that fails by its own column is a result, too.
  const int64_t results = measured + (states.empty() ? 0 : table.failed);
  if (table.settings.empty() || measured == 0 ||
      results < static_cast<int64_t>(raw.compares ? kLeastCompared : kLeastResults))
    return std::nullopt;
  // Times by a single name may be the parts of a run and not ways to do the same.
  static const RE2 whole(
      R"((?i)^(?:total|overall|sum|idle)(?:[ _:(].*)?$|(?:^|[ _])(?:total|overall|sum|all|idle)$)"),
      choice(
          R"((?i)^(?:mode|dtype|precision|backend|framework|engine|runtime|impl\w*|method|variant|config\w*|attention|quant\w*|strategy|compiler?|approach|version|setting)s?$)");
  const auto names_whole = [](const std::string& value) {
    return !NumberOfCell(value) && value.size() < kMostValues && RE2::PartialMatch(value, whole);
  };
  const bool by_name = !raw.compares && settings.size() == 1 && !ways && !table.rate &&
                       !NumberOfCell(settings[0]->cells[0]) && !RE2::FullMatch(settings[0]->name, choice) &&
                       !std::ranges::all_of(settings[0]->cells, IsWay);
  const bool parts = by_name || std::ranges::any_of(table.rows, [&](const ResultRow& row) {
                       return std::ranges::any_of(row.values, names_whole);
                     });
  return parts ? std::nullopt : std::optional(std::move(table));
}

}  // namespace dladvisor::benchmark_log
