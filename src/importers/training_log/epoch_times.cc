// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/epoch_times.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "src/importers/training_log/log_line.h"

namespace dladvisor::training_log {
namespace {

// Fewer times may grow by themselves.
constexpr size_t kLeastTotals = 5;
// Of a total the part that epochs of equal length explain, from which on it is one.
constexpr double kMostlyTotal = 0.5;
// By how much of the median the first epoch may differ from it.
constexpr double kMostOfFirst = 0.3;

}  // namespace

std::optional<double> TimeOfEpochBefore(std::string_view line) {
  if (line.size() > 160 || line.find("poch") == std::string_view::npos) return std::nullopt;
  static const RE2 time(
      R"((?i)^\W*(?:(?:total )?time (?:taken|used|elapsed|cost|spent)? ?(?:for|in|of|per) (?:(?:1|one|this|the|each) )?epoch|epoch (?:training )?(?:time|duration|took))\b[^\d]{0,16}(\d+(?:\.\d+)?) *(s|secs?|seconds?|min|mins|minutes?)\b)");
  double number = 0;
  std::string unit;
  if (!RE2::PartialMatch(line, time, &number, &unit) || !(number > 0)) return std::nullopt;
  return number * (unit.front() == 'm' || unit.front() == 'M' ? 60 : 1);
}

void SplitTotals(std::vector<TrainingIteration>& epochs) {
  if (epochs.size() < kLeastTotals) return;
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (!epochs[i].elapsed_ns || epochs[i].attempt != epochs[0].attempt) return;
    if (i > 0 && *epochs[i].elapsed_ns <= *epochs[i - 1].elapsed_ns) return;
  }
  const double all = static_cast<double>(epochs.size());
  if (*epochs.back().elapsed_ns < kMostlyTotal * all * *epochs.front().elapsed_ns) return;
  // Epochs that become longer begin with another time than they grow by.
  std::vector<double> growth;
  for (size_t i = 1; i < epochs.size(); ++i)
    growth.push_back(*epochs[i].elapsed_ns - *epochs[i - 1].elapsed_ns);
  std::ranges::nth_element(growth, growth.begin() + static_cast<ptrdiff_t>(growth.size() / 2));
  const double median = growth[growth.size() / 2];
  if (std::abs(median - *epochs.front().elapsed_ns) > kMostOfFirst * median) return;
  double before = 0;
  for (TrainingIteration& row : epochs) {
    const double total = *row.elapsed_ns;
    *row.elapsed_ns -= std::exchange(before, total);
  }
}

}  // namespace dladvisor::training_log
