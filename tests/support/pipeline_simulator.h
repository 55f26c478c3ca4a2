// SPDX-License-Identifier: Apache-2.0
// Schedules of pipeline parallelism, simulated: every stage takes its passes in the schedule's order, each as
// soon as what it needs has arrived.
#pragma once

#include <cstdint>
#include <vector>

namespace dladvisor::test {

enum class Simulated { kGPipe, k1F1B, kInterleaved, kZeroBubbleH1, kVShaped };

struct PipelinePlan {
  Simulated schedule = Simulated::k1F1B;
  int stages = 4, micro_batches = 8, chunks = 1;
  // Of a micro-batch on one chunk; 0 for weight: part of the backward pass.
  int64_t forward = 100, backward = 200, weight = 0;
  int64_t transfer = 0;  // from stage to stage
  int slow_stage = -1;   // its passes take `slow_factor` times as long
  double slow_factor = 1;
  std::vector<int64_t> clock_offsets;  // of stages, 0 where it is shorter
};

struct SimulatedPass {
  char phase;  // 'F', 'B', 'W'
  int chunk, micro_batch;
  int64_t start, end;
};

// By stage, in the order in which the stage takes them, from time 0.
std::vector<std::vector<SimulatedPass>> Simulate(const PipelinePlan& plan);

}  // namespace dladvisor::test
