// SPDX-License-Identifier: Apache-2.0
// The table that Lightning's simple profiler (Trainer(profiler="simple")) prints when a training ends: of
// each action how often it was done and what it took in all. Waiting for batches is one of them. The actions
// that launch the GPU's work end before that does, so that they tell nothing of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class LightningProfileReader {
 public:
  void Line(std::string_view line);
  // One row, which all steps share.
  TrainingLog Finish() const;

 private:
  struct Action {
    double calls = 0, seconds = 0;
  };
  // Of all actions whose name ends so.
  Action Of(std::string_view end) const;

  bool reads_ = false;  // that a training's table has begun, and no other report
  std::map<std::string, Action, std::less<>> actions_;
};

}  // namespace dladvisor::training_log
