// SPDX-License-Identifier: Apache-2.0
// Logs of no known program: lines that repeat with a number of a step that grows, and values under names
// ("iter: 20  time: 0.76 (0.69)  data: 0.04", "Step 50/100000; lr: 1.0; 11270/8704 tok/s;  4 sec"). Names and
// units say what a value is. A time that may be of a step, of the steps since the last line or of the whole
// run counts where the log itself decides that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/steps/general_evaluations.h"
#include "src/importers/training_log/steps/general_meaning.h"
#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class GeneralLinesReader {
 public:
  // Whether the line, which has no colours, looks like one of a step.
  // `of_training`: it is known to be of one.
  bool Line(std::string_view line, bool of_training = false) {
    const bool step = ReadStep(line, of_training);
    // What follows another line may be of that.
    if (!step && std::exchange(alone_, false)) intervals_.pop_back();
    if (!step) ReadTimes(line);
    if (step) alone_ = false;
    after_step_ = step ? 0 : after_step_ + 1;
    last_line_ = line.substr(0, kStartOfLine);
    return step;
  }
  // That an evaluation follows the lines so far.
  void Evaluation() { events_.push_back({steps_.size(), TrainingEventKind::kEvaluation, {}}); }
  TrainingLog Finish();

 private:
  using Step = GeneralStep;
  using Epoch = GeneralEpoch;
  using Meaning = TimeMeaning;

  bool ReadStep(std::string_view line, bool of_training);
  void ReadTimes(std::string_view line);
  void TimeSeveral(std::string_view line);
  void TakeTotalsOfSteps();
  void TakeElapsed();
  void TakeIntervals();
  void TakeEpochs();
  TrainingLog EpochsAlone() const;
  std::optional<Step> Read(std::string_view line) const;

  std::vector<Step> steps_;
  std::vector<TrainingEvent> events_;    // before which of the steps
  size_t in_steps_ = 0;                  // of these, on a line of a step itself
  std::string last_line_;                // its start
  std::vector<Epoch> epochs_, elapsed_;  // of these the seconds since the start
  std::optional<double> timer_;          // of the line before, "Timer: 0.67"
  bool timer_leads_ = false;             // that the first step had one
  std::vector<Epoch> intervals_;         // between lines of steps, "0:04:19.419558" and nothing else
  bool alone_ = false;                   // that the last line is of these
  size_t after_step_ = 0;                // lines since the last of a step
  GeneralEvaluations evaluations_;
  std::optional<int64_t> last_clock_;  // of lines without a date, and what passed before its day
  int64_t days_ns_ = 0;
};

}  // namespace dladvisor::training_log
