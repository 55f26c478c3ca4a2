// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/execution_summary.h"

#include <gtest/gtest.h>

#include <string_view>

#include "src/analysis/context/profiler_step.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

StepTimes TimesOf(const TraceBuilder& b) { return ComputeStepTimes(test::ContextOf(b.trace)); }

TEST(ExecutionSummary, EveryMomentCountsOnceForTheFirstOfItsKind) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "ProfilerStep#5", "user_annotation");
  test::AddRange(b, 0, 20, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation");
  test::AddRange(b, 20, 90, "aten::linear", "cpu_op");
  b.Launch(22, 30, 50, "gemm");  // the call takes until 24
  b.Launch(40, 45, 70, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const StepTimes times = TimesOf(b);
  ASSERT_EQ(times.execution.size(), 1u);
  const ExecutionSummaryRow& step = times.execution[0];
  EXPECT_EQ(step.step, 5);
  EXPECT_EQ(step.total_ns, 100);
  EXPECT_EQ(step.kernel_ns, 20);
  EXPECT_EQ(step.communication_ns, 20);
  EXPECT_EQ(step.runtime_ns, 2);
  EXPECT_EQ(step.dataloader_ns, 20);
  EXPECT_EQ(step.cpu_ns, 70 - 40 - 2);
  EXPECT_EQ(step.other_ns, 10);
  const DistributedStepRow& shared = times.distributed.at(0);
  EXPECT_EQ(shared.computation_ns, 15);
  EXPECT_EQ(shared.overlap_ns, 5);
  EXPECT_EQ(shared.communication_ns, 20);
  EXPECT_EQ(shared.other_ns, 60);
  EXPECT_EQ(shared.synchronizing_ns, std::nullopt);
}

TEST(ExecutionSummary, WithoutRangesAndCallsTheirTimesAreUnknown) {
  TraceBuilder b;
  b.Launch(0, 10, 60, "gemm");
  const ExecutionSummaryRow step = TimesOf(b).execution.at(0);
  EXPECT_EQ(step.step, 0);
  EXPECT_EQ(step.total_ns, 60);
  EXPECT_EQ(step.kernel_ns, 50);
  EXPECT_EQ(step.cpu_ns, std::nullopt);
  EXPECT_EQ(step.dataloader_ns, std::nullopt);
}

TEST(ProfilerStep, EndsWithItsWorkAndBeginsAfterTheOneBefore) {
  TraceBuilder b;
  b.Kernel(0, 10, "from before the profile", 7);
  test::AddRange(b, 5, 100, "ProfilerStep#1", "user_annotation");
  test::AddRange(b, 100, 200, "ProfilerStep#2", "user_annotation");
  b.Launch(20, 30, 140, "gemm");
  b.Launch(120, 150, 180, "gemm");
  const auto steps = FindProfilerSteps(test::ContextOf(b.trace)).at(0).steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].time, (Interval{10, 140}));
  EXPECT_EQ(steps[1].time, (Interval{140, 200}));
  EXPECT_EQ(steps[1].host, (Interval{100, 200}));
}

TEST(ProfilerStep, OneCutOffAtTheEndIsLeftOut) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "ProfilerStep#1", "user_annotation");
  test::AddRange(b, 100, 200, "ProfilerStep#2", "user_annotation");
  test::AddRange(b, 200, 300, "ProfilerStep#3", "user_annotation");
  for (Ns t = 0; t < 50; t += 10) b.Launch(t, t + 4, t + 8, "gemm");
  b.Launch(110, 114, 118, "gemm");  // a fifth of the one before
  const auto steps = FindProfilerSteps(test::ContextOf(b.trace)).at(0).steps;
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].number, 1);
}

TEST(ProfilerStep, IsKnownByItsName) {
  EXPECT_EQ(ProfilerStepNumber("ProfilerStep#17"), 17);
  EXPECT_EQ(ProfilerStepNumber("ProfilerStep#"), std::nullopt);
  EXPECT_EQ(ProfilerStepNumber("ProfilerStep#1x"), std::nullopt);
  EXPECT_EQ(ProfilerStepNumber("step 1"), std::nullopt);
}

}  // namespace
}  // namespace dladvisor
