// SPDX-License-Identifier: Apache-2.0
// Lines of DeepSpeed itself, for programs that print none of their own: steps of its pipeline engine
// ("steps: 10 loss: 2.3 iter time (s): 1.2 samples/sec: 800"), its scheduler ("step=10, skipped=0, lr=[...]")
// and its throughput timer ("global_step=10, ... CurrSamplesPerSec=73.4"); where a log has none of these, the
// timers of wall_clock_breakdown.
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class DeepSpeedReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  // The row of this step: the last one, or a new one.
  TrainingIteration& Row(int64_t step, std::string_view line);

  void Parts(std::string_view line);

  TrainingLog log_;
  TrainingLog whole_, micro_;       // of timers alone, of iterations and of micro-batches
  std::optional<int64_t> skipped_;  // since the start, as last printed
};

}  // namespace dladvisor::training_log
