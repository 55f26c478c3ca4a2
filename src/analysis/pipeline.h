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

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/relation.h"
#include "src/analysis/pipeline_event.h"

namespace dladvisor {

struct PipelineStageRow {
  int64_t pipeline = 0, stage = 0, rank = 0, device = 0, micro_batches = 0, chunks = 0, first_forwards = 0;
  double forward_ns = 0, backward_ns = 0;
  std::optional<double> weight_ns;
  double work_ns = 0, span_ns = 0, busy_ns = 0, bubble_ns = 0;
  std::optional<double> bubble_share, warmup_bubble_ns, steady_bubble_ns, cooldown_bubble_ns, optimizer_ns;
};
const RelationOf<PipelineStageRow>& PipelineStageRelation();

struct PipelineBubbleRow {
  int64_t pipeline = 0;
  std::optional<std::string> schedule;
  int64_t stages = 0, missing_stages = 0, micro_batches = 0, chunks = 0, steps = 0, typical_step = 0;
  double forward_ns = 0, backward_ns = 0;
  std::optional<double> weight_ns;
  double cost_ns = 0, bubble_ns = 0;
  std::optional<double> bubble_ratio, ideal_ratio, ideal_ns;
  std::optional<double> warmup_bubble_ns, steady_bubble_ns, cooldown_bubble_ns;
  int64_t slowest_stage = 0, slowest_rank = 0, fastest_stage = 0;
  double slowest_work_ns = 0, mean_work_ns = 0, imbalance_ns = 0;
  std::optional<double> imbalance, late_ns;
};
const RelationOf<PipelineBubbleRow>& PipelineBubbleRelation();

struct Pipelines {
  std::vector<PipelineStageRow> stages;
  std::vector<PipelineBubbleRow> bubbles;
};

// From the events of all ranks, of each in order of number.
Pipelines FindPipelines(std::span<const PipelineEventRow> events);

}  // namespace dladvisor
