// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/range_name.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// Ten steps that the host is done with before the GPU has begun the second: each holds one update.
TraceBuilder RunAhead() {
  TraceBuilder b;
  for (int step = 0; step < 10; ++step) {
    const Ns host = 100 * step, gpu = 50 + 1000 * step;
    b.Range(host, host + 90, "train_step " + std::to_string(step));
    b.Range(host + 10, host + 40, "Optimizer.step#SGD.step");
    b.Launch(host + 20, gpu, gpu + 1000, "k" + std::to_string(step));
  }
  return b;
}

const RangeNameRow* UpdateOf(const std::vector<RangeNameRow>& rows) {
  for (const RangeNameRow& row : rows)
    if (row.name == "Optimizer.step#SGD.step") return &row;
  return nullptr;
}

TEST(RangeName, CountsWhatTheHostDidForTheAnalysedSteps) {
  const TraceBuilder b = RunAhead();
  const auto all = ComputeRangeNames(test::ContextOf(b.trace));
  ASSERT_NE(UpdateOf(all), nullptr);
  EXPECT_EQ(UpdateOf(all)->window_instances, 10);
  EXPECT_EQ(UpdateOf(all)->window_ns, 300);
  AnalysisOptions three;
  three.steps = std::pair{4, 6};
  const auto few = ComputeRangeNames(test::ContextOf(b.trace, three));
  ASSERT_NE(UpdateOf(few), nullptr);
  EXPECT_EQ(UpdateOf(few)->instances, 10);
  EXPECT_EQ(UpdateOf(few)->window_instances, 3);
  EXPECT_EQ(UpdateOf(few)->window_ns, 90);
}

TEST(RangeName, TellsLongLaunchesApart) {
  constexpr Ns kMillisecond = 1'000'000;
  TraceBuilder b;
  b.Range(0, 50 * kMillisecond, "Optimizer.step#SGD.step");
  const auto launch = [&](Ns start, Ns end) {
    b.Api(start, end, "cudaLaunchKernel", end);
    b.Kernel(end, end + 10, "k", end);
  };
  launch(1 * kMillisecond, 16 * kMillisecond);
  launch(20 * kMillisecond, 20 * kMillisecond + 5000);
  launch(30 * kMillisecond, 37 * kMillisecond);
  launch(60 * kMillisecond, 90 * kMillisecond);
  const auto rows = ComputeRangeNames(test::ContextOf(b.trace));
  ASSERT_NE(UpdateOf(rows), nullptr);
  EXPECT_EQ(UpdateOf(rows)->cold_ns, 22 * kMillisecond);
}

TEST(RangeName, WithoutStepsAllCount) {
  TraceBuilder b;
  b.Range(0, 10, "load");
  b.Launch(20, 30, 40, "k");
  const auto rows = ComputeRangeNames(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].window_instances, 1);
  EXPECT_EQ(rows[0].window_ns, 10);
}

}  // namespace
}  // namespace dladvisor
