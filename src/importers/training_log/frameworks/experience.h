// SPDX-License-Identifier: Apache-2.0
// Lines of reinforcement learning that count steps of environments in a second: CleanRL's "SPS: 3301",
// pytorch-a2c-ppo-acktr's "Updates 10, num timesteps 7040, FPS 1853", torch-ac's "U 3 | F 006144 | FPS 3120 |
// D 2" and rl_games' "fps step: 91234 fps step and policy inference: 80123 fps total: 52311 epoch: 3/1500
// frames: 196608". An update takes as long as its steps at the printed rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class ExperienceReader {
 public:
  // Whether the line reports an update.
  bool Line(std::string_view line);
  TrainingLog Finish();

 private:
  // `steps`: of the environments since the start, 0 where they are not printed.
  void Take(const char* program, int64_t update, int64_t steps, double rate,
            std::optional<double> collecting_rate = {});

  TrainingLog log_;
  int64_t steps_ = 0;  // of the line before
};

}  // namespace dladvisor::training_log
