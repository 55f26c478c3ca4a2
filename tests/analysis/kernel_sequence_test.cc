// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/kernel_sequence.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/base/error.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

// Steps of three kernels and an all-reduce that runs beside the second and beyond it.
test::TraceBuilder Steps(int count) {
  test::TraceBuilder b;
  for (int i = 0; i < count; ++i) {
    const Ns t = 10'000 * i;
    b.Range(t, t + 9'900, "iteration " + std::to_string(i));
    b.Launch(t + 10, t + 100, t + 200, "gemm");
    b.Launch(t + 20, t + 260, t + 400, "relu");
    b.Launch(t + 30, t + 300, t + 900, "ncclKernel_AllReduce_RING_LL_Sum_half");
    b.Launch(t + 40, t + 1'000, t + 1'100, "adam");
  }
  return b;
}

TEST(KernelSequence, GapsWaitingAndDelays) {
  const test::TraceBuilder b = Steps(4);
  const auto sequences = ComputeKernelSequences(test::ContextOf(b.trace));
  ASSERT_EQ(sequences.size(), 1u);
  const KernelSequence& s = sequences[0];
  EXPECT_EQ(s.names,
            (std::vector<std::string>{"gemm", "relu", "ncclKernel_AllReduce_RING_LL_Sum_half", "adam"}));
  EXPECT_EQ(s.communication, (std::vector<uint8_t>{0, 0, 1, 0}));
  ASSERT_EQ(s.steps.size(), 4u);
  EXPECT_EQ(s.steps[1].start_ns, 10'100);
  EXPECT_EQ(s.steps[1].to_sync_ns, 800);
  const KernelSequence::Cells cells = DecodeCells(s);
  const std::vector<int64_t> second(cells.gap.begin() + 4, cells.gap.begin() + 8);
  EXPECT_EQ(second, (std::vector<int64_t>{0, 60, 0, 600}));
  EXPECT_EQ(cells.duration[4 + 2], 600);
  EXPECT_EQ(cells.waiting[4 + 3], 500);  // of the 600, the all-reduce ran until 900
  EXPECT_EQ(cells.delay[4], 90);
}

TEST(KernelSequence, AnotherSequenceIsCountedAndLeftOut) {
  test::TraceBuilder b = Steps(4);
  const Ns t = 40'000;
  b.Range(t, t + 9'900, "iteration 4");
  b.Launch(t + 10, t + 100, t + 200, "gemm");
  b.Launch(t + 20, t + 260, t + 400, "gelu");
  b.Launch(t + 30, t + 300, t + 900, "ncclKernel_AllReduce_RING_LL_Sum_half");
  b.Launch(t + 40, t + 1'000, t + 1'100, "adam");
  const auto sequences = ComputeKernelSequences(test::ContextOf(b.trace));
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].steps.size(), 4u);
  EXPECT_EQ(sequences[0].other_steps, 1);
}

TEST(KernelSequence, NoStepsNoSequence) {
  test::TraceBuilder b;
  b.Launch(10, 100, 200, "gemm");
  EXPECT_TRUE(ComputeKernelSequences(test::ContextOf(b.trace)).empty());
}

TEST(KernelSequence, CellsComeBackFromTheirBytes) {
  KernelSequence s;
  s.names = {"a", "b"};
  s.steps.resize(2);
  constexpr int64_t kLarge = std::numeric_limits<int64_t>::max() / 4;
  const KernelSequence::Cells cells{{1, kLarge, 0, 3}, {0, 0, 7, -7}, {0, 0, 0, 0}, {-1, 5, -1, kLarge}};
  s.encoded = EncodeCells(cells, 2);
  const KernelSequence::Cells read = DecodeCells(s);
  EXPECT_EQ(read.duration, cells.duration);
  EXPECT_EQ(read.gap, cells.gap);
  EXPECT_EQ(read.delay, cells.delay);
  s.encoded.resize(s.encoded.size() - 1);
  EXPECT_THROW(DecodeCells(s), Error);
  s.steps.resize(1'000'000);
  EXPECT_THROW(DecodeCells(s), Error);
}

}  // namespace
}  // namespace dladvisor
