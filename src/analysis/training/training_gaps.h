// SPDX-License-Identifier: Apache-2.0
// Time of a training's log that is of no iteration, by the dates of its lines and the times that they print:
// hours in which the program stood, or was down until another job went on.
#pragma once

#include <cstdint>
#include <optional>

#include "src/trace/training_progress.h"

namespace dladvisor {

struct TrainingGaps {
  int64_t gaps = 0;
  double all_ns = 0, longest_ns = 0;
  int64_t after = 0;  // iteration after which the longest one begins
};

// Nothing where none is far longer than evaluations and checkpoints between lines mostly take.
std::optional<TrainingGaps> FindGaps(const TrainingLog& log);

}  // namespace dladvisor
