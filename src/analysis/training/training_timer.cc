// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_timer.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/training/training_log.h"

namespace dladvisor {
namespace {

// As Megatron-LM abbreviates them.
constexpr std::array<std::pair<std::string_view, const char*>, 7> kMetrics = {{
    {"Rtt", "round_trip"},
    {"Pwr", "power"},
    {"Tmp", "temperature"},
    {"Utl", "utilization"},
    {"Clk", "clock"},
    {"DRtt", "batch_latency"},
    {"Etpt", "throughput"},
}};

}  // namespace

const RelationOf<TrainingTimerRow>& TrainingTimerRelation() {
  static const auto relation =
      RelationOf<TrainingTimerRow>("training_timer", "Timers of a training's log, by line of iterations.")
          .Key("profile", &TrainingTimerRow::profile, kProfileNumber, "Number of the file.")
          .Key("attempt", &TrainingTimerRow::attempt, Unit::kNone, "As in training_log.")
          .Key("iteration", &TrainingTimerRow::iteration, Unit::kNone, "As in training_log.")
          .Key("timer", &TrainingTimerRow::timer, Unit::kText,
               "Name as printed. Timers may hold others: batch-generator is within forward-compute.")
          .Column("kind", &TrainingTimerRow::kind, Unit::kText,
                  "input, communication, optimizer, compute; all for what holds the others.")
          .Column("ns", &TrainingTimerRow::ns, Unit::kNanoseconds,
                  "Time of one iteration on the rank that prints, mostly the last; unknown where only the "
                  "range over ranks is printed.")
          .Column("min_ns", &TrainingTimerRow::min_ns, Unit::kNanoseconds,
                  "Least of all ranks; unknown where one rank prints.")
          .Column("max_ns", &TrainingTimerRow::max_ns, Unit::kNanoseconds, "Most of all ranks.")
          .Column("max_rank", &TrainingTimerRow::max_rank, Unit::kNone,
                  "Rank of the most; unknown where the log does not name ranks.")
          .Column("share", &TrainingTimerRow::share, Unit::kRatio,
                  "Of the iteration: the printed time, else the most.");
  return relation;
}

std::vector<TrainingTimerRow> ComputeTrainingTimers(const Context& context) {
  const TrainingLog& log = context.trace.training_log;
  std::map<std::pair<size_t, std::string>, TrainingTimerRow> rows;
  for (const TrainingTimer& timer : log.timers) {
    TrainingTimerRow& row = rows[{timer.row, timer.name}];
    const TrainingIteration& line = log.iterations[timer.row];
    row.attempt = line.attempt;
    row.iteration = line.iteration;
    row.timer = timer.name;
    row.kind = TimerKind(timer.name);
    if (timer.rank && timer.ns) {
      if (!row.min_ns || *timer.ns < *row.min_ns) row.min_ns = timer.ns;
      if (!row.max_ns || *timer.ns > *row.max_ns) {
        row.max_ns = timer.ns;
        row.max_rank = timer.rank;
      }
    } else {
      row.ns = timer.ns;
      row.min_ns = timer.min_ns;
      row.max_ns = timer.max_ns;
    }
    const auto time = row.ns ? row.ns : row.max_ns;
    if (time && line.elapsed_ns) row.share = *time / *line.elapsed_ns;
  }
  std::vector<TrainingTimerRow> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

const RelationOf<TrainingExtremeRow>& TrainingExtremeRelation() {
  static const auto relation =
      RelationOf<TrainingExtremeRow>("training_extreme",
                                     "Ranks where a metric is least and most, as Megatron-LM's straggler "
                                     "detector prints them by line of iterations, or as lines of each "
                                     "rank tell them.")
          .Key("profile", &TrainingExtremeRow::profile, kProfileNumber, "Number of the file.")
          .Key("attempt", &TrainingExtremeRow::attempt, Unit::kNone, "As in training_log.")
          .Key("iteration", &TrainingExtremeRow::iteration, Unit::kNone, "As in training_log.")
          .Key("metric", &TrainingExtremeRow::metric, Unit::kText,
               "round_trip (time of the traced operations of an iteration), batch_latency (of getting a "
               "batch), throughput (estimated), power, temperature, utilization, clock.")
          .Column("unit", &TrainingExtremeRow::unit, Unit::kText, "As printed.")
          .Column("min", &TrainingExtremeRow::min, Unit::kNone, "Least of all ranks.")
          .Column("max", &TrainingExtremeRow::max, Unit::kNone, "Most of all ranks.")
          .Column("min_rank", &TrainingExtremeRow::min_rank, Unit::kNone, "Rank of the least.")
          .Column("max_rank", &TrainingExtremeRow::max_rank, Unit::kNone, "Rank of the most.");
  return relation;
}

std::vector<TrainingExtremeRow> ComputeTrainingExtremes(const Context& context) {
  const TrainingLog& log = context.trace.training_log;
  std::map<std::pair<size_t, std::string>, TrainingExtremeRow> rows;
  for (const TrainingExtreme& extreme : log.extremes) {
    const auto known = std::ranges::find(kMetrics, extreme.metric, [](const auto& m) { return m.first; });
    if (known == kMetrics.end()) continue;
    const TrainingIteration& line = log.iterations[extreme.row];
    rows[{extreme.row, known->second}] = {
        0,           line.attempt, line.iteration,   known->second,   extreme.unit,
        extreme.min, extreme.max,  extreme.min_rank, extreme.max_rank};
  }
  std::vector<TrainingExtremeRow> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

const Family& TrainingTimerFamily() {
  static const Family family = FamilyOf(TrainingTimerRelation(), ComputeTrainingTimers);
  return family;
}

const Family& TrainingExtremeFamily() {
  static const Family family = FamilyOf(TrainingExtremeRelation(), ComputeTrainingExtremes);
  return family;
}

}  // namespace dladvisor
