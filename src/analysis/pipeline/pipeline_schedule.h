// SPDX-License-Identifier: Apache-2.0
// Which schedule of pipeline parallelism an order of passes is, and how much of it is bubble by nature.
//
// p stages, m micro-batches, v chunks of the model on each stage, T_F, T_B and T_W the time of a micro-batch
// on a stage; where W is not apart it is in T_B. Bubble over the whole: b / (b + m (T_F + T_B + T_W)), with
//   GPipe              b = (p - 1) (T_F + T_B), all F before all B. Huang et al., "GPipe: Efficient Training
//                      of Giant Neural Networks using Pipeline Parallelism", NeurIPS 2019.
//   1F1B               the same b. Narayanan et al., "PipeDream", SOSP 2019; with flushes "Efficient
//                      Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021: stage
//                      s (from 0) begins with min(p - s, m) F, then takes turns of B and F.
//   interleaved 1F1B   b = (p - 1) (T_F + T_B) / v: the same paper; min(2 (p - s - 1) + (v - 1) p + 1, v m) F
//                      at first.
//   ZB-H1              b = (p - 1) (T_F + T_B - T_W). Qi et al., "Zero Bubble Pipeline Parallelism", ICLR
//                      2024, table 2: F and B as 1F1B, W where it fits.
//   ZB-H2              b = (p - 1) (T_F + T_B - 2 T_W): the same table; min(2 (p - s) - 1, m) F at first.
//   V-shaped           the second chunk goes from the last stage back to the first: Qi et al., "Pipeline
//                      Parallelism with Controllable Memory", NeurIPS 2024. Its b depends on the variant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/pipeline/pipeline_name.h"

namespace dladvisor {

enum class PipelineSchedule : uint8_t {
  kUnknown,
  kGPipe,
  k1F1B,
  kInterleaved,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kVShaped,
};
const char* PipelineScheduleName(PipelineSchedule schedule);  // "1F1B", ...; nullptr where unknown

// One step of one stage.
struct StageOrder {
  struct Pass {
    PipelinePhase phase;
    int64_t chunk, micro_batch;
  };
  std::vector<Pass> passes;          // F, B and W in order of launch
  std::vector<int64_t> chunk_start;  // of each chunk, in order of number, when its first F starts
};

// F before the first B.
int64_t ForwardsFirst(const StageOrder& order);

struct ScheduleFound {
  PipelineSchedule schedule = PipelineSchedule::kUnknown;
  // Stages behind the last one given, which a profile of some ranks lacks: the last stage of a pipeline that
  // begins B as soon as it can has one F at first.
  int64_t missing = 0;
};

// From the order of passes alone. Stages are in order, the first one first.
ScheduleFound FindSchedule(const std::vector<StageOrder>& stages);

// nullopt for an unknown schedule, or without a second stage. REQUIRES: micro_batches, chunks > 0.
std::optional<double> IdealBubble(PipelineSchedule schedule, int64_t stages, int64_t micro_batches,
                                  int64_t chunks, double forward, double backward, double weight);

}  // namespace dladvisor
