// SPDX-License-Identifier: Apache-2.0
// Whether a training is slower for long stretches of its log, and fast again after them: what a schedule of
// sizes does not explain. Of tokens per second alone a fall is enough. And whether its iterations take longer
// and longer from the first to the last.
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

struct PaceGrowth {
  double early_ns = 0, late_ns = 0;  // of an iteration, medians of the first and the last fifth of the lines
  double lost_ns = 0;                // of all iterations against those of the first fifth
};

// Of the same lines, where each fifth is slower than the one before, and the last takes twice as long as the
// first and more; nothing of logs with several starts.
std::optional<PaceGrowth> FindPaceGrowth(const std::vector<TrainingLogRow>& log);

}  // namespace dladvisor
