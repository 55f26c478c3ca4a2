// SPDX-License-Identifier: Apache-2.0
// Progress bars of which each is an epoch ("Epoch 1/60:  1%|#  | 5/445 [00:05<07:08,  1.03it/s, L=4.1]"),
// written many times while it goes on. Their clocks have whole seconds: a row covers as many steps as are
// needed for a time that is known well. A program writes bars for its evaluation as well, mostly without a
// word of it: of an epoch the first bar is the training's. Where Lightning's callbacks say at which step each
// epoch ends, a single bar that has as many steps is known as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/importers/training_log/steps/step_evaluations.h"
#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class EpochBarsReader {
 public:
  void Line(std::string_view line, int64_t number);
  TrainingLog Finish();

 private:
  // One state of a bar.
  struct Bar {
    int64_t epoch = 0, done = 0, total = 0, seconds = 0;
    double each_s = 0;  // by its rate, in seconds; 0 where it tells none
  };

  void Heading(std::string_view line);
  void LightningEpoch(std::string_view line);
  TrainingLog FinishLightning() const;
  void Take(const Bar& bar, bool named);
  void Add(int64_t done, int64_t seconds, double each_s = 0);

  // "Epoch 14, global step 5280": steps until the epoch's end.
  struct Epoch {
    int64_t number = 0, steps = 0;
  };

  TrainingLog log_;
  int64_t number_ = 0;  // of the line
  StepEvaluations evaluations_;
  std::vector<Epoch> epochs_;       // of Lightning
  std::optional<int64_t> heading_;  // the epoch that the last line without a bar names
  bool heads_ = false;              // that line, as no bar was seen since
  bool trains_ = false;             // the bar that goes on
  Bar seen_;                        // the last, whatever it counts
  std::optional<int64_t> epoch_;
  int64_t total_ = 0, before_ = 0;            // steps of the epoch, and of those before
  int64_t done_ = 0, seconds_ = 0;            // of the last row
  int64_t last_done_ = 0, last_seconds_ = 0;  // of the last bar
  double last_each_s_ = 0;
};

}  // namespace dladvisor::training_log
