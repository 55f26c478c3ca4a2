// SPDX-License-Identifier: Apache-2.0
// Logs of reinforcement learning, which count steps of environments.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TEST(Experience, CleanRlPrintsARate) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 20, 1, [](int update) {
    return fmt::format("global_step={}, episodic_return=[{}.]\nSPS: 3300", update * 2048, update);
  }));
  EXPECT_EQ(log.program, "CleanRL");
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.iterations[5].samples_per_second, 3300);
  EXPECT_EQ(log.settings.at("plays"), "True");
}

TEST(Experience, AnUpdateTakesItsStepsAtTheRate) {
  const TrainingLog log = ReadTrainingLog(LinesOf(0, 100, 10, [](int update) {
    return fmt::format(
        "Updates {}, num timesteps {}, FPS 1600 \n Last 10 training episodes: mean/median "
        "reward 21.3/21.0, min/max reward 20.0/21.0\n",
        update, (update + 1) * 640);
  }));
  ASSERT_EQ(log.iterations.size(), 11u);
  EXPECT_EQ(log.iterations[2].covers, 10);
  ExpectSeconds(log, 2, 0.4);
  ExpectSeconds(ReadTrainingLog(LinesOf(1, 10, 1,
                                        [](int update) {
                                          return fmt::format(
                                              "U {} | F {:06} | FPS 4096 | D {} | rR:μσmM 0.6 0.4 0.0 0.9",
                                              update, update * 2048, update / 2);
                                        })),
                3, 0.5);
}

TEST(Experience, RlGamesTellsCollectingFromTheWhole) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 12, 1, [](int epoch) {
    return fmt::format(
        "fps step: 100000 fps step and policy inference: 80000 fps total: 40000 epoch: {}/500 frames: {}",
        epoch, epoch * 40000);
  }));
  EXPECT_EQ(log.program, "rl_games");
  ExpectSeconds(log, 4, 1);
  ASSERT_EQ(log.timers.size(), 22u);
  EXPECT_EQ(log.timers[2].name, "collection");
  EXPECT_DOUBLE_EQ(log.timers[2].ns.value_or(0), 0.5e9);
  EXPECT_DOUBLE_EQ(log.timers[3].ns.value_or(0), 0.5e9);
}

TEST(Experience, RllibPrintsABlock) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 6, 1, [](int iteration) {
    return fmt::format(
        "Result for PPO_CartPole-v1_8a3f1_00000:\n  date: 2023-06-01_12-00-10\n  iterations_since_restore: "
        "{}\n"
        "  time_this_iter_s: 12.5\n  timers:\n    learn_time_ms: 7500.0\n    sample_time_ms: 4500.0\n"
        "  training_iteration: {}\n",
        iteration, iteration);
  }));
  EXPECT_EQ(log.program, "RLlib");
  ASSERT_EQ(log.iterations.size(), 6u);
  ExpectSeconds(log, 3, 12.5);
  EXPECT_EQ(log.timers[0].name, "learning");
  EXPECT_DOUBLE_EQ(log.timers[0].ns.value_or(0), 7.5e9);
  EXPECT_EQ(log.timers[1].name, "collection");
  EXPECT_DOUBLE_EQ(log.timers[1].ns.value_or(0), 4.5e9);
}

}  // namespace
}  // namespace dladvisor
