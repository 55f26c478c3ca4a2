// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_gaps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

// Of a stall: what it is above others, and iterations that it takes at least.
constexpr double kAboveUsual = 10, kLeastIterations = 2;
// Between most lines the iterations take all but this share of the time.
constexpr double kMostUntimed = 0.1, kMostLinesAlike = 0.8;
constexpr size_t kLeastTimedLines = 20;

}  // namespace

std::optional<TrainingStalls> FindStalls(const TrainingLog& log) {
  std::vector<char> saves(log.iterations.size() + 1, 0), evaluates(saves), ends(saves);
  for (const TrainingEvent& event : log.events) {
    if (event.before >= saves.size()) continue;
    if (event.kind == TrainingEventKind::kCheckpoint) saves[event.before] = 1;
    if (event.kind == TrainingEventKind::kEvaluation) evaluates[event.before] = 1;
    if (event.kind == TrainingEventKind::kEpochEnd) ends[event.before] = 1;
  }
  struct Rest {
    size_t row;
    double ns, each_ns;
  };
  std::vector<Rest> rests;
  std::vector<double> distances;
  size_t alike = 0;
  for (size_t i = 1; i < log.iterations.size(); ++i) {
    const TrainingIteration &line = log.iterations[i], &before = log.iterations[i - 1];
    if (line.attempt != before.attempt || !line.time_ns || !before.time_ns || !line.covers ||
        !line.elapsed_ns || *line.time_ns <= *before.time_ns ||
        line.iteration - before.iteration != *line.covers)
      continue;
    const auto between = static_cast<double>(*line.time_ns - *before.time_ns);
    const double rest = between - *line.elapsed_ns * static_cast<double>(*line.covers);
    rests.push_back({i, rest, *line.elapsed_ns});
    distances.push_back(std::abs(rest));
    alike += std::abs(rest) <= kMostUntimed * between;
  }
  if (rests.size() < kLeastTimedLines ||
      static_cast<double>(alike) < kMostLinesAlike * static_cast<double>(rests.size()))
    return std::nullopt;
  const double usual = Median(distances);
  TrainingStalls found;
  for (const Rest& rest : rests) {
    if (rest.ns < std::max({kNothing, kAboveUsual * usual, kLeastIterations * rest.each_ns}) ||
        rest.ns >= kLeastGap)
      continue;
    if ((evaluates[rest.row] != 0 && log.evaluations > 0) ||
        (ends[rest.row] != 0 && !log.between_epochs_ns.empty()))
      continue;
    ++found.stalls;
    found.with_checkpoint += saves[rest.row];
    found.with_evaluation += evaluates[rest.row];
    found.all_ns += rest.ns;
    if (rest.ns <= found.longest_ns) continue;
    found.longest_ns = rest.ns;
    found.after = log.iterations[rest.row - 1].iteration;
  }
  return found.stalls > 0 ? std::optional(found) : std::nullopt;
}

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
