// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/mlperf.h"

#include <re2/re2.h>

#include <string>
#include <utility>

namespace dladvisor::training_log {
namespace {

constexpr double kNsPerEventMs = 1e6, kMsPerSecond = 1e3;
// An event that is said to take four months is none.
constexpr double kMostMs = 1e10;
// Epochs that begin so soon behind one another are announced together, before the first of them runs.
constexpr double kAnnouncedWithinMs = 50;

}  // namespace

void MlperfReader::Line(std::string_view line) {
  const size_t mark = line.find(":::ML");
  if (mark == std::string_view::npos) return;
  line = line.substr(mark, 4096);
  static const RE2 stamp(R"re("time_(ms|s)": *(\d+(?:\.\d+)?))re"), name(R"re("key": *"(\w+)")re"),
      old(R"re(^:::MLL (\d+\.\d+) (\w+):)re"),
      oldest(R"re(^:::MLPv0\.5\.\d+ \S+ (\d+\.\d+) \([^)]*\) (\w+))re");
  double time = 0;
  std::string unit, key;
  if (RE2::PartialMatch(line, stamp, &unit, &time) && RE2::PartialMatch(line, name, &key))
    Event(key, unit == "s" ? time * kMsPerSecond : time);
  else if (RE2::PartialMatch(line, old, &time, &key))
    Event(key, time * kMsPerSecond);
  else if (RE2::PartialMatch(line, oldest, &time, &key))
    OldestEvent(key, time * kMsPerSecond);
}

// Of version 0.5, which says when an epoch begins, and not when it ends.
void MlperfReader::OldestEvent(std::string_view key, double ms) {
  const bool epoch = key == "train_epoch";
  if (epoch && epochs_.start_ms && ms >= announced_ms_ && ms - announced_ms_ < kAnnouncedWithinMs) {
    announced_ms_ = ms;
    ++epochs_.announced;
    return;
  }
  if (epoch) announced_ms_ = ms;
  if (epoch || key == "eval_start" || key == "run_stop") Event("epoch_stop", ms);
  if (epoch)
    Event("epoch_start", ms);
  else
    Event(key, ms);
}

void MlperfReader::Add(Intervals& intervals, double start, double end) {
  const int64_t announced = std::exchange(intervals.announced, 1);
  if (end <= start || end - start > kMostMs || start < intervals.last_end_ms) return;
  intervals.last_end_ms = end;
  TrainingIteration row;
  row.iteration = intervals.count += announced;
  row.covers = announced;
  row.elapsed_ns = (end - start) * kNsPerEventMs / static_cast<double>(announced);
  intervals.log.iterations.push_back(row);
}

void MlperfReader::Event(std::string_view key, double ms) {
  const auto interval = [&](Intervals& intervals, std::string_view name) {
    if (!key.starts_with(name)) return;
    const std::string_view rest = key.substr(name.size());
    if (rest == "_start" && !intervals.start_ms) intervals.start_ms = ms;
    if ((rest == "_stop" || rest == "_end") && intervals.start_ms)
      Add(intervals, *std::exchange(intervals.start_ms, {}), ms);
  };
  // A run that begins ends what another, which was killed, had begun.
  if (key == "run_start" || key == "init_start") {
    epochs_.start_ms.reset();
    blocks_.start_ms.reset();
    evaluation_ms_.reset();
  }
  interval(epochs_, "epoch");
  interval(blocks_, "block");
  if (key == "eval_start" && !evaluation_ms_) evaluation_ms_ = ms;
  if ((key == "eval_stop" || key == "eval_end") && evaluation_ms_) {
    const double start = *std::exchange(evaluation_ms_, {});
    if (ms > start && ms - start < kMostMs && start >= last_evaluation_ms_) {
      last_evaluation_ms_ = ms;
      ++evaluations_;
      evaluation_ns_ += (ms - start) * kNsPerEventMs;
    }
  }
  if (key == "run_start") run_ms_ = ms;
  if ((key == "run_stop" || key == "run_end") && run_ms_ && !runtime_ns_ && ms > *run_ms_ &&
      ms - *run_ms_ < kMostMs)
    runtime_ns_ = (ms - *run_ms_) * kNsPerEventMs;
}

TrainingLog MlperfReader::Finish() {
  Intervals& intervals = epochs_.count >= blocks_.count ? epochs_ : blocks_;
  TrainingLog log = std::move(intervals.log);
  if (log.iterations.size() < 2) return {};
  log.program = "MLPerf";
  log.of_epochs = true;
  log.evaluations = evaluations_;
  log.evaluation_ns = evaluation_ns_;
  log.runtime_ns = runtime_ns_;
  return log;
}

}  // namespace dladvisor::training_log
