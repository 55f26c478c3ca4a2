// SPDX-License-Identifier: Apache-2.0
// Logs that print a line (or a block of them) for a step, with its number and its time, speed or share of
// waiting for data: nanoGPT and what is built on it, torchtitan, NeMo, Composer, OLMo, verl, fairseq,
// PyTorch's examples, torchvision, timm, MMEngine, Detectron2, Keras. Their lines differ in names alone, so
// that a table says which ones are what. A text may hold lines of several programs, or code that looks like
// one's: each is read by itself, and the one that says most counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/training_log/steps/step_evaluations.h"
#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

struct Form;  // the names of one program

// The lines of one program.
class ProgramLinesReader {
 public:
  explicit ProgramLinesReader(std::string_view program);
  // Whether the line, which has no colours, reports a step. `before` is the start of the one before it,
  // `number` counts the lines.
  bool Line(std::string_view line, std::string_view before, int64_t number);
  TrainingLog Finish();

 private:
  // Sums of what a line prints as a mean since the epoch began, and those of the epoch's first line.
  struct Running {
    double time = 0, input = 0, first_time = 0, first_input = 0;
    int64_t steps = 0, first_steps = 0, epoch = -1;

    void Take(double mean_time, double mean_input, int64_t step, int64_t of_epoch) {
      const bool begins = epoch != of_epoch || step <= steps;
      const auto count = static_cast<double>(step);
      const Running before = *this;
      *this = {mean_time * count, mean_input * count, 0, 0, step, step, of_epoch};
      first_time = begins ? time : before.first_time;
      first_input = begins ? input : before.first_input;
      first_steps = begins ? step : before.first_steps;
    }
  };

  bool Head(const Form& form, std::string_view line);
  bool HasField(std::string_view line) const;
  void Fields(std::string_view text);
  void Field(int kind, double value);
  std::optional<double> SinceLast(std::optional<double> mean, double sum, double first) const;
  bool TimeAfterEpoch(std::string_view line);
  void LoadingAfterEpoch(std::string_view line);
  bool IsOfNewEpoch(const TrainingIteration& row);
  void EndStep();

  std::string_view program_, before_;
  int64_t number_ = 0;   // of the line
  int64_t samples_ = 0;  // of an epoch, where bars count these
  bool by_hand_;         // that its lines are in no program's words
  std::vector<const Form*> forms_;
  bool has_bars_ = false;
  TrainingLog log_;
  StepEvaluations evaluations_;
  const Form* form_ = nullptr;  // of the last line that was known
  std::optional<TrainingIteration> row_;
  // Of the line: since the start, or of the epoch until now.
  std::optional<double> input_, total_, mean_time_, mean_input_, last_total_;
  bool whole_total_ = false;  // that totals are whole seconds
  std::optional<int64_t> bytes_, reserved_;
  std::vector<std::pair<std::string, double>> timers_;  // name and ns
  int64_t epoch_ = 0, step_ = 0, all_ = 0;              // of the line, in the epoch; steps of the epoch
  int64_t last_epoch_ = 0;
  std::optional<int64_t> first_epoch_, first_step_;
  bool told_epoch_ = false, new_bar_ = false;  // by a line; that one was partly full since the last full one
  int64_t bar_epoch_ = 0, full_bar_epoch_ = -1;  // of the lines "Epoch 1/10", and of the last full bar
  std::optional<int64_t> last_time_ns_, last_iteration_;  // of the last line, whether it became a row or not
  std::optional<double> tokens_, last_tokens_;            // since the start
  Running running_;
  bool printed_epochs_ = false;  // whether a line of an epoch has its time
  // Of an epoch of which the line says its number alone: itself, what it says of loading, lines with a loss.
  std::optional<TrainingIteration> bare_;
  std::optional<double> loading_;
  std::optional<double> waited_;  // before the iteration whose line comes, in no time of its own
  int64_t losses_ = 0;
};

class StepLinesReader {
 public:
  StepLinesReader();
  // Whether the line, the so many-th, reports a step.
  bool Line(std::string_view line, int64_t number);
  TrainingLog Finish();

 private:
  std::vector<ProgramLinesReader> programs_;
  std::string last_line_;  // its start
};

}  // namespace dladvisor::training_log
