// SPDX-License-Identifier: Apache-2.0
// What lines beside those of the steps say of each GPU's rate ("Effective Tera Flops per GPU: 41.94 and total
// parameters 52.005 B"), and of updates that a loss scaler leaves out: DeepSpeed's "OVERFLOW! Rank 0 Skipping
// step. Attempted loss scale: 65536, reducing to 32768", Apex's "Gradient overflow.  Skipping step, loss
// scaler 0 reducing loss scale to 32768.0", fairseq's "gradient overflow detected, ignoring gradient".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class RateLinesReader {
 public:
  // `is_step` says whether the line is known as one of an iteration.
  void Line(std::string_view line, bool is_step);

  // To the iterations of a log whose own lines say neither.
  void AddTo(TrainingLog& log) const;

 private:
  void Skip(std::string_view line);
  void AddSkips(TrainingLog& log) const;

  struct SkippedStep {
    int64_t step_lines = 0;       // before it
    std::optional<int64_t> done;  // of the bar before it
  };
  std::vector<double> tflops_per_gpu_;
  std::vector<SkippedStep> skipped_;
  std::string last_skip_;  // what it says behind the rank
  int64_t step_lines_ = 0;
  std::optional<int64_t> done_;  // of the last bar
};

}  // namespace dladvisor::training_log
