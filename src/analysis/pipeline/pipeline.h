// SPDX-License-Identifier: Apache-2.0
// Pipelines over ranks: stages, their schedule and its bubble, from the passes of each rank
// (pipeline_event.h).
//
// Stages. Ranks (and devices of one rank) that work on the same stage of several pipelines, data or tensor
// parallel, begin alike: by the number of F before their first B where that makes groups of equal size, else
// by when their first F starts, half a forward pass apart. The groups are the stages, in order of that start
// (of the number, where clocks do not agree); the k-th rank of each is of pipeline k, as Megatron-LM and
// DeepSpeed number ranks.
//
// Per step, of F, B and W alone (the optimizer has no micro-batches):
//   T_F, T_B, T_W   summed time of the phase by micro-batches: the mean per micro-batch over all chunks
//   span            of a stage, from its first start to its last end
//   cost            the longest span of the stages
//   bubble ratio    1 - m (T_F + T_B + T_W) / cost, T the mean of the stages: Qi et al., "Zero Bubble
//   Pipeline
//                   Parallelism", ICLR 2024, section 4
//   ideal ratio     by schedule: pipeline_schedule.h
//   warm-up         of a stage's bubble, what lies before its first B; cool-down after its last F; steady
//                   between. All within the cost from the pipeline's first F. Unknown where clocks do not
//                   agree: the pipeline's first start and last end are more than 1.5 times the cost apart.
//   imbalance       (m - 1/v) (max T - mean T), at most bubble - ideal: with GPipe's order a pipeline takes
//                   sum T_s / v + (m - 1/v) max T, since every micro-batch but the first waits for the
//                   slowest stage; with others it may hide some of that in its warm-up
//   late            the rest of bubble - ideal - imbalance: transfers, launches that come late, times that
//                   vary
// Steps are steady ones in which the rank has as many passes as in most. Figures are means over them.
#pragma once

#include <span>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/analysis/pipeline/pipeline_event.h"
#include "src/analysis/pipeline/pipeline_rows.h"

namespace dladvisor {

struct Pipelines {
  std::vector<PipelineStageRow> stages;
  std::vector<PipelineBubbleRow> bubbles;
};

// From the events of all ranks, of each in order of number.
Pipelines FindPipelines(std::span<const PipelineEventRow> events);

Pipelines PipelinesOfFleet(const RowsOfFleet<PipelineEventRelation>& events);
template <>
inline constexpr Computed kValue<Pipelines>{"pipelines", PipelinesOfFleet};

}  // namespace dladvisor
