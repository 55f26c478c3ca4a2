// SPDX-License-Identifier: Apache-2.0
// Lines that say at what time of the day an epoch was done, "EPOCH 3 COMPLETED @ 10:07 PM": epochs take what
// lies between them. Minutes are rounded, so that a row here covers as many epochs as are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class EpochClockReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  void LineWithClock(std::string_view line);
  // That a line of the epoch says the seconds of the day, in units of so many.
  void Take(int64_t epoch, int64_t of_day, int64_t unit);

  TrainingLog log_;
  std::optional<int64_t> epoch_;             // of the last line
  int64_t of_day_ = 0, seconds_ = 0;         // its time; since the first line of the training
  int64_t row_epoch_ = 0, row_seconds_ = 0;  // where the last row ends
  int64_t attempt_ = 0;
};

}  // namespace dladvisor::training_log
