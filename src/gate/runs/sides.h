// SPDX-License-Identifier: Apache-2.0
// The runs of both sides as draws of noise: a recording that was given several times is one run, and runs
// that were taken together are of one job.
#pragma once

#include <string>
#include <vector>

#include "src/gate/runs/gate_run.h"

namespace dladvisor {

struct GateSides {
  std::vector<GateRun> baseline, candidate;
  std::vector<std::string> notes;  // what a reader should know: one sentence each
};

// Runs of one machine that start within an hour of the one before are of one job, whichever side they are on.
// Of runs without a time those of one side are: repeats mostly are, and to take them for more would be to
// believe that they show what differs between jobs.
inline constexpr int64_t kLongestPauseNs = 3'600'000'000'000;

// Leaves out recordings that a side has already, and numbers the jobs.
GateSides ToSides(std::vector<GateRun> baseline, std::vector<GateRun> candidate);

}  // namespace dladvisor
