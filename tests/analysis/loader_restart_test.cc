// SPDX-License-Identifier: Apache-2.0
// Ends of epochs at which a loader's workers start anew, on drawn traces.
#include "src/analysis/host/loader_restart.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr std::string_view kFetch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr Ns kMs = 1'000'000;

enum class Meanwhile { kSeed, kNothing, kOperator, kCall };

// A batch, a step, the end of the epoch, and the first batch of the next.
TraceBuilder TwoEpochs(std::string_view fetch = kFetch, Ns between = 60 * kMs,
                       Meanwhile meanwhile = Meanwhile::kSeed) {
  TraceBuilder b;
  b.Range(0, kMs, kFetch);
  test::AddRange(b, 2 * kMs, 3 * kMs, "aten::mm");
  b.Launch(2 * kMs + 10, 2 * kMs + 20, 2 * kMs + 30, "gemm");
  b.Range(4 * kMs, 14 * kMs, kFetch);
  if (meanwhile != Meanwhile::kNothing) test::AddRange(b, 14 * kMs + 10, 14 * kMs + 20, "aten::random_");
  if (meanwhile == Meanwhile::kOperator) test::AddRange(b, 40 * kMs, 50 * kMs, "aten::sum");
  if (meanwhile == Meanwhile::kCall) b.Api(40 * kMs, 41 * kMs, "cudaMemcpy", 77);
  b.Range(14 * kMs + between, 34 * kMs + between, fetch);
  test::AddRange(b, 36 * kMs + between, 37 * kMs + between, "aten::mm");
  b.Launch(36 * kMs + between + 10, 36 * kMs + between + 20, 36 * kMs + between + 30, "gemm");
  return b;
}

std::vector<LoaderRestartRow> RestartsOf(const TraceBuilder& b) {
  return ComputeLoaderRestarts(test::ContextOf(b.trace));
}

TEST(LoaderRestart, AnEpochEndsAndNewWorkersStart) {
  const auto rows = RestartsOf(TwoEpochs());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].restarts, 1);
  EXPECT_EQ(rows[0].ending_ns, 10 * kMs);
  EXPECT_EQ(rows[0].starting_ns, 60 * kMs);
  EXPECT_EQ(rows[0].first_ns, 20 * kMs);
  EXPECT_NEAR(rows[0].window_share, 90.0 / 97, 0.001);
}

TEST(LoaderRestart, NotWhereWorkersAreKept) {
  EXPECT_TRUE(RestartsOf(TwoEpochs(kFetch, 60 * kMs, Meanwhile::kNothing)).empty());
  EXPECT_TRUE(RestartsOf(TwoEpochs(kFetch, 2 * kMs)).empty());
}

TEST(LoaderRestart, NotALoopThatSkipsABatchNorALoaderOfItsOwnProcess) {
  EXPECT_TRUE(RestartsOf(TwoEpochs(kFetch, kMs / 2)).empty());
  EXPECT_TRUE(RestartsOf(TwoEpochs("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")).empty());
}

TEST(LoaderRestart, NotWhereTheProgramWorksBetween) {
  EXPECT_TRUE(RestartsOf(TwoEpochs(kFetch, 60 * kMs, Meanwhile::kOperator)).empty());
  EXPECT_TRUE(RestartsOf(TwoEpochs(kFetch, 60 * kMs, Meanwhile::kCall)).empty());
}

}  // namespace
}  // namespace dladvisor
