// SPDX-License-Identifier: Apache-2.0
// Lines that each rank of a job prints of its own steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::ReadTrainingLog;

// `form` takes rank, step, and the milliseconds that the rank computes and that it waits for the others.
std::string LinesOfRanks(const char* form, int slowest) {
  std::string text;
  for (int step = 1; step <= 20; ++step)
    for (int rank = 0; rank < 4; ++rank) {
      const double own = rank == slowest ? 750 : 500 + rank;
      text += fmt::format(fmt::runtime(form), rank, step, own, 760 - own) + "\n";
    }
  return text;
}

TEST(RankLines, TheSlowestByWhatEachComputes) {
  for (const char* form : {"[rank{}]: step {} loss 2.1 compute {:.1f} ms allreduce {:.1f} ms",
                           "[default{}]:step {} | compute {:.1f} ms | allreduce {:.1f} ms | total 760.0 ms",
                           "{}: step {} loss 2.1 | fwd_bwd {:.1f} ms | nccl wait {:.1f} ms"}) {
    SCOPED_TRACE(form);
    const TrainingLog log = ReadTrainingLog(LinesOfRanks(form, 2));
    ASSERT_EQ(log.iterations.size(), 20u);
    ExpectSeconds(log, 7, 0.76);
    ASSERT_EQ(log.extremes.size(), 20u);
    EXPECT_EQ(log.extremes[7].min_rank, 2);
    EXPECT_DOUBLE_EQ(log.extremes[7].min, 1 / 0.75);
    EXPECT_EQ(log.extremes[7].max_rank, 0);
    EXPECT_EQ(log.settings.at("world_size"), "4");
  }
}

TEST(RankLines, EpochsOfWhichEachRankTells) {
  std::string text;
  for (int epoch = 1; epoch <= 10; ++epoch)
    for (int gpu = 0; gpu < 2; ++gpu)
      text +=
          fmt::format("[GPU{}] Epoch {} | Batchsize: 32 | Steps: 64 | Time: 8.{}s\n", gpu, epoch, 1 + gpu);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_TRUE(log.of_epochs);
  ExpectSeconds(log, 3, 8.2);
}

TEST(RankLines, ASingleRankTellsNothingOfOthers) {
  std::string text;
  for (int step = 1; step <= 20; ++step)
    text += fmt::format("[rank0]: step {} loss 2.1 compute 500.0 ms, 510 ms/step\n", step);
  EXPECT_TRUE(ReadTrainingLog(text).extremes.empty());
}

}  // namespace
}  // namespace dladvisor
