// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_gaps.h"

#include <algorithm>
#include <vector>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// Ten minutes and more, and ten times what is mostly between lines where anything is.
constexpr double kLeastGap = 600e9, kAboveOthers = 10;
// Of whole seconds, and of times that are printed as a mean of a few iterations.
constexpr double kNothing = 5e9;
// No checkpoint takes as long; nor does it count where a line does not tell what its iterations took.
constexpr double kLongestCheckpoint = 3600e9;

}  // namespace

std::optional<TrainingGaps> FindGaps(const TrainingLog& log) {
  // What a program does in them that it tells of takes as long as it tells; where it does not, only other
  // gaps with the same show that one is too long.
  std::vector<double> told(log.iterations.size() + 1, 0);
  std::vector<char> untold(log.iterations.size() + 1, 0), saves(log.iterations.size() + 1, 1);
  for (const TrainingEvent& event : log.events) {
    if (event.before >= told.size() || event.kind == TrainingEventKind::kGarbageCollection) continue;
    if (event.ns)
      told[event.before] += *event.ns;
    else
      untold[event.before] = 1;
    if (event.kind != TrainingEventKind::kCheckpoint) saves[event.before] = 0;
  }
  // Of a line that is without one for standing still.
  std::vector<double> times;
  for (const TrainingIteration& row : log.iterations)
    if (row.elapsed_ns) times.push_back(*row.elapsed_ns);
  if (times.empty()) return std::nullopt;
  const double usual_time = Median(times);
  std::vector<double> between, others, of_events;
  for (size_t i = 1; i < log.iterations.size(); ++i) {
    const TrainingIteration &line = log.iterations[i], &before = log.iterations[i - 1];
    between.push_back(0);
    if (line.attempt != before.attempt || !line.time_ns || !before.time_ns || !line.covers) continue;
    between.back() = static_cast<double>(*line.time_ns - *before.time_ns) -
                     line.elapsed_ns.value_or(usual_time) * static_cast<double>(*line.covers) - told[i];
    if (!line.elapsed_ns && between.back() < kLongestCheckpoint) between.back() = 0;
    if (between.back() <= kNothing) continue;
    others.push_back(between.back());
    if (untold[i]) of_events.push_back(between.back());
  }
  const double usual = others.empty() ? 0 : Median(others);
  const bool compared = of_events.size() > 2;
  const double usual_of_events = compared ? Median(of_events) : 0;
  TrainingGaps found;
  for (size_t i = 0; i < between.size(); ++i) {
    if (between[i] < std::max(kLeastGap, others.size() > 2 ? kAboveOthers * usual : 0)) continue;
    const bool saves_alone = saves[i + 1] != 0 && between[i] >= kLongestCheckpoint;
    if (untold[i + 1] && !saves_alone && (!compared || between[i] < kAboveOthers * usual_of_events)) continue;
    ++found.gaps;
    found.all_ns += between[i];
    if (between[i] <= found.longest_ns) continue;
    found.longest_ns = between[i];
    found.after = log.iterations[i].iteration;
  }
  return found.gaps > 0 ? std::optional(found) : std::nullopt;
}

}  // namespace dladvisor
