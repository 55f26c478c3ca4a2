// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_speedups.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "src/importers/benchmark_log/result_cells.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLeastOfSpeedup = 3;
// Slower than the reference by what is no chance.
constexpr double kSlower = 0.95;

// From which value of a setting of numbers on a speed-up is 1 and more, and below which less; in nine rows of
// ten.
void GiveLimit(const ResultColumn& speedup, const std::vector<ResultColumn*>& settings,
               ResultSpeedup& result) {
  constexpr double kMostly = 0.9;
  double best = kMostly;
  for (const ResultColumn* setting : settings) {
    std::map<double, std::pair<int64_t, int64_t>> by_value;  // below 1, and others
    bool numeric = true;
    for (size_t row = 0; row < speedup.cells.size(); ++row) {
      numeric = numeric && NumberOfCell(setting->cells[row]);
      if (speedup.numbers[row] <= 0) continue;
      auto& [below, above] = by_value[setting->numbers[row]];
      ++(speedup.numbers[row] < kSlower ? below : above);
    }
    if (!numeric) continue;
    int64_t right = result.rows - result.below;  // with all values taken for faster
    for (auto value = by_value.begin(); value != by_value.end(); ++value) {
      const auto share = static_cast<double>(right) / static_cast<double>(result.rows);
      if (value != by_value.begin() && share >= best) {
        best = share;
        result.setting = setting->name;
        const auto cell = std::ranges::find(setting->numbers, value->first);
        result.from = setting->cells[static_cast<size_t>(cell - setting->numbers.begin())];
      }
      right += value->second.first - value->second.second;
    }
  }
}

// Whether the reference is among the rows: the first one is it, or one of twelve at most.
bool IsOfRow(const ResultColumn& speedup) {
  constexpr int64_t kMostPerReference = 12;
  const auto same = [](double number) { return std::abs(number - 1) < 1e-9; };
  const auto first = std::ranges::find_if(speedup.numbers, [](double number) { return number != 0; });
  return (first != speedup.numbers.end() && same(*first)) ||
         kMostPerReference * std::ranges::count_if(speedup.numbers, same) >=
             static_cast<int64_t>(speedup.numbers.size());
}

// Whether more of a setting is more that works at once: with it speed-ups are over fewer of it.
bool IsNumberOfWorkers(const ResultColumn& setting) {
  static const RE2 workers("(?i)thread|worker|core|proc|rank|gpu|device|node|world|task");
  return setting.kind == SettingKind::kDevices ||
         (RE2::PartialMatch(setting.name, workers) && NumberOfCell(setting.cells[0]));
}

// Whether a time is that of what others are compared with, by its name.
bool NamesReference(const std::string& name) {
  static const RE2 reference(
      R"((?i)(?:^|[_ -])(?:naive|base(?:line)?|ref(?:erence)?|eager|torch|pytorch|pt|cpu|cublas|cudnn|numpy|unfused|sequential|seq|serial|default|vanilla|native|old|before)(?:[_ -]|$))");
  return RE2::PartialMatch(name, reference);
}

// Whether a speed-up is the time of the first over that of the second.
bool IsRatio(const ResultColumn& speedup, const ResultColumn& first, const ResultColumn& second) {
  constexpr double kRounding = 0.1, kMostly = 0.8;
  int64_t compared = 0, fits = 0;
  for (size_t row = 0; row < speedup.cells.size(); ++row) {
    if (speedup.numbers[row] <= 0 || first.numbers[row] <= 0 || second.numbers[row] <= 0) continue;
    ++compared;
    const double ratio = first.numbers[row] / second.numbers[row] / speedup.numbers[row];
    fits += std::abs(ratio - 1) <= kRounding;
  }
  return compared > 0 && static_cast<double>(fits) >= kMostly * static_cast<double>(compared);
}

// Whether the table's own times say the same: where it has two or more, one of a reference over one that is
// none.
bool AgreesWithTimes(const ResultColumn& speedup, const std::vector<ResultColumn>& columns) {
  std::vector<const ResultColumn*> times;
  for (const ResultColumn& column : columns)
    if (column.role == Role::kTime) times.push_back(&column);
  if (times.size() < 2) return true;
  for (const ResultColumn* first : times)
    for (const ResultColumn* second : times)
      if (first != second && IsRatio(speedup, *first, *second))
        return NamesReference(first->name) || !NamesReference(second->name);
  return false;
}

}  // namespace

std::vector<ResultSpeedup> SpeedupsOf(const std::vector<ResultColumn>& columns,
                                      const std::vector<ResultColumn*>& settings) {
  static const RE2 speedup(R"((?i)speed[-_ ]?up)"),
      other(R"((?i)%|percent|pct|energy|power|mem|bandwidth|efficien|ideal|linear|scaling|theor|max|peak)"),
      of_reference(R"((?i)^(?:torch|pytorch|eager|base(?:line)?|ref(?:erence)?|cpu|naive|numpy)[_ -]speed)");
  constexpr size_t kMostSpeedups = 12;
  std::vector<ResultSpeedup> speedups;
  if (std::ranges::any_of(settings, [](const ResultColumn* setting) { return IsNumberOfWorkers(*setting); }))
    return speedups;
  for (const ResultColumn& column : columns) {
    if (!RE2::PartialMatch(column.name, speedup) || RE2::PartialMatch(column.name, other) ||
        RE2::PartialMatch(column.name, of_reference) || speedups.size() >= kMostSpeedups)
      continue;
    const auto percent = [](const std::string& cell) { return cell.find('%') != std::string::npos; };
    std::vector<double> numbers;
    for (const double number : column.numbers)
      if (number != 0) numbers.push_back(number);
    std::ranges::sort(numbers);
    if (numbers.size() < kLeastOfSpeedup || numbers.front() < 0 ||
        std::ranges::any_of(column.cells, percent) || IsOfRow(column) || !AgreesWithTimes(column, columns))
      continue;
    ResultSpeedup& result = speedups.emplace_back();
    result.name = column.name;
    result.rows = static_cast<int64_t>(numbers.size());
    result.below = std::ranges::lower_bound(numbers, kSlower) - numbers.begin();
    result.least = numbers.front();
    result.median = numbers[numbers.size() / 2];
    result.most = numbers.back();
    GiveLimit(column, settings, result);
  }
  return speedups;
}

}  // namespace dladvisor::benchmark_log
