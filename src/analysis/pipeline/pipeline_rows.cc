// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/pipeline/pipeline_rows.h"

#include "src/analysis/family/numbering.h"

namespace dladvisor {

const RelationOf<PipelineStageRow>& PipelineStageRelation() {
  using Row = PipelineStageRow;
  static const auto relation =
      RelationOf<Row>("pipeline_stage",
                      "Stages of pipelines, means over complete steady steps; none without ranges around "
                      "passes (pipeline_event).")
          .Key("pipeline", &Row::pipeline, Unit::kNone,
               "Pipeline; of several with the same stages they are counted from 0.")
          .Key("stage", &Row::stage, Unit::kNone, "Stage, the first one 0.")
          .Column("rank", &Row::rank, kRankNumber, "Rank that works on it.")
          .Column("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Column("micro_batches", &Row::micro_batches, Unit::kCount,
                  "Micro-batches of a step, or slices of them.")
          .Column("chunks", &Row::chunks, Unit::kCount, "Chunks of the model on the stage.")
          .Column("first_forwards", &Row::first_forwards, Unit::kCount,
                  "Forward passes before its first backward pass.")
          .Column("forward_ns", &Row::forward_ns, Unit::kNanoseconds,
                  "Of a micro-batch, over all chunks: forward passes, T_F.")
          .Column("backward_ns", &Row::backward_ns, Unit::kNanoseconds, "Backward passes, T_B.")
          .Column("weight_ns", &Row::weight_ns, Unit::kNanoseconds,
                  "Gradients of the weights, T_W; unknown where they are part of the backward pass.")
          .Column("work_ns", &Row::work_ns, Unit::kNanoseconds, "T_F + T_B + T_W.")
          .Column("span_ns", &Row::span_ns, Unit::kNanoseconds, "From its first start to its last end.")
          .Column("busy_ns", &Row::busy_ns, Unit::kNanoseconds, "Of a step, in passes.")
          .Column("bubble_ns", &Row::bubble_ns, Unit::kNanoseconds,
                  "The pipeline's cost less that; the optimizer is no part of it.")
          .Column("bubble_share", &Row::bubble_share, Unit::kRatio, "bubble_ns by the cost.")
          .Column("warmup_bubble_ns", &Row::warmup_bubble_ns, Unit::kNanoseconds,
                  "Outside of passes before its first backward pass; unknown where the clocks of ranks do "
                  "not agree.")
          .Column("steady_bubble_ns", &Row::steady_bubble_ns, Unit::kNanoseconds,
                  "From then to its last forward pass; unknown as before.")
          .Column("cooldown_bubble_ns", &Row::cooldown_bubble_ns, Unit::kNanoseconds,
                  "After it, to the pipeline's end; unknown as before.")
          .Column("optimizer_ns", &Row::optimizer_ns, Unit::kNanoseconds,
                  "Optimizer, of a step; unknown without ranges around it.");
  return relation;
}

const RelationOf<PipelineBubbleRow>& PipelineBubbleRelation() {
  using Row = PipelineBubbleRow;
  static const auto relation =
      RelationOf<Row>("pipeline_bubble",
                      "Pipelines, their schedule and its bubble, means over complete steady steps; none "
                      "without ranges around passes (pipeline_event).")
          .Key("pipeline", &Row::pipeline, Unit::kNone,
               "Pipeline; of several with the same stages they are counted from 0.")
          .Column("schedule", &Row::schedule, Unit::kText,
                  "GPipe, 1F1B, interleaved 1F1B, ZB-H1, ZB-H2 or V-shaped, from the order of passes; "
                  "unknown where it is none of them.")
          .Column("stages", &Row::stages, Unit::kCount, "Stages in the profile, p.")
          .Column("missing_stages", &Row::missing_stages, Unit::kCount,
                  "Stages behind them, which the schedule needs and the profile lacks.")
          .Column("micro_batches", &Row::micro_batches, Unit::kCount,
                  "Micro-batches of a step, or slices of them, m.")
          .Column("chunks", &Row::chunks, Unit::kCount, "Chunks of the model on each stage, v.")
          .Column("steps", &Row::steps, Unit::kCount, "Steps that figures are means of.")
          .Column("typical_step", &Row::typical_step, Unit::kNone, "The step of median cost.")
          .Column("forward_ns", &Row::forward_ns, Unit::kNanoseconds,
                  "Of a micro-batch, mean of the stages: forward passes, T_F.")
          .Column("backward_ns", &Row::backward_ns, Unit::kNanoseconds, "Backward passes, T_B.")
          .Column("weight_ns", &Row::weight_ns, Unit::kNanoseconds,
                  "Gradients of the weights, T_W; unknown where they are part of the backward pass.")
          .Column("cost_ns", &Row::cost_ns, Unit::kNanoseconds, "The longest of the stages' spans.")
          .Column("bubble_ns", &Row::bubble_ns, Unit::kNanoseconds, "cost - m (T_F + T_B + T_W).")
          .Column("bubble_ratio", &Row::bubble_ratio, Unit::kRatio, "bubble_ns by cost_ns.")
          .Column("ideal_ratio", &Row::ideal_ratio, Unit::kRatio,
                  "What the schedule has ideally, with the same mean times on all stages; unknown where "
                  "the schedule is, or with one stage.")
          .Column("ideal_ns", &Row::ideal_ns, Unit::kNanoseconds, "Bubble of that; unknown as before.")
          .Column("warmup_bubble_ns", &Row::warmup_bubble_ns, Unit::kNanoseconds,
                  "Mean of the stages: before the first backward pass; unknown where the clocks of ranks do "
                  "not agree.")
          .Column("steady_bubble_ns", &Row::steady_bubble_ns, Unit::kNanoseconds,
                  "From then to the last forward pass; unknown as before.")
          .Column("cooldown_bubble_ns", &Row::cooldown_bubble_ns, Unit::kNanoseconds,
                  "After it; unknown as before.")
          .Column("slowest_stage", &Row::slowest_stage, Unit::kNone, "Stage with the most work.")
          .Column("slowest_rank", &Row::slowest_rank, Unit::kNone, "Its rank.")
          .Column("fastest_stage", &Row::fastest_stage, Unit::kNone, "Stage with the least.")
          .Column("slowest_work_ns", &Row::slowest_work_ns, Unit::kNanoseconds,
                  "T_F + T_B + T_W of the slowest stage.")
          .Column("mean_work_ns", &Row::mean_work_ns, Unit::kNanoseconds, "Mean of the stages.")
          .Column("imbalance", &Row::imbalance, Unit::kRatio, "slowest_work_ns / mean_work_ns - 1.")
          .Column("imbalance_ns", &Row::imbalance_ns, Unit::kNanoseconds,
                  "Of the bubble, waiting for the slowest stage: (m - 1/v) (slowest - mean), at most what is "
                  "above the ideal.")
          .Column("late_ns", &Row::late_ns, Unit::kNanoseconds,
                  "Of the bubble, what neither the schedule nor the imbalance makes: transfers, late "
                  "launches, times that vary; unknown where the ideal is.");
  return relation;
}

}  // namespace dladvisor
