// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/idle_activity.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "src/analysis/timeline/step_ledger.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<IdleActivityRow> ActivitiesOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeIdleActivity(context, ComputeTimelines(context));
}

TEST(IdleActivity, SaysWhatTheLaunchingThreadDidWhileNothingWasQueued) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Os(40, 150, "read");  // 50 of it in the gap
  b.Run(0, 130, 3);
  b.Sample(50, "before the gap", "main");
  b.Sample(120, "decode", "main");
  b.Api(160, 170, "cudaMalloc", 0);
  b.Api(162, 168, "cuMemAlloc_v2", 0);  // inside of it
  b.Launch(200, 205, 210, "second");
  const auto rows = ActivitiesOf(b);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].kind, "CUDA call");
  EXPECT_EQ(rows[0].name, "cudaMalloc");
  EXPECT_EQ(rows[0].ns, 10);
  EXPECT_EQ(rows[1].kind, "OS call");
  EXPECT_EQ(rows[1].name, "read");
  EXPECT_EQ(rows[1].ns, 50);
  EXPECT_DOUBLE_EQ(rows[1].share.value(), 0.5);
  EXPECT_FALSE(rows[1].callers.has_value());
  EXPECT_EQ(rows[2].kind, "blocked");  // `read` had it leave the CPU
  EXPECT_EQ(rows[2].ns, 70);
  EXPECT_EQ(rows[3].kind, "sample");
  EXPECT_EQ(rows[3].name, "decode");
  EXPECT_EQ(rows[3].callers, "main");
  EXPECT_FALSE(rows[3].ns.has_value());
}

TEST(IdleActivity, NamesTheInnermostFunctionOfTheProgramThatManySamplesShare) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Api(300, 350, "cudaDeviceSynchronize", 0);
  for (Ns time = 110; time < 118; ++time)
    b.Sample(time, "__printf_fp_l", "Algo<Tiles, 100>::print(int) const");
  for (Ns time = 200; time < 204; ++time)
    b.Sample(time, "void std::_Destroy<int>(int*)", "run(std::vector<int> const&)");
  for (Ns time = 310; time < 340; ++time) b.Sample(time, "wait", "main");  // in a call
  b.Launch(400, 405, 410, "second");
  const auto rows = ActivitiesOf(b);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back().kind, "function");
  EXPECT_EQ(rows.back().name, "Algo::print");
  EXPECT_EQ(rows.back().events, 8);
  EXPECT_DOUBLE_EQ(rows.back().share.value(), 8.0 / 12);
}

TEST(IdleActivity, NamesOneMoreFunctionOfTheSamplesThatAreLeft) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  for (Ns time = 110; time < 130; ++time) b.Sample(time, "print()", "run()");
  for (Ns time = 200; time < 212; ++time) b.Sample(time, "clear()", "run()");
  b.Launch(400, 405, 410, "second");
  const auto rows = ActivitiesOf(b);
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(rows[rows.size() - 2].name, "print");
  EXPECT_EQ(rows.back().name, "clear");
  EXPECT_EQ(rows.back().events, 12);
}

TEST(IdleActivity, TellsAThreadThatWaitsInACallFromOneThatHasNoCpu) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Api(20, 110, "cudaDeviceSynchronize", 0);
  b.Run(0, 30, 3);
  b.Run(120, 130, 3);  // woken late
  b.Run(160, 205, 3);
  b.Launch(200, 205, 210, "second");
  const auto rows = ActivitiesOf(b);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].kind, "CUDA call");
  EXPECT_EQ(rows[1].kind, "blocked");
  EXPECT_EQ(rows[1].ns, 20);
  EXPECT_EQ(rows[2].kind, "off CPU");
  EXPECT_EQ(rows[2].name, "(not running)");
  EXPECT_EQ(rows[2].ns, 30);
}

TEST(IdleActivity, KeepsTheStackOfTheLongestCall) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.trace.os_calls.chains = {{b.trace.names.Intern("short path")},
                             {b.trace.names.Intern("fsync"), b.trace.names.Intern("save")}};
  b.Os(100, 110, "write");
  b.trace.os_calls.chain.back() = 0;
  b.Os(120, 180, "write");
  b.trace.os_calls.chain.back() = 1;
  b.Launch(200, 205, 210, "second");
  const auto rows = ActivitiesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].ns, 70);
  EXPECT_EQ(rows[0].events, 2);
  EXPECT_EQ(rows[0].callers, "fsync < save");
}

TEST(IdleActivity, NothingWhereTheQueueNeverRunsDry) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Launch(10, 105, 200, "second");
  b.Os(20, 90, "read");
  EXPECT_TRUE(ActivitiesOf(b).empty());
}

TEST(StepLedger, SumsToEachStep) {
  TraceBuilder b;
  for (int step = 0; step < 6; ++step) {
    const Ns t = step * 1000;
    b.Range(t, t + 900, "step " + std::to_string(step));
    b.Launch(t + 10, t + 20, t + 500 + step, "gemm");
    b.Launch(t + 700, t + 710, t + 800, "relu");
  }
  const Context context = test::ContextOf(b.trace);
  std::map<int64_t, int64_t> sum;
  std::map<int64_t, double> share;
  for (const StepLedgerRow& row : ComputeStepLedger(context, ComputeTimelines(context))) {
    EXPECT_GT(row.ns, 0);
    sum[row.step] += row.ns;
    share[row.step] += row.share;
  }
  ASSERT_EQ(static_cast<int64_t>(sum.size()), context.StepCount(0));
  for (const Step& step : context.steps.by_rank.at(0).second) {
    if (step.warmup) continue;
    EXPECT_EQ(sum.at(step.number), step.time.length());
    EXPECT_NEAR(share.at(step.number), 1, 1e-9);
  }
}

}  // namespace
}  // namespace dladvisor
