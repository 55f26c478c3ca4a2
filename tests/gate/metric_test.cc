// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gate/facts.h"

namespace dladvisor {
namespace {

const RunMean* Find(const std::vector<Measurement>& measurements, const std::string& metric) {
  const auto found = std::ranges::find(measurements, metric, &Measurement::metric);
  return found == measurements.end() ? nullptr : &found->mean;
}

TEST(Metric, StepTimeIsThatOfTheRankWhoseStepsTakeLongestWithoutWarmUp) {
  std::vector<StepRow> steps;
  for (int64_t rank = 0; rank < 2; ++rank)
    for (int64_t step = 0; step < 6; ++step) {
      StepRow& row = steps.emplace_back();
      row.rank = rank;
      row.step = step;
      row.warmup = step == 0;
      row.duration_ns = step == 0 ? 900 : 100 + 10 * rank;
    }
  const test::Facts facts = test::RunOf({}).Give(StepRelation(), steps);
  const auto measured = MeasureRun(facts.Build());
  const RunMean* mean = Find(measured, "step.time");
  ASSERT_NE(mean, nullptr);
  EXPECT_DOUBLE_EQ(mean->mean, 110);
  EXPECT_EQ(mean->steps, 5u);
}

TEST(Metric, ABucketThatAStepLacksHasNoTimeInIt) {
  const test::Facts facts =
      test::RunOf({10, 10, 10, 10})
          .Give(StepLedgerRelation(), std::vector<StepLedgerRow>{{0, 0, 0, "compute/other", 10, 1},
                                                                 {0, 0, 1, "compute/other", 6, 0.6},
                                                                 {0, 0, 1, "idle/input", 4, 0.4},
                                                                 {0, 0, 2, "compute/other", 10, 1},
                                                                 {0, 0, 3, "compute/other", 10, 1}});
  const auto measured = MeasureRun(facts.Build());
  EXPECT_DOUBLE_EQ(Find(measured, "ledger.time/idle/input")->mean, 1);
  EXPECT_DOUBLE_EQ(Find(measured, "ledger.time/compute/other")->mean, 9);
}

TEST(Metric, OpsAndKernelsArePerStep) {
  OpRow op;
  op.op = "/train/forward";
  op.busy_ns = 40;
  OpKernelRow kernel;
  kernel.op = op.op;
  kernel.kernel = "gemm";
  kernel.gpu_ns = 20;
  const test::Facts facts = test::RunOf({10, 10, 10, 10})
                                .Give(OpRelation(), std::vector{op})
                                .Give(OpKernelRelation(), std::vector{kernel});
  const auto measured = MeasureRun(facts.Build());
  EXPECT_DOUBLE_EQ(Find(measured, "op.time//train/forward")->mean, 10);
  EXPECT_DOUBLE_EQ(Find(measured, "kernel.time/gemm")->mean, 5);
}

TEST(Metric, RangesKnowTheirSpread) {
  RangeNameRow range;
  range.name = "forward";
  range.instances = 25;
  range.avg_ns = 100;
  range.stddev_ns = 10;
  const test::Facts facts = test::RunOf({}).Give(RangeNameRelation(), std::vector{range});
  const auto measured = MeasureRun(facts.Build());
  const RunMean* mean = Find(measured, "range.time/forward");
  ASSERT_NE(mean, nullptr);
  EXPECT_DOUBLE_EQ(mean->mean, 100);
  EXPECT_DOUBLE_EQ(mean->variance, 4);
}

TEST(Metric, RatesAndEfficiencyAreThoseOfKnownWork) {
  OpEfficiencyRow large;
  large.op = "aten::mm";
  large.gpu_ns = 300;
  large.flops = 6e5;
  large.flops_per_s = 2e12;
  large.attainable_ns = 240;
  OpEfficiencyRow small = large;
  small.gpu_ns = 100;
  small.flops = 1e5;
  small.flops_per_s = 1e12;
  small.attainable_ns = 60;
  OpEfficiencyRow copy;
  copy.op = "aten::copy_";
  copy.gpu_ns = 100;
  copy.attainable_ns = 100;
  OpEfficiencyRow unknown;
  unknown.op = "mine::mm";
  unknown.gpu_ns = 1000;
  RunRow run;
  run.mfu = 0.4;
  const test::Facts facts = test::RunOf({10, 10, 10, 10})
                                .Give(RunRelation(), std::vector{run})
                                .Give(OpEfficiencyRelation(), std::vector{large, small, copy, unknown});
  const auto measured = MeasureRun(facts.Build());
  EXPECT_DOUBLE_EQ(Find(measured, "op.flops_per_s/aten::mm")->mean, 7e5 / 400e-9);
  EXPECT_EQ(Find(measured, "op.flops_per_s/aten::copy_"), nullptr);
  EXPECT_EQ(Find(measured, "op.flops_per_s/mine::mm"), nullptr);
  EXPECT_DOUBLE_EQ(Find(measured, "kernel.efficiency")->mean, 0.8);
  EXPECT_DOUBLE_EQ(Find(measured, "run.mfu")->mean, 0.4);
}

TEST(Metric, WhatARunDoesNotTellIsLeftOut) {
  const test::Facts facts = test::RunOf({});
  EXPECT_EQ(Find(MeasureRun(facts.Build()), "step.time"), nullptr);
  EXPECT_EQ(Find(MeasureRun(facts.Build()), "memory.peak"), nullptr);
  EXPECT_EQ(Find(MeasureRun(facts.Build()), "run.mfu"), nullptr);
  EXPECT_EQ(Find(MeasureRun(facts.Build()), "kernel.efficiency"), nullptr);
}

TEST(Metric, KindsAreFoundByNameOrFamily) {
  EXPECT_EQ(FindMetricKind("step.time")->title, "Step time");
  EXPECT_EQ(FindMetricKind("op.time/*conv*")->name, "op.time");
  EXPECT_EQ(FindMetricKind("op.time"), nullptr);
  EXPECT_EQ(FindMetricKind("step.time/7"), nullptr);
}

}  // namespace
}  // namespace dladvisor
