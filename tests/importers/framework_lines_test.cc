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

TEST(FrameworkLines, Nanotron) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 9, 1, [](int i) {
    return fmt::format(
        "09/12/2025 10:10:{:02} [INFO|DP=0|PP=0|TP=0|node]: iteration: {} / 500 | consumed_tokens: 10.5M | "
        "elapsed_time_per_iteration_ms: {} | tokens_per_sec: 520K | tokens_per_sec_per_gpu: 8.1K | "
        "global_batch_size: 512 | lm_loss: 10.9 | model_tflops_per_gpu: 73.4 | hardware_tflops_per_gpu: 80.1",
        i * 4, i, i % 2 == 0 ? "3.95K" : "950");
  }));
  EXPECT_EQ(log.program, "nanotron");
  ASSERT_EQ(log.iterations.size(), 9u);
  ExpectSeconds(log, 1, 3.95);
  ExpectSeconds(log, 2, 0.95);
  EXPECT_DOUBLE_EQ(log.iterations[1].tokens_per_second.value_or(0), 520e3);
  EXPECT_DOUBLE_EQ(log.iterations[1].tflops_per_gpu.value_or(0), 73.4);
}

// The lines of its block stand without an indent.
TEST(FrameworkLines, DeepSpeedChat) {
  const TrainingLog log = ReadTrainingLog(LinesOf(0, 9, 1, [](int i) {
    return fmt::format(
        "Epoch: 0 | Step: {} | PPO Epoch: 1 | Actor Loss: 0.01 | Critic Loss: 0.02 | Unsupervised Loss: 0.0\n"
        "End-to-End => Latency: 2.50s, TFLOPs: 3.29, Samples/sec: 1.57, Time/seq 0.64s, Batch Size: 4\n"
        "Generation => Latency: 1.75s, Per-token Latency 6.92 ms, TFLOPs: 0.85\n"
        "Training   => Latency: 0.75s, TFLOPs: 8.85\nAverage reward score: 0.0121 | EMA reward score: -0.1",
        i);
  }));
  EXPECT_EQ(log.program, "DeepSpeed-Chat");
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 4, 2.5);
  ASSERT_EQ(log.timers.size(), 20u);
  EXPECT_EQ(log.timers[0].name, "gen");
  EXPECT_DOUBLE_EQ(log.timers[0].ns.value_or(0), 1.75e9);
}

TEST(FrameworkLines, RayTrain) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 9, 1, [](int i) {
    return fmt::format(
        "Training finished iteration {} at 2025-05-01 10:0{}:00. Total running time: {}min 3s\n"
        "╭───────────────────╮\n│ Training result   │\n├───────────────────┤\n"
        "│ time_this_iter_s      58.25 │\n│ time_total_s   {}.1 │\n│ loss   1.5 │\n╰───────────────────╯",
        i, i, i, i * 58);
  }));
  EXPECT_EQ(log.program, "Ray Train");
  ASSERT_EQ(log.iterations.size(), 9u);
  ExpectSeconds(log, 3, 58.25);
}

// Of a bar with a title, as Levanter's.
TEST(FrameworkLines, BarsThatTqdmLoggableWrites) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 200, 10, [](int i) {
    return fmt::format(
        "Progress on:train {}.0it/10.0kit rate:2.0it/s remaining:1:23:10 elapsed:{:02}:{:02} "
        "postfix:loss=3.125",
        i, i / 2 / 60, i / 2 % 60);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.iterations[0].planned, 10000);
  ExpectSeconds(log, 1, 0.5);
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
