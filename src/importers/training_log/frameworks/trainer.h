// SPDX-License-Identifier: Apache-2.0
// Lines of Hugging Face's Trainer and of what is built on it (LLaMA-Factory, ms-swift), and of other loops in
// one bar that names training or a loss (kohya, diffusers, verl): its progress bar, of
// which all processes write one each, the losses that it prints, evaluations, and the totals at the end. The
// bar prints whole seconds, so that a row here covers as many iterations as are needed for a meaningful time:
// fewer where a bar drawn often shows when a second begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class TrainerReader {
 public:
  // Whether a bar begins anew behind one that had counted.
  bool Line(std::string_view line);
  // A bar without a title counts where the log is `of_training`, by its losses or by what ended it, or where
  // lines name the epochs that it counts.
  TrainingLog Finish(bool of_training);
  // Of how many steps a bar shows none as the log ends.
  std::optional<int64_t> NotBegun() const { return not_begun_; }

 private:
  void Bar(std::string_view line);
  void TakeAnnouncement(std::string_view line);
  void CountEpoch(std::string_view line);
  void Record(std::string_view line);
  int64_t StepOf(std::string_view line) const;
  int64_t AtLast() const;
  bool GoesOn() const;
  std::set<int64_t> ExactSteps() const;

  TrainingLog log_;
  std::optional<int64_t> planned_, epochs_;
  std::optional<int64_t>
      planned_of_bars_;  // of the longest bar, where nothing else tells how many are planned
  int64_t longest_ = 0;
  bool bar_of_epochs_ = false;       // that one counts these, as around the bar "Iteration:"
  bool told_by_bars_ = false;        // that it is a training, by words of the bar itself
  bool announced_ = false;           // by a line before the bar
  bool by_script_ = false;           // that a script announces it, and not the Trainer
  bool diffuses_ = false;            // that the bar has the words of diffusers' scripts
  std::optional<int64_t> start_ns_;  // of the lines' own times
  // By the iteration after which they happened.
  std::map<int64_t, std::set<TrainingEventKind>> events_;
  std::map<int64_t, int64_t> seconds_;  // by iteration: since the start, of the first process that says so
  struct Loss {
    std::optional<double> loss, learning_rate, grad_norm, tokens_per_second,
        tokens;  // tokens since the start
    bool nan = false;
  };
  std::optional<double> TokensOfStep(std::map<int64_t, Loss>::const_iterator record) const;
  std::map<int64_t, Loss> losses_;
  int64_t last_ = 0;                  // iteration of the last bar
  int64_t last_done_ = 0;             // of the last bar without a title, whatever it counts
  bool begins_anew_ = false;          // that bar
  std::optional<int64_t> not_begun_;  // what it counts, where it stands at 0
  std::optional<double> epoch_;       // of the last record
  int64_t epochs_of_bar_ = 0, epoch_of_bar_ = -1;
};

}  // namespace dladvisor::training_log
