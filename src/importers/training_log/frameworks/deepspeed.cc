// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/deepspeed.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr double kNsPerTimerMs = 1e6;
constexpr size_t kLeastLinesOfTimers = 2;

}  // namespace

TrainingIteration& DeepSpeedReader::Row(int64_t step, std::string_view line) {
  if (log_.iterations.empty() || log_.iterations.back().iteration != step) {
    TrainingIteration row;
    row.iteration = step;
    row.time_ns = LastTime(line.substr(0, 64));
    if (!log_.iterations.empty()) {
      const TrainingIteration& last = log_.iterations.back();
      row.attempt = last.attempt + (step < last.iteration);
      if (step > last.iteration) row.covers = step - last.iteration;
    }
    log_.iterations.push_back(row);
  }
  return log_.iterations.back();
}

void DeepSpeedReader::Line(std::string_view line) {
  static const RE2 pipeline(R"(steps: (\d+) loss: *(\S+) iter time \(s\): *(\S+) samples/sec: *(\S+))"),
      scheduler(R"(\bstep=(\d+), skipped=(\d+), lr=\[([^,\]]*))"),
      throughput(R"(global_step=(\d+),.*?CurrSamplesPerSec=([^,\s]+))");
  constexpr int64_t kMostSteps = int64_t{1} << 40;  // what no training counts
  int64_t step = 0, skipped = 0;
  std::string first, second, third;
  if (line.find("iter time (s):") != std::string_view::npos) {
    if (!RE2::PartialMatch(line, pipeline, &step, &first, &second, &third) || step >= kMostSteps) return;
    TrainingIteration& row = Row(step, line);
    row.loss = Number(first);
    if (const auto seconds = Number(second); seconds && *seconds > 0)
      row.elapsed_ns = *seconds * kNsPerSecond;
    row.samples_per_second = Number(third);
  } else if (line.find(" skipped=") != std::string_view::npos) {
    if (!RE2::PartialMatch(line, scheduler, &step, &skipped, &first) || step >= kMostSteps) return;
    TrainingIteration& row = Row(step, line);
    row.learning_rate = Number(first);
    if (!row.skipped)
      row.skipped = std::max<int64_t>(0, skipped - (row.attempt == 0 ? skipped_.value_or(0) : 0));
    skipped_ = skipped;
  } else if (line.find("CurrSamplesPerSec=") != std::string_view::npos) {
    if (!RE2::PartialMatch(line, throughput, &step, &first) || step >= kMostSteps) return;
    Row(step, line).samples_per_second = Number(first);
  } else if (line.find("pytorch allocator cache flushes since last step") != std::string_view::npos) {
    ++log_.flushed_iterations;
  } else if (line.find("time (ms) |") != std::string_view::npos) {
    Parts(line);
  }
}

// "time (ms) | forward_microstep: 193.65 | backward_microstep: 329.25 | ... | step_microstep: 0.92" of a
// micro-batch ("fwd", "bwd" since 2023), "time (ms) | forward: 27.41 | backward: 73.44 | ... | step: 72.82"
// of an iteration.
void DeepSpeedReader::Parts(std::string_view line) {
  TrainingIteration row;
  std::vector<TrainingTimer> timers;
  bool micro = false;
  int passes = 0;
  double sum = 0;
  ForEachPair(line.substr(line.find('|') + 1), [&](std::string_view name, std::string_view value) {
    const auto ms = Number(value);
    if (!ms || *ms < 0) return;
    const bool of_micro = name.ends_with("_microstep");
    if (of_micro) name.remove_suffix(std::string_view("_microstep").size());
    micro = micro || of_micro;
    if (name == "forward" || name == "fwd" || name == "backward" || name == "bwd" || name == "step") {
      sum += *ms;
      ++passes;
    }
    timers.push_back({0, std::string(name), {}, *ms * kNsPerTimerMs, {}, {}});
  });
  if (passes != 3 || !(sum > 0)) return;
  TrainingLog& log = micro ? micro_ : whole_;
  row.iteration = static_cast<int64_t>(log.iterations.size()) + 1;
  row.covers = 1;
  row.elapsed_ns = sum * kNsPerTimerMs;
  row.time_ns = LastTime(line.substr(0, 64));
  for (TrainingTimer& timer : timers) {
    timer.row = log.iterations.size();
    log.timers.push_back(std::move(timer));
  }
  log.iterations.push_back(row);
}

// What the parts of steps take says more than the pace of lines that have no time of a step.
TrainingLog DeepSpeedReader::Finish() {
  bool timed = false;
  double samples = 0, paced = 0;
  for (const TrainingIteration& row : log_.iterations) {
    timed = timed || row.elapsed_ns;
    samples += row.samples_per_second.value_or(0);
    paced += row.samples_per_second ? 1 : 0;
  }
  if (!timed)
    for (TrainingLog* parts : {&whole_, &micro_}) {
      if (parts->iterations.size() < kLeastLinesOfTimers) continue;
      parts->program = "DeepSpeed";
      parts->flushed_iterations = log_.flushed_iterations;
      if (paced > 0) parts->samples_per_second = samples / paced;
      return std::move(*parts);
    }
  if (timed || paced > 0) log_.program = "DeepSpeed";
  return std::move(log_);
}

}  // namespace dladvisor::training_log
