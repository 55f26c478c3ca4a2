// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/step_evaluations.h"

#include <re2/re2.h>

#include <string>

#include "src/importers/training_log/log_line.h"

namespace dladvisor::training_log {

// "Validation: 100%|####| 56/56 [00:00<00:00, 62.8it/s]" between two of training, and YOLO's, which names its
// measures: "mAP50-95): 100% ━━━━ 4/4 1.1it/s 3.7s".
void StepEvaluations::Bar(std::string_view line, TrainingLog& log) {
  static const RE2 bar(
      R"((?i)(?:\b(?:val|valid\w*|eval\w*)\b[^|/\d]*|\bmAP[^|]{0,40}): +100%\|[^|]*\| *\d+/(\d+) \[[\d:]+<[\d:]+, *([\d.]+) *(it/s|s/it))"),
      drawn(R"(\bmAP[^|]{0,40}: +100% ━+ *\d+/(\d+) +([\d.]+)(it/s|s/it))");
  int64_t steps = 0;
  double rate = 0;
  std::string unit;
  if (rows_ == log.iterations.size() || line.find("100%") == std::string_view::npos ||
      (!RE2::PartialMatch(line, bar, &steps, &rate, &unit) &&
       !RE2::PartialMatch(line, drawn, &steps, &rate, &unit)) ||
      !(rate > 0))
    return;
  rows_ = log.iterations.size();
  ++log.evaluations;
  log.evaluation_ns += static_cast<double>(steps) * kNsPerSecond * (unit == "it/s" ? 1 / rate : rate);
}

// "Test: [30/242]  Time 0.604 (0.59)": the mean of its steps times their count; the last of its lines says it
// best. The first batches wait for the loader to start: they alone say nothing of the others.
void StepEvaluations::Line(std::string_view line, TrainingLog& log) {
  static const RE2 words(
      R"((?:^|[\s\]])(?:Test|Val\w*|Eval\w*): *\[ *(\d+)/(\d+)\].*?\bTime *[\d.]+ *\( *([\d.]+)\))");
  int64_t step = 0, steps = 0;
  double mean = 0;
  if (line.find("Time") == std::string_view::npos || !RE2::PartialMatch(line, words, &step, &steps, &mean) ||
      !(mean > 0) || steps > 1'000'000'000 || 2 * (step + 1) < steps)
    return;
  if (rows_ != log.iterations.size()) ++log.evaluations;
  if (rows_ == log.iterations.size()) log.evaluation_ns -= ns_;
  rows_ = log.iterations.size();
  ns_ = static_cast<double>(steps) * mean * kNsPerSecond;
  log.evaluation_ns += ns_;
}

// Detectron2's "Total inference time: 0:02:16.655341 (0.041050 s / iter per device, on 6 devices)".
void StepEvaluations::Total(std::string_view line, TrainingLog& log) {
  static const RE2 total(R"(\bTotal inference time: (\d{1,5}:\d\d:\d\d)\b)");
  std::string clock;
  if (line.find("Total inference time: ") == std::string_view::npos ||
      !RE2::PartialMatch(line, total, &clock))
    return;
  ++log.evaluations;
  log.evaluation_ns += SecondsOfClock(clock).value_or(0) * kNsPerSecond;
}

}  // namespace dladvisor::training_log
