// SPDX-License-Identifier: Apache-2.0
// Pipelines over ranks: simulated schedules against their closed forms.
#include "src/analysis/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/analysis/pipeline/pipeline_schedule.h"
#include "tests/support/pipeline_simulator.h"

namespace dladvisor {
namespace {
using test::PipelinePlan;
using test::Simulate;
using test::Simulated;

// The rank of stage s; later steps begin when the one before has long ended.
std::vector<PipelineEventRow> EventsOf(const PipelinePlan& plan, int steps = 2, int64_t first_rank = 0) {
  std::vector<PipelineEventRow> rows;
  const auto stages = Simulate(plan);
  for (size_t s = 0; s < stages.size(); ++s) {
    int64_t event = 0;
    for (int step = 0; step < steps; ++step)
      for (const test::SimulatedPass& pass : stages[s]) {
        PipelineEventRow& row = rows.emplace_back();
        const int64_t offset = step * 1'000'000;
        row.rank = first_rank + static_cast<int64_t>(s);
        row.event = event++;
        row.step = step;
        row.phase = std::string(1, pass.phase);
        row.chunk = pass.chunk;
        row.micro_batch = pass.micro_batch;
        row.host_start_ns = offset + pass.start;
        row.host_end_ns = offset + pass.end;
        row.start_ns = offset + pass.start;
        row.end_ns = offset + pass.end;
        row.kernels = 1;
        row.kernel_ns = pass.end - pass.start;
      }
  }
  return rows;
}

PipelineBubbleRow Only(const Pipelines& pipelines) {
  EXPECT_EQ(pipelines.bubbles.size(), 1u);
  return pipelines.bubbles.empty() ? PipelineBubbleRow{} : pipelines.bubbles[0];
}

struct Case {
  const char* name;
  Simulated schedule;
  int stages, micro_batches, chunks;
  int64_t forward, backward, weight;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name << " p=" << c.stages << " m=" << c.micro_batches << " v=" << c.chunks;
}

class Schedules : public ::testing::TestWithParam<Case> {};

// All stages alike and no transfers: the bubble is the ideal one, which the closed form gives.
TEST_P(Schedules, HaveTheBubbleOfTheirClosedForm) {
  const Case& c = GetParam();
  PipelinePlan plan;
  plan.schedule = c.schedule;
  plan.stages = c.stages;
  plan.micro_batches = c.micro_batches;
  plan.chunks = c.chunks;
  plan.forward = c.forward;
  plan.backward = c.backward;
  plan.weight = c.weight;
  const Pipelines pipelines = FindPipelines(EventsOf(plan));
  const PipelineBubbleRow row = Only(pipelines);
  EXPECT_EQ(row.schedule, c.name);
  EXPECT_EQ(row.stages, c.stages);
  EXPECT_EQ(row.missing_stages, 0);
  EXPECT_EQ(row.micro_batches, c.micro_batches);
  EXPECT_EQ(row.chunks, c.chunks);
  EXPECT_EQ(row.steps, 2);
  EXPECT_EQ(row.weight_ns.has_value(), c.weight > 0);
  EXPECT_DOUBLE_EQ(row.forward_ns, static_cast<double>(c.forward * c.chunks));
  EXPECT_DOUBLE_EQ(row.backward_ns, static_cast<double>(c.backward * c.chunks));

  const double p = c.stages, m = c.micro_batches, v = c.chunks;
  const double f = row.forward_ns, b = row.backward_ns, w = row.weight_ns.value_or(0);
  const double bubble = c.weight > 0 ? (p - 1) * (f + b - w) : (p - 1) * (f + b) / v;
  EXPECT_NEAR(row.cost_ns, m * (f + b + w) + bubble, 1e-6);
  EXPECT_NEAR(row.bubble_ns, bubble, 1e-6);
  ASSERT_TRUE(row.bubble_ratio && row.ideal_ratio && row.ideal_ns && row.late_ns);
  EXPECT_NEAR(*row.bubble_ratio, bubble / row.cost_ns, 1e-9);
  EXPECT_NEAR(*row.ideal_ratio, *row.bubble_ratio, 1e-9);
  if (c.weight == 0) {
    EXPECT_NEAR(*row.ideal_ratio, (p - 1) / (v * m + p - 1), 1e-9);
  }
  EXPECT_NEAR(*row.ideal_ns, bubble, 1e-6);
  EXPECT_NEAR(*row.late_ns, 0, 1e-6);
  EXPECT_NEAR(row.imbalance_ns, 0, 1e-6);

  // The parts are the whole, of each stage and of the pipeline.
  ASSERT_EQ(pipelines.stages.size(), static_cast<size_t>(c.stages));
  for (const PipelineStageRow& stage : pipelines.stages) {
    EXPECT_EQ(stage.rank, stage.stage);
    EXPECT_NEAR(stage.bubble_ns, bubble, 1e-6);
    ASSERT_TRUE(stage.warmup_bubble_ns.has_value());
    EXPECT_NEAR(*stage.warmup_bubble_ns + *stage.steady_bubble_ns + *stage.cooldown_bubble_ns,
                stage.bubble_ns, 1e-6);
  }
  EXPECT_NEAR(*row.warmup_bubble_ns + *row.steady_bubble_ns + *row.cooldown_bubble_ns, bubble, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    All, Schedules,
    ::testing::Values(Case{"GPipe", Simulated::kGPipe, 4, 8, 1, 100, 200, 0},
                      Case{"GPipe", Simulated::kGPipe, 2, 1, 1, 70, 150, 0},
                      Case{"GPipe", Simulated::kGPipe, 8, 3, 1, 100, 230, 0},
                      Case{"1F1B", Simulated::k1F1B, 4, 8, 1, 100, 200, 0},
                      Case{"1F1B", Simulated::k1F1B, 2, 2, 1, 100, 200, 0},
                      Case{"1F1B", Simulated::k1F1B, 8, 4, 1, 130, 200, 0},
                      Case{"1F1B", Simulated::k1F1B, 16, 64, 1, 100, 210, 0},
                      Case{"interleaved 1F1B", Simulated::kInterleaved, 4, 8, 2, 100, 200, 0},
                      Case{"interleaved 1F1B", Simulated::kInterleaved, 4, 4, 3, 100, 200, 0},
                      Case{"interleaved 1F1B", Simulated::kInterleaved, 2, 8, 4, 100, 200, 0},
                      Case{"ZB-H1", Simulated::kZeroBubbleH1, 4, 8, 1, 100, 100, 100},
                      Case{"ZB-H1", Simulated::kZeroBubbleH1, 8, 24, 1, 100, 120, 90}));

// GPipe: stage s waits s T_F for its first F, then for F of the stages behind it and their B.
TEST(Pipeline, GPipeBubblesBeforeItsFirstBackwardAndAtTheEnd) {
  PipelinePlan plan;
  plan.schedule = Simulated::kGPipe;
  const Pipelines pipelines = FindPipelines(EventsOf(plan));
  ASSERT_EQ(pipelines.stages.size(), 4u);
  for (const PipelineStageRow& stage : pipelines.stages) {
    const auto s = static_cast<double>(stage.stage);
    EXPECT_NEAR(*stage.warmup_bubble_ns, s * 100 + (3 - s) * 300, 1e-6);
    EXPECT_NEAR(*stage.steady_bubble_ns, 0, 1e-6);
    EXPECT_NEAR(*stage.cooldown_bubble_ns, s * 200, 1e-6);
    EXPECT_NEAR(*stage.bubble_share, 900.0 / 3300, 1e-9);
    EXPECT_EQ(stage.first_forwards, 8);
  }
}

// 1F1B: in the steady state nothing waits.
TEST(Pipeline, OneForwardOneBackwardHasNoSteadyBubbleOnItsLastStage) {
  const Pipelines pipelines = FindPipelines(EventsOf(PipelinePlan{}));
  ASSERT_EQ(pipelines.stages.size(), 4u);
  EXPECT_NEAR(*pipelines.stages[3].warmup_bubble_ns, 300, 1e-6);
  EXPECT_NEAR(*pipelines.stages[3].steady_bubble_ns, 0, 1e-6);
  EXPECT_NEAR(*pipelines.stages[3].cooldown_bubble_ns, 600, 1e-6);
  // First F at 0, first B of the last stage at 4 T_F, three T_B later here; four F were taken by then.
  EXPECT_NEAR(*pipelines.stages[0].warmup_bubble_ns, 4 * 100 + 3 * 200 - 4 * 100, 1e-6);
  EXPECT_EQ(pipelines.stages[0].first_forwards, 4);
  EXPECT_EQ(pipelines.stages[3].first_forwards, 1);
}

TEST(Pipeline, NamesTheSlowStageAndWhatItCosts) {
  for (const Simulated schedule : {Simulated::kGPipe, Simulated::k1F1B})
    for (const int slow : {0, 2, 3}) {
      PipelinePlan plan;
      plan.schedule = schedule;
      plan.micro_batches = 12;
      plan.slow_stage = slow;
      plan.slow_factor = 1.5;
      const PipelineBubbleRow row = Only(FindPipelines(EventsOf(plan)));
      EXPECT_EQ(row.slowest_stage, slow);
      EXPECT_EQ(row.slowest_rank, slow);
      EXPECT_NEAR(row.slowest_work_ns, 450, 1e-6);
      EXPECT_NEAR(row.mean_work_ns, 337.5, 1e-6);
      EXPECT_NEAR(*row.imbalance, 450 / 337.5 - 1, 1e-9);
      // Sum of the stages' work for the first micro-batch, the slowest's for the others.
      const double cost = 3 * 300 + 450 + 11 * 450;
      if (schedule == Simulated::kGPipe || slow == 3) {
        EXPECT_NEAR(row.cost_ns, cost, 1e-6) << "slow stage " << slow;
        EXPECT_NEAR(row.imbalance_ns, 11 * 112.5, 1e-6);
      } else {
        EXPECT_LT(row.cost_ns, cost) << "slow stage " << slow;
        EXPECT_NEAR(row.imbalance_ns, row.bubble_ns - 3 * 337.5, 1e-6);
      }
      EXPECT_NEAR(*row.ideal_ratio, 3.0 / 15, 1e-9);
      EXPECT_NEAR(*row.late_ns, 0, 1e-6);
    }
}

TEST(Pipeline, CallsTransfersLate) {
  PipelinePlan plan;
  plan.transfer = 40;
  const PipelineBubbleRow row = Only(FindPipelines(EventsOf(plan)));
  EXPECT_EQ(row.schedule, "1F1B");
  EXPECT_NEAR(*row.ideal_ns, 900, 1e-6);
  EXPECT_NEAR(row.imbalance_ns, 0, 1e-6);
  EXPECT_NEAR(*row.late_ns, row.bubble_ns - 900, 1e-6);
  EXPECT_GE(*row.late_ns, 6 * 40) << "there and back at least";
}

TEST(Pipeline, KnowsAVShape) {
  PipelinePlan plan;
  plan.schedule = Simulated::kVShaped;
  plan.chunks = 2;
  const PipelineBubbleRow row = Only(FindPipelines(EventsOf(plan)));
  EXPECT_EQ(row.schedule, "V-shaped");
  EXPECT_FALSE(row.ideal_ratio.has_value());
  EXPECT_TRUE(row.bubble_ratio.has_value());
  EXPECT_EQ(row.chunks, 2);
}

TEST(Pipeline, TellsPipelinesThatRunSideBySide) {
  // Data parallel, as Megatron-LM numbers ranks: stage s has ranks 2 s and 2 s + 1.
  for (const Simulated schedule : {Simulated::k1F1B, Simulated::kGPipe}) {
    PipelinePlan plan;
    plan.schedule = schedule;
    std::vector<PipelineEventRow> rows;
    for (int replica = 0; replica < 2; ++replica)
      for (PipelineEventRow row : EventsOf(plan)) {
        row.rank = 2 * row.rank + replica;
        rows.push_back(row);
      }
    const Pipelines pipelines = FindPipelines(rows);
    ASSERT_EQ(pipelines.bubbles.size(), 2u);
    ASSERT_EQ(pipelines.stages.size(), 8u);
    for (const PipelineBubbleRow& row : pipelines.bubbles) {
      EXPECT_EQ(row.stages, 4);
      EXPECT_NEAR(*row.bubble_ratio, *row.ideal_ratio, 1e-9);
    }
    for (const PipelineStageRow& stage : pipelines.stages)
      EXPECT_EQ(stage.rank, 2 * stage.stage + stage.pipeline);
  }
}

TEST(Pipeline, OrdersStagesWhoseRanksAreShuffled) {
  std::vector<PipelineEventRow> rows = EventsOf(PipelinePlan{});
  const int64_t rank_of_stage[] = {2, 0, 3, 1};
  for (PipelineEventRow& row : rows) row.rank = rank_of_stage[row.rank];
  const Pipelines pipelines = FindPipelines(rows);
  ASSERT_EQ(pipelines.stages.size(), 4u);
  for (size_t s = 0; s < 4; ++s) EXPECT_EQ(pipelines.stages[s].rank, rank_of_stage[s]);
}

TEST(Pipeline, SaysNothingOfWarmUpWhereClocksDiffer) {
  PipelinePlan plan;
  plan.clock_offsets = {0, 700'000, 100'000, 300'000};
  const Pipelines pipelines = FindPipelines(EventsOf(plan, 1));
  const PipelineBubbleRow row = Only(pipelines);
  EXPECT_EQ(row.schedule, "1F1B") << "the order of passes gives the stages";
  EXPECT_NEAR(*row.bubble_ratio, 900.0 / 3300, 1e-9) << "spans need no common clock";
  EXPECT_FALSE(row.warmup_bubble_ns.has_value());
  EXPECT_FALSE(row.steady_bubble_ns.has_value());
  for (size_t s = 0; s < pipelines.stages.size(); ++s)
    EXPECT_EQ(pipelines.stages[s].rank, static_cast<int64_t>(s));
}

TEST(Pipeline, CountsStagesThatAreNotInTheProfile) {
  std::vector<PipelineEventRow> rows = EventsOf(PipelinePlan{});
  std::erase_if(rows, [](const PipelineEventRow& row) { return row.rank > 1; });
  const PipelineBubbleRow row = Only(FindPipelines(rows));
  EXPECT_EQ(row.schedule, "1F1B");
  EXPECT_EQ(row.stages, 2);
  EXPECT_EQ(row.missing_stages, 2);
  EXPECT_NEAR(*row.ideal_ratio, 3.0 / 11, 1e-9);
  EXPECT_NEAR(*row.bubble_ratio, 3.0 / 11, 1e-9);
}

TEST(Pipeline, OneStageHasNoIdeal) {
  std::vector<PipelineEventRow> rows = EventsOf(PipelinePlan{});
  std::erase_if(rows, [](const PipelineEventRow& row) { return row.rank != 3; });
  const PipelineBubbleRow row = Only(FindPipelines(rows));
  EXPECT_EQ(row.stages, 1);
  EXPECT_FALSE(row.ideal_ratio.has_value());
  EXPECT_FALSE(row.late_ns.has_value());
}

TEST(Pipeline, LeavesOutIncompleteAndWarmUpSteps) {
  std::vector<PipelineEventRow> rows = EventsOf(PipelinePlan{}, 5);
  for (PipelineEventRow& row : rows) {
    row.warmup = row.step == 0;
    if (row.warmup) *row.end_ns += 50;
  }
  // The profile ends within the last step of rank 2.
  std::erase_if(rows, [](const PipelineEventRow& row) {
    return row.rank == 2 && row.step == 4 && row.micro_batch == 7 && row.phase == "B";
  });
  const PipelineBubbleRow row = Only(FindPipelines(rows));
  EXPECT_EQ(row.steps, 3);
  EXPECT_EQ(row.typical_step, 2);
  EXPECT_NEAR(*row.bubble_ratio, *row.ideal_ratio, 1e-9);
}

TEST(Pipeline, AnOrderOfItsOwnIsNoKnownSchedule) {
  std::vector<PipelineEventRow> rows = EventsOf(PipelinePlan{});
  for (PipelineEventRow& row : rows)
    if (row.rank == 1 && row.step == 0 && row.micro_batch == 3) row.phase = row.phase == "F" ? "B" : "F";
  const PipelineBubbleRow row = Only(FindPipelines(rows));
  EXPECT_FALSE(row.schedule.has_value());
  EXPECT_FALSE(row.ideal_ratio.has_value());
  EXPECT_TRUE(row.bubble_ratio.has_value());
}

TEST(Pipeline, NoEventsNoPipeline) {
  EXPECT_TRUE(FindPipelines({}).bubbles.empty());
  PipelineEventRow optimizer;
  optimizer.phase = "Optimizer";
  optimizer.step = 0;
  EXPECT_TRUE(FindPipelines({&optimizer, 1}).bubbles.empty());
}

TEST(IdealBubble, OfZeroBubbleSchedules) {
  EXPECT_NEAR(*IdealBubble(PipelineSchedule::kZeroBubbleH1, 4, 8, 1, 10, 12, 6), 3 * 16.0 / (3 * 16 + 8 * 28),
              1e-12);
  EXPECT_NEAR(*IdealBubble(PipelineSchedule::kZeroBubbleH2, 4, 8, 1, 10, 12, 6), 3 * 10.0 / (3 * 10 + 8 * 28),
              1e-12);
  EXPECT_EQ(*IdealBubble(PipelineSchedule::kZeroBubbleH2, 4, 8, 1, 10, 10, 11), 0) << "none is not less";
  EXPECT_FALSE(IdealBubble(PipelineSchedule::kVShaped, 4, 8, 2, 10, 12, 6).has_value());
  EXPECT_FALSE(IdealBubble(PipelineSchedule::k1F1B, 1, 8, 1, 10, 12, 6).has_value());
}

}  // namespace
}  // namespace dladvisor
