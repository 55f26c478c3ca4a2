// SPDX-License-Identifier: Apache-2.0
// Epochs, evaluations and starts of programs whose lines of steps are known, and of MLPerf's events.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TEST(StepLines, EvaluationsByTheMeanOfTheirSteps) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 100; step += 10)
      text +=
          fmt::format("Epoch: [{}][{}/100]\tTime 1.0 (1.0)\tData 0.0 (0.0)\tLoss 2.1 (2.0)\n", epoch, step);
    text += "Test: [0/40]\tTime 4.0 (4.0)\tLoss 2.0 (2.0)\nTest: [30/40]\tTime 0.4 (0.5)\tLoss 2.0 (2.0)\n";
  }
  const TrainingLog log = ReadTrainingLog(text);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_NEAR(log.evaluation_ns, 60e9, 1);
}

TEST(StepLines, EpochsOfAllInMmEnginesLines) {
  const TrainingLog log = ReadTrainingLog(LinesOf(20, 100, 20, [](int step) {
    return fmt::format(
        "[10/20 12:23:16] trainer INFO: Epoch [1/300][{}/365]\tlr: 3e-02, time: 2.670, data_time: 2.280, "
        "loss 15.0",
        step);
  }));
  ASSERT_EQ(log.iterations.size(), 5u);
  ExpectSeconds(log, 1, 2.67);
  EXPECT_FALSE(log.timers.empty());
}

TEST(StepLines, AnEpochsFirstStepIsOne) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int step = 0; step < 100; step += 10)
      text += fmt::format("Epoch: [{}][{}/100]\tTime {} ({:.3f})\tData {} ({:.3f})\tLoss 2.1 (2.0)\n", epoch,
                          step, step == 0 ? 9.0 : 1.0, (9.0 + step) / (step + 1), step == 0 ? 8.0 : 0.0,
                          8.0 / (step + 1));
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 30u);
  EXPECT_EQ(log.iterations[10].covers, 1);
  EXPECT_EQ(log.iterations[11].covers, 10);
}

// Means that an epoch's slow first step is part of, of too few decimals for their differences.
TEST(StepLines, MeansAreWithoutTheFirstStep) {
  std::string text;
  for (int step = 0; step < 300; step += 10)
    text += fmt::format("Epoch: [0][{}/300]\tTime {} ({:.3f})\tData {} ({:.3f})\tLoss 2.1 (2.0)\n", step,
                        step == 0 ? 9.0 : 0.4, (9.0 + 0.4 * step) / (step + 1), step == 0 ? 4.0 : 0.0,
                        4.0 / (step + 1));
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 30u);
  ASSERT_EQ(log.timers.size(), 30u);
  EXPECT_NEAR(log.timers[0].ns.value_or(0), 4e9, 1e6);
  for (size_t row = 1; row < 30; ++row) {
    EXPECT_LT(log.timers[row].ns.value_or(1e9), 2e6) << row;
    EXPECT_NEAR(*log.iterations[row].elapsed_ns, 0.4e9, 0.02e9) << row;
  }
}

TEST(StepLines, OfSeveralStartsEachBeginsAnew) {
  std::string text = "AMP not enabled. Training in float32.\n";
  for (int start = 0; start < 4; ++start)
    for (int step = 0; step < 2; ++step)
      text += fmt::format(
          "2024-03-06 {:02}:00:{:02},500 train: [INFO] - Train: 0 [ {}/390 ( 0%)]  Loss: 13.42 (13.4)\n",
          10 + start, step * 20, step * 100);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.iterations.back().attempt, 3);
  ExpectSeconds(log, 7, 0.2);
  EXPECT_EQ(log.settings.at("amp"), "False");
}

TEST(Mlperf, EpochsAndEvaluations) {
  std::string text;
  for (int64_t epoch = 0, ms = 1594407138977; epoch < 4; ++epoch, ms += 70'000)
    for (const auto& [key, at] : {std::pair{"epoch_start", ms},
                                  {"epoch_stop", ms + 60'000},
                                  {"eval_start", ms + 60'000},
                                  {"eval_stop", ms + 70'000}})
      text += fmt::format(
          R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "INTERVAL_START", "key": "{}", "value": null, "metadata": {{"epoch_num": {}}}}})"
          "\n",
          at, key, epoch);
  const TrainingLog log = ReadTrainingLog(text);
  EXPECT_EQ(log.program, "MLPerf");
  ASSERT_EQ(log.iterations.size(), 4u);
  ExpectSeconds(log, 0, 60);
  EXPECT_EQ(log.evaluations, 4);
  EXPECT_NEAR(log.evaluation_ns, 40e9, 1);
  const TrainingLog old = ReadTrainingLog(
      ":::MLL 100.000 epoch_start: {\"value\": null}\n:::MLL 101.500 epoch_stop: {\"value\": null}\n"
      ":::MLL 101.600 epoch_start: {\"value\": null}\n:::MLL 103.000 epoch_stop: {\"value\": null}\n");
  ExpectSeconds(old, 0, 1.5);
}

TEST(StepLines, YolosHeaderNamesTheGpuAndItsLinesWhatTheAllocatorHolds) {
  std::string text =
      "YOLOR fafddfc torch 1.12.1+cu102 CUDA:0 (Tesla T4, 14910.375MB)\n"
      "                                 CUDA:1 (Tesla T4, 14910.375MB)\n";
  for (int epoch = 0; epoch < 4; ++epoch)
    text += fmt::format(
        "     {}/3      2.3G   0.05   0.04   0.03   0.12   40   640: 100%|####| 38/38 [00:09<00:00,  "
        "3.90it/s]\n",
        epoch);
  const Trace trace = test::ReadLog(text);
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[1].name, "Tesla T4");
  EXPECT_EQ(trace.devices[1].memory_bytes, 15634661376);
  ASSERT_FALSE(trace.training_log.memory.empty());
  EXPECT_EQ(trace.training_log.memory[0].max_reserved, 2'300'000'000);
  EXPECT_FALSE(trace.training_log.memory[0].max_allocated);
}

TEST(StepLines, WhatIsHeldFollowsFromWhatIsFree) {
  std::string text =
      "rank   0: capabilities =  7.0  ; total memory = 31.750 GB ; name = Tesla V100-SXM2-32GB\n"
      "rank   1: capabilities =  7.0  ; total memory = 31.750 GB ; name = Tesla V100-SXM2-32GB\n";
  text += LinesOf(200, 4000, 200, [](int step) {
    return fmt::format(
        "[2022-04-08 {:02}:{:02}:05,372][train_inner][INFO] - {{\"epoch\": 1, \"update\": 0.4, \"loss\": "
        "\"9.276\", "
        "\"num_updates\": \"{}\", "
        "\"gb_free\": \"23.75\"}}",
        10 + step / 6000, step / 100 % 60, step);
  });
  const Trace trace = test::ReadLog(text);
  ASSERT_EQ(trace.training_log.memory.size(), 1u);
  EXPECT_EQ(trace.training_log.memory[0].max_allocated, int64_t{8} << 30);
}

}  // namespace
}  // namespace dladvisor
