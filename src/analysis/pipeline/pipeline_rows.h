// SPDX-License-Identifier: Apache-2.0
// The relations pipeline_stage and pipeline_bubble; pipeline.h computes their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/store/relation.h"

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

}  // namespace dladvisor
