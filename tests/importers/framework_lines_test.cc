// SPDX-License-Identifier: Apache-2.0
// Lines of training programs that have words of their own: Marian, Darknet, rsl_rl, ESPnet, LitGPT.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TEST(FrameworkLines, Marian) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 9, 1, [](int i) {
    return fmt::format(
        "[2025-03-01 12:{:02}:00] Ep. 1 : Up. {},000 : Sen. 63,000 : Cost 5.9 : Time 60.21s : 20480.12 "
        "words/s : "
        "L.r. 3.0000e-04",
        i, i);
  }));
  EXPECT_EQ(log.program, "Marian");
  ASSERT_EQ(log.iterations.size(), 9u);
  EXPECT_EQ(log.iterations[8].iteration, 9000);
  EXPECT_DOUBLE_EQ(*log.iterations[8].tokens_per_second, 20480.12);
  ExpectSeconds(log, 8, 0.06);
}

// What it waits for a batch is in no time of an iteration.
TEST(FrameworkLines, Darknet) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 6, 1, [](int i) {
    return fmt::format(
        "Loaded: 2.000000 seconds\n {}: 845.123456, 855.200000 avg loss, 0.001000 rate, 5.000000 seconds, {} "
        "images, 12.3 hours left",
        i, 64 * i);
  }));
  EXPECT_EQ(log.program, "Darknet");
  ASSERT_EQ(log.iterations.size(), 6u);
  ExpectSeconds(log, 3, 7);
  ASSERT_EQ(log.timers.size(), 6u);
  EXPECT_DOUBLE_EQ(*log.timers[3].ns, 2e9);
}

TEST(FrameworkLines, BlocksOfRslRl) {
  std::string text;
  for (int i = 0; i < 5; ++i)
    text += fmt::format(
        "########\n            Learning iteration {}/1500\n\n"
        "            Computation: 95000 steps/s (collection: 0.800s, learning 0.200s)\n"
        "            Value function loss: 0.0200\n--------\n"
        "            Total timesteps: {}\n            Iteration time: 1.00s\n            Total time: "
        "{}.00s\n",
        i, 98304 * (i + 1), i + 1);
  const TrainingLog log = ReadTrainingLog(text);
  EXPECT_EQ(log.program, "rsl_rl");
  ASSERT_EQ(log.iterations.size(), 5u);
  ExpectSeconds(log, 2, 1);
  EXPECT_DOUBLE_EQ(*log.iterations[2].samples_per_second, 95000);
  ASSERT_EQ(log.timers.size(), 10u);
  EXPECT_EQ(log.timers[0].name, "collection");
  EXPECT_DOUBLE_EQ(*log.timers[0].ns, 0.8e9);
}

TEST(FrameworkLines, Espnet) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 8, 1, [](int i) {
    return fmt::format(
        "[host] 2025-03-01 12:{:02}:00,250 (trainer:732) INFO: 1epoch:train:{}-{}batch: iter_time=0.030, "
        "forward_time=0.145, loss=66.1, backward_time=0.212, optim_step_time=0.045, train_time=0.480",
        5 * i, 500 * (i - 1) + 1, 500 * i);
  }));
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.iterations[7].iteration, 4000);
  ExpectSeconds(log, 7, 0.6);
  ASSERT_FALSE(log.timers.empty());
  EXPECT_DOUBLE_EQ(*log.timers[0].ns, 0.03e9);
}

// The place of a loss of validation is no evaluation.
TEST(FrameworkLines, LitGpt) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 20, 1, [](int i) {
    return fmt::format("Epoch 1 | iter {} step {} | loss train: 1.9{}, val: n/a | iter time: 312.50 ms{}", i,
                       i / 4, i % 10, i % 4 == 0 ? " (step)" : "");
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 7, 0.3125);
}

// What is behind the last epoch is the test of what was trained.
TEST(FrameworkLines, ASingleBarOfATestAtTheEnd) {
  std::string text;
  for (int epoch = 1; epoch <= 3; ++epoch)
    text += fmt::format("Training Epoch {}: 100%|####| 28/28 [00:59<00:00,  2.0s/it, loss=0.3]\n", epoch);
  const TrainingLog log = ReadTrainingLog(text + "Testing: 100%|####| 80/80 [10:00<00:00,  7.5s/it]\n");
  EXPECT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.evaluations, 0);
}

}  // namespace
}  // namespace dladvisor
