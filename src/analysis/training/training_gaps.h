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
// Shorter times between lines that no iteration takes, of seconds and more: what the program does there it
// mostly tells.
struct TrainingStalls {
  int64_t stalls = 0, with_checkpoint = 0, with_evaluation = 0;
  double all_ns = 0, longest_ns = 0;
  int64_t after = 0;  // iteration before the longest
};

// Of lines with a date that print what their iterations took, where that mostly is what passes between them.
// Evaluations whose time is known, and ends of epochs where these are told apart, are left out.
std::optional<TrainingStalls> FindStalls(const TrainingLog& log);

std::optional<TrainingGaps> FindGaps(const TrainingLog& log);

}  // namespace dladvisor
