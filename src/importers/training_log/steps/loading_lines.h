// SPDX-License-Identifier: Apache-2.0
// Lines that print what a step takes and what of it goes to waiting for data, of a training whose steps are
// known by a progress bar: "(epoch: 2, iters: 20, time: 1.283, data: 0.043)" of CycleGAN and what is built on
// it, "time: 0.52  data_time: 0.01", "batch_time=0.52, data_time=0.01" of a bar itself.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class LoadingLinesReader {
 public:
  void Line(std::string_view line, int64_t number);
  // As timers, where the log has none: of each row, whose line is known, the mean of the lines since the row
  // before.
  void AddTo(TrainingLog& log) const;

 private:
  struct Wait {
    int64_t line = 0;
    double seconds = 0;
  };
  std::vector<Wait> waits_;
};

}  // namespace dladvisor::training_log
