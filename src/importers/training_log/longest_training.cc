// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/longest_training.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dladvisor::training_log {

void KeepLongestTraining(TrainingLog& log) {
  constexpr double kSamePace = 1.5;
  const std::vector<TrainingIteration>& rows = log.iterations;
  struct Part {
    size_t begin = 0, end = 0;
    double pace = 0, time = 0;
  };
  std::vector<Part> parts;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool starts =
        i == 0 || (rows[i].attempt != rows[i - 1].attempt &&
                   rows[i].iteration <= std::max(rows[i].covers.value_or(1), rows.front().iteration));
    if (starts) parts.push_back({i, i, 0, 0});
    parts.back().end = i + 1;
  }
  for (Part& part : parts) {
    std::vector<double> times;
    for (size_t i = part.begin; i < part.end; ++i) {
      if (rows[i].elapsed_ns) times.push_back(*rows[i].elapsed_ns);
      part.time += rows[i].elapsed_ns.value_or(0) * static_cast<double>(rows[i].covers.value_or(1));
    }
    if (times.empty()) continue;
    std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
    part.pace = times[times.size() / 2];
  }
  if (parts.size() < 2) return;
  const Part longest = *std::ranges::max_element(parts, {}, &Part::time);
  std::vector<size_t> new_index(rows.size() + 1);
  std::vector<bool> kept(rows.size() + 1, true);
  for (const Part& part : parts)
    if (!(part.pace <= longest.pace * kSamePace && longest.pace <= part.pace * kSamePace))
      std::fill(kept.begin() + static_cast<ptrdiff_t>(part.begin),
                kept.begin() + static_cast<ptrdiff_t>(part.end), false);
  std::vector<TrainingIteration> left;
  for (size_t i = 0; i < rows.size(); ++i) {
    new_index[i] = left.size();
    if (kept[i]) left.push_back(rows[i]);
  }
  new_index[rows.size()] = left.size();
  if (left.size() == rows.size()) return;
  log.other_lines = static_cast<int64_t>(rows.size() - left.size());
  std::erase_if(log.timers, [&](const TrainingTimer& timer) { return !kept[timer.row]; });
  for (TrainingTimer& timer : log.timers) timer.row = new_index[timer.row];
  std::erase_if(log.extremes, [&](const TrainingExtreme& extreme) { return !kept[extreme.row]; });
  for (TrainingExtreme& extreme : log.extremes) extreme.row = new_index[extreme.row];
  std::erase_if(log.events, [&](const TrainingEvent& event) { return !kept[event.before]; });
  for (TrainingEvent& event : log.events) event.before = new_index[event.before];
  // Which of the trainings these are of is not known.
  log.memory.clear();
  log.between_epochs_ns.clear();
  int64_t attempt = -1, last = -1;
  for (TrainingIteration& row : left) {
    if (row.attempt != last) ++attempt;
    last = std::exchange(row.attempt, attempt);
  }
  log.iterations = std::move(left);
}

}  // namespace dladvisor::training_log
