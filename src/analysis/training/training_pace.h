// SPDX-License-Identifier: Apache-2.0
// Whether a training is slower or faster for long stretches of its log, and as before after them: what a
// schedule of sizes does not explain. Of tokens per second alone a fall is enough. And whether its iterations
// take longer and longer from the first to the last, or a little longer from one of them on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/training/training_log.h"

namespace dladvisor {

// Lines in a row of another pace than the others.
struct OddStretch {
  int64_t first = 0, last = 0;      // iterations of the longest
  size_t lines = 0, all_lines = 0;  // in it; of its pace in the whole log
  size_t other_lines = 0;           // of another pace
  double ns = 0, others_ns = 0;     // of an iteration, medians of these rows of lines and of the others
};

struct PaceShifts {
  double fast_ns = 0, slow_ns = 0;  // of an iteration, medians of the fastest and the slowest stretch
  double lost_ns = 0;               // of all slow stretches against the fastest
  double lost_share = 0;            // of the time of all stretches
  bool of_tokens = false;           // that the times are of a token, as lines have no other
  std::optional<OddStretch> odd;    // where one is half as fast again as what is around it, or as slow
};

// Of the lines after warm-up whose batch is the most common one; nothing where no stretch is slow between
// others, or where lines are too few.
std::optional<PaceShifts> FindPaceShifts(const std::vector<TrainingLogRow>& log);

struct PaceLevel {
  double before_ns = 0, after_ns = 0;  // of an iteration, medians of the other lines and of the slower ones
  int64_t from = 0;                    // first iteration of these
  std::optional<int64_t> to;           // last one; nothing where the log ends with it
  double lost_ns = 0;                  // of these against the others
};

// Of the same lines, where they are slower for long from one of them on, and neither these nor the others
// vary by themselves as much; nothing of logs with several starts.
std::optional<PaceLevel> FindPaceLevel(const std::vector<TrainingLogRow>& log);

struct PaceGrowth {
  double early_ns = 0, late_ns = 0;  // of an iteration, medians of the first and the last fifth of the lines
  double lost_ns = 0;                // of all iterations against those of the first fifth
};

// Of the same lines, where each fifth is slower than the one before, and the last takes twice as long as the
// first and more; nothing of logs with several starts.
std::optional<PaceGrowth> FindPaceGrowth(const std::vector<TrainingLogRow>& log);

}  // namespace dladvisor
