// SPDX-License-Identifier: Apache-2.0
// The worked numbers of Zulfiqar and Knight (NVIDIA, 2020): durations, gaps and time to kernel end of four of
// 960 GPUs at three positions of a step, each against the mean over all. The other GPUs are stood for by two,
// so chosen that the means are those of the slides; one of them is the first to begin, with a gap of 0.
//
// Where the slides contradict themselves, what follows from their own definitions is expected:
//   4401 - 5562 is -1161, not 1161;
//   11034 + 10575 + 94890 + 6456 is 122955, not 122415;
//   the mean time to the end of kernel a is 11544 + 9611 = 21155, not 23566, and of kernel b 21155 + 97389 +
//   5562 = 124106, not 119811: the mean of sums is the sum of means.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/ranks/cohort.h"
#include "src/analysis/ranks/kernel_position.h"
#include "src/analysis/ranks/kernel_sequence.h"
#include "src/analysis/ranks/rank.h"

namespace dladvisor {
namespace {

constexpr size_t kGpus = 6, kShown = 4, kKernels = 3;
using OfGpus = std::array<int64_t, kGpus>;
constexpr std::array<OfGpus, kKernels> kDurations = {{{9176, 10575, 7866, 8234, 10907, 10908},
                                                      {3451, 6456, 9765, 4401, 4649, 4650},
                                                      {4144, 7345, 5721, 5177, 4496, 4497}}};
constexpr std::array<OfGpus, kKernels> kGaps = {{{12921, 11034, 14548, 9813, 0, 20948},
                                                 {80124, 94890, 100344, 91209, 108883, 108884},
                                                 {210467, 197712, 215983, 200334, 194949, 194949}}};

// A step of one GPU; the collective at the end, its own gap 0, is where all come together.
KernelSequence SequenceOf(size_t gpu) {
  constexpr int64_t kSync = 2'000'000;
  KernelSequence sequence;
  sequence.rank = static_cast<int64_t>(gpu);
  sequence.names = {"a", "b", "c", "ncclKernel"};
  sequence.communication = {0, 0, 0, 1};
  sequence.blocks = {1, 1, 1, 1};
  sequence.fingerprint = FingerprintOf(sequence.names);
  KernelSequence::Step step;
  step.number = 2003;
  step.to_sync_ns = kSync - kGaps[0][gpu];
  sequence.steps = {step};
  KernelSequence::Cells cells;
  for (size_t k = 0; k < kKernels; ++k) {
    cells.duration.push_back(kDurations[k][gpu]);
    cells.gap.push_back(k == 0 ? 0 : kGaps[k][gpu]);
    cells.waiting.push_back(0);
    cells.delay.push_back(1000 + static_cast<int64_t>(k));
  }
  cells.duration.push_back(500'000);
  cells.gap.push_back(0);
  cells.waiting.push_back(0);
  cells.delay.push_back(-1);
  sequence.encoded = EncodeCells(cells, sequence.length());
  return sequence;
}

class Jitter : public testing::Test {
 protected:
  Jitter() {
    for (size_t gpu = 0; gpu < kGpus; ++gpu) sequences_.push_back(SequenceOf(gpu));
    cohorts_ = FormCohorts(sequences_);
    std::vector<GpuStep> all;
    for (size_t gpu = 0; gpu < kGpus; ++gpu) all.push_back({static_cast<int64_t>(gpu), 0, 2003});
    rows_ = ComputeDivergence(sequences_, cohorts_, all);
  }

  const DivergenceRow& At(size_t gpu, size_t position) const { return rows_[gpu * 4 + position]; }

  std::vector<KernelSequence> sequences_;
  std::vector<Cohort> cohorts_;
  std::vector<DivergenceRow> rows_;
};

TEST_F(Jitter, DurationsAgainstTheMean) {
  constexpr double kExpected[kKernels][kShown] = {
      {-435, 964, -1745, -1377}, {-2111, 894, 4203, -1161}, {-1086, 2115, 491, -53}};
  for (size_t k = 0; k < kKernels; ++k)
    for (size_t gpu = 0; gpu < kShown; ++gpu)
      EXPECT_NEAR(At(gpu, k).duration_excess_ns, kExpected[k][gpu], 0.6) << k << " " << gpu;
}

TEST_F(Jitter, GapsAgainstTheMean) {
  constexpr double kExpected[kKernels][kShown] = {
      {1377, -510, 3004, -1731}, {-17265, -2499, 2955, -6180}, {8068, -4687, 13584, -2065}};
  for (size_t k = 0; k < kKernels; ++k)
    for (size_t gpu = 0; gpu < kShown; ++gpu) {
      EXPECT_EQ(At(gpu, k).gap_ns, kGaps[k][gpu]);
      EXPECT_NEAR(At(gpu, k).gap_excess_ns, kExpected[k][gpu], 0.6) << k << " " << gpu;
    }
}

TEST_F(Jitter, TimeToKernelEnd) {
  constexpr int64_t kExpected[2][kShown] = {{22097, 21609, 22414, 18047}, {105672, 122955, 132523, 113657}};
  constexpr double kMeans[2] = {21155, 124106};
  for (size_t k = 0; k < 2; ++k)
    for (size_t gpu = 0; gpu < kShown; ++gpu) {
      EXPECT_EQ(At(gpu, k).end_ns, kExpected[k][gpu]);
      EXPECT_NEAR(At(gpu, k).end_excess_ns, static_cast<double>(kExpected[k][gpu]) - kMeans[k], 0.6);
    }
}

TEST_F(Jitter, CollectivesAreZeroed) {
  for (size_t gpu = 0; gpu < kGpus; ++gpu) {
    EXPECT_EQ(At(gpu, 3).gap_ns, 0);
    EXPECT_EQ(At(gpu, 3).end_ns, At(gpu, 2).end_ns);
  }
}

TEST_F(Jitter, MeansByPosition) {
  const std::vector<KernelPositionRow> rows = ComputeKernelPositions(sequences_, cohorts_);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_NEAR(rows[0].duration_ns, 9611, 0.6);
  EXPECT_NEAR(rows[0].gap_ns, 11544, 0.6);
  EXPECT_NEAR(rows[1].duration_ns, 5562, 0.6);
  EXPECT_NEAR(rows[1].gap_ns, 97389, 0.6);
  EXPECT_NEAR(rows[1].end_ns, 124106, 0.6);
  EXPECT_NEAR(rows[2].duration_ns, 5230, 0.6);
  EXPECT_NEAR(rows[2].gap_ns, 202399, 0.6);
  EXPECT_EQ(rows[1].longest_rank, 2);
  EXPECT_EQ(rows[2].largest_gap_rank, 2);
}

// GPU 2 is the last of all: 14548 + 7866 + 100344 + 9765 + 215983 + 5721. Behind the mean of the others it is
// by as much more than behind the mean of all as these are fewer.
TEST_F(Jitter, WhoIsLastAndFirst) {
  const RankFacts facts =
      ComputeRanks({}, std::vector<std::pair<int64_t, int64_t>>{{0, 0}}, sequences_, cohorts_, 1e6);
  ASSERT_EQ(facts.jitter.size(), 1u);
  EXPECT_EQ(facts.jitter[0].max_rank, 2);
  EXPECT_EQ(facts.jitter[0].min_rank, 3);
  EXPECT_EQ(facts.jitter[0].worst_step, 2003);
  EXPECT_NEAR(facts.jitter[0].worst_ns,
              (354227 - (124106 + 202399 + 5230)) * static_cast<double>(kGpus) / (kGpus - 1), 1);
  EXPECT_NEAR(
      facts.jitter[0].gap_excess_ns + facts.jitter[0].kernel_excess_ns + facts.jitter[0].start_excess_ns,
      facts.jitter[0].worst_ns, 1e-3);
}

}  // namespace
}  // namespace dladvisor
