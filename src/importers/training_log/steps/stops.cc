// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/stops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace dladvisor::training_log {
namespace {

constexpr double kLeastStop = 3600e9, kAboveOthers = 20;
// Fewer show nothing of what is between lines.
constexpr size_t kLeastOthers = 5;
// By how much of it the time of a line may differ from that of its iterations, to be where it is from.
constexpr double kSame = 0.01;

double Between(const std::vector<TrainingIteration>& rows, size_t i) {
  return static_cast<double>(*rows[i].time_ns) - static_cast<double>(*rows[i - 1].time_ns);
}

double MiddleOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

void LeaveOutStops(TrainingLog& log) {
  std::vector<TrainingIteration>& rows = log.iterations;
  // Before these the program does what may take hours.
  std::vector<char> busy(rows.size() + 1, 0);
  for (const TrainingEvent& event : log.events)
    if (event.before < rows.size() &&
        (event.kind == TrainingEventKind::kEvaluation || event.kind == TrainingEventKind::kEpochEnd))
      busy[event.before] = 1;
  std::vector<double> all, of_busy;
  std::vector<size_t> long_ones;
  for (size_t i = 1; i < rows.size(); ++i) {
    const TrainingIteration &row = rows[i], &before = rows[i - 1];
    if (row.attempt != before.attempt || !row.time_ns || !before.time_ns || !row.elapsed_ns) continue;
    const double ns = Between(rows, i);
    const double taken = *row.elapsed_ns * static_cast<double>(row.covers.value_or(1));
    all.push_back(ns);
    if (busy[i]) of_busy.push_back(ns);
    if (ns >= kLeastStop && std::abs(ns - taken) <= kSame * ns) long_ones.push_back(i);
  }
  if (long_ones.empty() || all.size() < kLeastOthers) return;
  const double usual = MiddleOf(all);
  for (const size_t i : long_ones) {
    if (busy[i] && of_busy.size() < kLeastOthers) continue;
    const double ns = Between(rows, i);
    if (ns >= kAboveOthers * std::max(usual, busy[i] ? MiddleOf(of_busy) : 0)) rows[i].elapsed_ns.reset();
  }
}

}  // namespace dladvisor::training_log
