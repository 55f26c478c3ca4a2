// SPDX-License-Identifier: Apache-2.0
// What evaluations between lines of steps take, by lines of their own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// Epochs of 200 steps of 1 s in MMEngine's words, each with what `between` tells behind it.
std::string EpochsOfMmengine(int epochs, const std::string& between) {
  std::string text;
  int seconds = 0;
  const auto date = [&] {
    return fmt::format("03/26 {:02}:{:02}:{:02} - mmengine - INFO - ", seconds / 3600, seconds / 60 % 60,
                       seconds % 60);
  };
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (int step = 50; step <= 200; step += 50) {
      seconds += 50;
      text += date() + fmt::format(
                           "Epoch(train)  [{}][{:4}/200]  lr: 4.7e-04  eta: 1:00:00  time: 1.0000  "
                           "data_time: 0.0100  memory: 2147  loss: 9.2\n",
                           epoch, step);
    }
    seconds += 30;
    text += date() + fmt::format(fmt::runtime(between), epoch) + "\n";
  }
  return text;
}

TEST(StepEvaluations, OfMmengineByTheirSteps) {
  const TrainingLog log = test::ReadTrainingLog(EpochsOfMmengine(
      3,
      "Epoch(val)  [{0}][  50/300]    eta: 0:00:41  time: 0.2117  data_time: 0.0130  memory: 508\n"
      "03/26 23:59:59 - mmengine - INFO - Epoch(val) [{0}][300/300]    mIoU: 0.6120  data_time: "
      "0.0082  time: 0.1000"));
  EXPECT_EQ(log.program, "MMEngine");
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_NEAR(log.evaluation_ns, 3 * 30e9, 1e6);
}

// The older words tell no time; a validation that has just begun says nothing of the others.
TEST(StepEvaluations, WhatTellsNoTimeIsNone) {
  for (const char* line : {"Epoch(val) [{}][300]  mIoU: 0.6120", "Epoch(val) [{}][300/300]  mIoU: 0.6120",
                           "Epoch(val) [{}][ 50/300]  time: 0.2117  data_time: 0.0130"})
    EXPECT_EQ(test::ReadTrainingLog(EpochsOfMmengine(3, line)).evaluations, 0) << line;
}

// Month and day without brackets: what passes between the epochs is of no iteration.
TEST(StepEvaluations, DatesOfMmengineTellWhatPassesBetweenEpochs) {
  const TrainingLog log = test::ReadTrainingLog(EpochsOfMmengine(3, "Saving checkpoint at {} epochs"));
  ASSERT_EQ(log.iterations.size(), 12u);
  EXPECT_EQ(*log.iterations[1].time_ns - *log.iterations[0].time_ns, 50'000'000'000);
  ASSERT_EQ(log.between_epochs_ns.size(), 2u);
  EXPECT_NEAR(log.between_epochs_ns[0], 30e9, 1e6);
}

TEST(StepEvaluations, OfBasicSr) {
  std::string text;
  int seconds = 0;
  const auto date = [&] {
    return fmt::format("23-05-05 {:02}:{:02}:{:02}.153 - INFO: ", seconds / 3600, seconds / 60 % 60,
                       seconds % 60);
  };
  for (int iteration = 100; iteration <= 3000; iteration += 100) {
    seconds += 60;
    text += date() + fmt::format("[epoch:  0, iter:{:8}, lr:(2.000e-04,)] l_pix: 2.9e-02 \n", iteration);
    if (iteration % 1000 != 0) continue;
    seconds += 40;
    text += date() + "# Validation # PSNR: 3.0461e+01\n";
  }
  const TrainingLog log = test::ReadTrainingLog(text);
  EXPECT_EQ(log.program, "BasicSR");
  ASSERT_EQ(log.events.size(), 3u);
  EXPECT_EQ(log.events[0].before, 10u);
  EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
}

}  // namespace
}  // namespace dladvisor
