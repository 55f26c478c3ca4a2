// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/step_evaluations.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {

namespace {

// Of whole seconds the clock of a bar is exact enough from here on.
constexpr double kLeastOfClock = 5;

// "Validation", "[Eval] Best Model at Epoch 3", "Epoch 1/400 val": of words for training and for evaluation
// the last one counts.
bool OfEvaluation(std::string_view title) {
  static const RE2 words(
      R"((?i)(?:^|[^a-z])(?:(train)\w*|val|valid\w*|eval\w*|test|testing|mAP\d*)(?:[^a-z]|$))");
  re2::StringPiece rest(title.data(), title.size());
  std::string training;
  bool any = false;
  while (RE2::FindAndConsume(&rest, words, &training)) any = true;
  return any && training.empty();
}

}  // namespace

// "Validation: 100%|####| 56/56 [00:00<00:00, 62.8it/s]", and YOLO's, which names its measures: "mAP50-95):
// 100% ━━━━ 4/4 1.1it/s 3.7s".
std::optional<EvaluationBar> FullEvaluationBar(std::string_view line) {
  static const RE2 bar(R"(([^|%]*): +100%\|[^|]*\| *\d+/(\d+) \[([\d:]+)<[\d:]+, *([\d.]+) *(it/s|s/it))"),
      drawn(R"((\bmAP[^|]{0,40}): +100% ━+ *\d+/(\d+) +()([\d.]+)(it/s|s/it))");
  EvaluationBar found;
  std::string clock, unit;
  int64_t steps = 0;
  double rate = 0;
  if (line.find("100%") == std::string_view::npos ||
      (!RE2::PartialMatch(line, bar, &found.title, &steps, &clock, &rate, &unit) &&
       !RE2::PartialMatch(line, drawn, &found.title, &steps, &clock, &rate, &unit)) ||
      !(rate > 0) || !OfEvaluation(found.title))
    return std::nullopt;
  const double seconds = clock.empty() ? 0 : SecondsOfClock(clock).value_or(0);
  found.ns = kNsPerSecond * (seconds >= kLeastOfClock ? seconds
                             : unit == "it/s"         ? static_cast<double>(steps) / rate
                                                      : static_cast<double>(steps) * rate);
  return found;
}

// Between two of training. A bar is drawn again as it is closed.
void StepEvaluations::Bar(std::string_view line, TrainingLog& log) {
  auto bar = FullEvaluationBar(line);
  if (!bar || (rows_ == log.iterations.size() && bar->title == title_)) return;
  rows_ = log.iterations.size();
  title_ = std::move(bar->title);
  ++log.evaluations;
  log.evaluation_ns += bar->ns;
}

// "Test: [30/242]  Time 0.604 (0.59)", and MMEngine's: the mean of its steps times their count; the last of
// its lines says it best. The first batches wait for the loader to start: they alone say nothing of the
// others.
void StepEvaluations::Line(std::string_view line, TrainingLog& log) {
  static const RE2 words(
      R"((?:^|[\s\]])(?:Test|Val\w*|Eval\w*): *\[ *(\d+)/(\d+)\].*?\bTime *[\d.]+ *\( *([\d.]+)\))");
  // "Epoch(val) [3][2036/2036]    mIoU: 0.61  data_time: 0.008  time: 0.107"
  static const RE2 mmengine(
      R"(\b(?:Epoch|Iter)\(val\) *(?:\[\d+\] ?)?\[ *(\d+)/(\d+)\].*[ \t\d]time: *([\d.]+))");
  int64_t step = 0, steps = 0;
  double mean = 0;
  const bool words_of_others =
      line.find("Time") != std::string_view::npos && RE2::PartialMatch(line, words, &step, &steps, &mean);
  if ((!words_of_others && (line.find("(val) ") == std::string_view::npos ||
                            !RE2::PartialMatch(line, mmengine, &step, &steps, &mean))) ||
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

void StepEvaluations::LeaveOutTest(TrainingLog& log) const {
  if (log.evaluations != 1 || rows_ != log.iterations.size() || title_.empty()) return;
  log.evaluations = 0;
  log.evaluation_ns = 0;
}

}  // namespace dladvisor::training_log
