// SPDX-License-Identifier: Apache-2.0
// Whether a training is slower for long stretches of its log, and fast again after them: what a schedule of
// sizes does not explain. Of tokens per second alone a fall is enough.
#pragma once

#include <optional>
#include <vector>

#include "src/analysis/training/training_log.h"

namespace dladvisor {

struct PaceShifts {
  double fast_ns = 0, slow_ns = 0;  // of an iteration, medians of the fastest and the slowest stretch
  double lost_ns = 0;               // of all slow stretches against the fastest
  double lost_share = 0;            // of the time of all stretches
  bool of_tokens = false;           // that the times are of a token, as lines have no other
};

// Of the lines after warm-up whose batch is the most common one; nothing where no stretch is slow between
// others, or where lines are too few.
std::optional<PaceShifts> FindPaceShifts(const std::vector<TrainingLogRow>& log);

}  // namespace dladvisor
