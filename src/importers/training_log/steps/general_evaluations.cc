// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/general_evaluations.h"

#include <re2/re2.h>

#include <utility>

#include "src/importers/training_log/lines/line_values.h"
#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/epoch_times.h"
#include "src/importers/training_log/steps/step_evaluations.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestEvaluationHeading = 64;
// Longer is something else: the program was stopped and started again.
constexpr int64_t kLongestEvaluation = int64_t{86'400} * 1'000'000'000;

}  // namespace

// "begin validation on ..." until the line of its result, or of what follows.
void GeneralEvaluations::Line(std::string_view line) {
  if (line.find("begin validation") != std::string_view::npos) {
    since_ = LastTime(line);
    return;
  }
  const auto since = std::exchange(since_, {}), until = since ? LastTime(line) : std::nullopt;
  if (!until || *until < *since || *until - *since > kLongestEvaluation) return;
  ++count_;
  ns_ += static_cast<double>(*until - *since);
}

// "Test on Epoch 1", and then a bar without a title that becomes full: it took what its clock says.
bool GeneralEvaluations::Bar(std::string_view line, size_t steps, bool known) {
  static const RE2 heading(
      R"re((?i)^\W*(?:(?:start|begin|run)\w* )?(?:test|testing|valid\w*|eval\w*)\b[^=\d%]{0,24}(?:\d{1,6}\W*)?$)re"),
      bar(R"re(^\s*100%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(\d[\d:]{3,11})<)re");
  if (line.find("%|") == std::string_view::npos) {
    if (line.size() < kLongestEvaluationHeading) headed_ = steps > 0 && RE2::PartialMatch(line, heading);
    return false;
  }
  if (auto titled = steps == 0 ? std::nullopt : FullEvaluationBar(line)) {
    const bool again = titled_at_ == steps && titled->title == title_;
    if (!again) ns_ += titled->ns;
    titled_at_ = steps;
    title_ = std::move(titled->title);
    const bool is_new = !again && !known;
    count_ += is_new;
    return is_new;
  }
  int64_t done = 0, all = 0;
  std::string clock;
  if (!headed_ || !RE2::PartialMatch(line, bar, &done, &all, &clock) || done != all) return false;
  headed_ = false;
  ns_ += SecondsOfClock(clock).value_or(0) * kNsPerSecond;
  count_ += !known;
  return !known;
}

void GeneralEvaluations::Report(size_t steps, TrainingLog& log) const {
  if (count_ <= 1 && titled_at_ == steps) return;
  log.evaluations = count_;
  log.evaluation_ns = ns_;
}

}  // namespace dladvisor::training_log
