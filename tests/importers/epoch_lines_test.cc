// SPDX-License-Identifier: Apache-2.0
// Logs that many write by hand: epochs with their times, what is left of an epoch; and texts in which lines
// of several programs stand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;
using testing::HasSubstr;
using testing::Not;

using test::LogOf;
using test::Seconds;

// Those of batches have no times, and what a line of an epoch says of its validation is none of its own.
TEST(EpochLines, WithTheirTimes) {
  const TrainingLog log = LogOf(
      "Epoch 1/9, Batch 10/164, Loss: 7.4\nEpoch 1/9, Batch 20/164, Loss: 7.1\n"
      "Epoch 1/9, Loss: 5.6, Val Loss: 4.3, Time: 214.51s\n"
      "Epoch 2/9, Batch 10/164, Loss: 4.4\n"
      "Epoch 2/9, Loss: 3.6, Val Loss: 4.0, Time: 215.06s\nEpoch 2: saving model to best.pt\n");
  EXPECT_TRUE(log.of_epochs);
  EXPECT_EQ(log.program, "a program that prints epochs");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].iteration, 2);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 214.51);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 215.06);
}

TEST(EpochLines, InOtherWordsAndUnits) {
  EXPECT_DOUBLE_EQ(Seconds(LogOf("epoch 0 took 12.5 s\nepoch 1 took 11.5 sec\n").iterations[1]), 11.5);
  EXPECT_DOUBLE_EQ(
      Seconds(LogOf("Epoch: 01 | Epoch Time: 1m 5s\nEpoch: 02 | Epoch Time: 1m 3s\n").iterations[0]), 65);
  EXPECT_DOUBLE_EQ(Seconds(LogOf("[Epoch 1] time: 250 ms\n[Epoch 2] time: 240 ms\n").iterations[0]), 0.25);
}

// From the first line of one epoch to that of the next, whatever stands between.
TEST(EpochLines, ByTheTimesOfTheLines) {
  const TrainingLog log = LogOf(
      "2025-09-16 12:00:00,500 - INFO - Epoch 1/3\n2025-09-16 12:00:08,000 - INFO - Epoch 1: loss 2.5\n"
      "2025-09-16 12:00:10,500 - INFO - Epoch 2/3\n2025-09-16 12:00:18,000 - INFO - Epoch 2: loss 1.5\n"
      "2025-09-16 12:00:21,500 - INFO - Epoch 3/3\n");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 10);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 11);
}

// An evaluation after every third epoch, whose result stands behind the epoch's number or alone.
TEST(EpochLines, EvaluationsBetweenEpochs) {
  for (const bool alone : {false, true}) {
    std::string text;
    int second = 0;
    for (int epoch = 1; epoch <= 12; ++epoch) {
      const auto stamp = [&] {
        return fmt::format("2025-03-02 05:{:02}:{:02},500 - INFO - ", second / 60, second % 60);
      };
      text += stamp() + fmt::format("##### Epoch {} #####\n", epoch);
      second += 60;
      text += stamp() + fmt::format("Epoch {} - Average Train Loss: 0.5\n", epoch);
      if (epoch % 3 != 0) continue;
      second += 20;
      text += stamp() + (alone ? std::string() : fmt::format("Epoch {} - ", epoch)) +
              "Validation BLEU: BLEU-1 71.65, BLEU-2 65.76\n";
    }
    const TrainingLog log = LogOf(text);
    ASSERT_EQ(log.iterations.size(), 11u);
    EXPECT_DOUBLE_EQ(Seconds(log.iterations[2]), 80);
    ASSERT_GE(log.events.size(), 3u);
    EXPECT_EQ(log.events[0].kind, TrainingEventKind::kEvaluation);
    EXPECT_EQ(log.events[0].before, 2u);
  }
}

// "Cost" is a time, too, and that of a validation is its own.
TEST(EpochLines, CostOfTrainingAndValidation) {
  const TrainingLog log = LogOf(
      "04-07 08:51:40, Epoch 55 Train, reg:0.13, mae:9.98, mse:35.26, Cost: 670.5 sec\n"
      "04-07 08:55:08, Epoch 55 Val, MAE: 17.69, MSE: 64.95 Cost 207.5 sec\n"
      "04-07 09:06:20, Epoch 56 Train, reg:0.13, mae:8.08, mse:26.80, Cost: 672.5 sec\n"
      "04-07 09:09:48, Epoch 56 Val, MAE: 16.69, MSE: 63.95 Cost 208.5 sec\n");
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 672.5);
  EXPECT_EQ(log.evaluations, 2);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 416e9);
}

TEST(EpochLines, DatesWithDots) {
  const TrainingLog log = LogOf(
      "2023.01.18 17:14:14 [Epoch: 01] Train acc: 0.8006 | loss: 11.1589\n"
      "2023.01.18 17:57:17 [Epoch: 02] Train acc: 0.8654 | loss: 7.7687\n"
      "2023.01.18 18:40:17 [Epoch: 03] Train acc: 0.8754 | loss: 6.7687\n");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 43 * 60 + 3);
}

TEST(EpochLines, WhatIsLeftOfAnEpoch) {
  const TrainingLog log = LogOf(
      "Epoch:[1/1](600/60600), loss: 2.5, lr: 0.0005, epoch_time: 100.0min\n"
      "Epoch:[1/1](1200/60600), loss: 2.4, lr: 0.0005, epoch_time: 99.0min\n"
      "Epoch:[1/1](60000/60600), loss: 2.3, lr: 0.0005, epoch_time: 1.0min\n");
  EXPECT_EQ(log.program, "MiniMind");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 0.1);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.1);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "whole minutes say nothing of so few";
}

// Of an epoch the second line with a time, which has the loss of a validation alone.
TEST(EpochLines, TimesOfValidationByTheirLoss) {
  std::string text;
  for (int epoch = 1; epoch <= 5; ++epoch)
    text += fmt::format(
        "Epoch    {0}/50, time: 30.00 s, training_loss: 0.{0}\nEpoch    {0}/50, time: 8.50 s, val_loss: "
        "0.{0}\n",
        epoch);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 5u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[3]), 30);
  EXPECT_EQ(log.evaluations, 5);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 42.5e9);
}

// Of YOLO and of what is made from PyTorch's ImageNet example, some count from 0 and some from 1.
TEST(EpochLines, CountedFromOne) {
  for (const int first : {0, 1}) {
    std::string bars, steps;
    for (int epoch = first; epoch < first + 4; ++epoch) {
      const std::string now = std::to_string(epoch);
      bars += "      " + now + "/" + std::to_string(first + 3) +
              "      3.01G      1.2      16        640: 100%|####| 120/120 [00:30<00:00,  4.00it/s]\n";
      for (int step = first; step < first + 5; ++step)
        steps +=
            "Epoch: [" + now + "][" + std::to_string(step) + "/5] Time 1.0 (1.0) Data 0.1 (0.1) Loss 0.5\n";
    }
    const TrainingLog yolo = LogOf(bars), imagenet = LogOf(steps);
    ASSERT_EQ(yolo.iterations.size(), 4u);
    EXPECT_EQ(yolo.iterations[0].iteration, 120);
    EXPECT_EQ(yolo.iterations[3].iteration, 480);
    EXPECT_EQ(yolo.iterations[3].planned, 480);
    ASSERT_EQ(imagenet.iterations.size(), 20u);
    EXPECT_EQ(imagenet.iterations[0].iteration, 1);
    EXPECT_EQ(imagenet.iterations.back().iteration, 20);
  }
}

TEST(EpochLines, StepsAndTheirLosses) {
  const TrainingLog log = LogOf(
      "2026-02-03 13:24:36.900 | INFO | main:172 - Step 100, Loss: 6.2\n"
      "2026-02-03 13:24:40.200 | INFO | main:172 - Step 200, Loss: 6.1\n"
      "2026-02-03 13:24:43.000 | INFO | main:176 - Epoch 1 completed. Average loss: 6.1\n"
      "2026-02-03 13:24:43.600 | INFO | main:172 - Step 300, Loss: 6.0\n");
  EXPECT_EQ(log.program, "a program that prints steps");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[2].iteration, 300);
  EXPECT_NEAR(Seconds(log.iterations[2]), 0.034, 1e-9);
  EXPECT_DOUBLE_EQ(*log.iterations[2].loss, 6.0);
}

TEST(EpochLines, OfSeveralProgramsTheOneThatSaysMost) {
  const TrainingLog log = LogOf(
      "print(f'iter 10: loss 9.5, time 135.20ms, mfu 12.50%')\n"
      "step:0/1480 val_loss:10.8298 train_time:0ms step_avg:0.04ms\n"
      "step:1/1480 train_time:344ms step_avg:344.19ms\nstep:2/1480 train_time:568ms step_avg:283.88ms\n");
  EXPECT_EQ(log.program, "modded-nanogpt");
  ASSERT_EQ(log.iterations.size(), 2u) << "the first has a total alone";
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 0.344);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.224);
}

// Fences of texts that a model wrote do not make a log a document.
TEST(EpochLines, FencesAmongTheLines) {
  const std::string line = "iter 10: loss 9.5, time 135.20ms, mfu 12.50%\n";
  EXPECT_EQ(LogOf(line + "iter 20: loss 9.5, time 135.20ms, mfu 12.50%\n```python\n" +
                  "iter 30: loss 9.5, time 135.20ms, mfu 12.50%\n")
                .iterations.size(),
            3u);
}

TEST(EpochLines, ATextOfOtherThings) {
  try {
    LogOf("Epoch: [1/9] started\nsome words\n");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_THAT(e.reason(), HasSubstr("no line is of a log"));
  }
}

TEST(EpochLines, TimesWithoutAUnitAndSeveralTimes) {
  const auto first = [](const char* form) {
    std::string text;
    for (int epoch = 1; epoch <= 3; ++epoch) text += fmt::format(fmt::runtime(form), epoch) + "\n";
    const TrainingLog log = LogOf(text);
    return log.iterations.size() == 3 ? Seconds(log.iterations[0]) : 0;
  };
  EXPECT_DOUBLE_EQ(first("Train epoch {}, total time 21.53, accuracy:11.00, loss 2.0"), 21.53);
  EXPECT_DOUBLE_EQ(first("epoch: {} loss: 2.0 epoch_time=21.53"), 21.53);
  EXPECT_DOUBLE_EQ(first("Epoch {} loss 2.0 data time: 2.1s, epoch time: 30.5s"), 30.5);
  EXPECT_DOUBLE_EQ(first("Epoch {} loss 2.0 train time 1.5 min"), 90);
}

TEST(EpochLines, TimeSinceTheStartOnALineOfItsOwn) {
  const auto log = [](double each, double growth) {
    std::string text;
    for (int epoch = 1; epoch <= 8; ++epoch) {
      for (int batch = 0; batch < 100; batch += 50)
        text += fmt::format("Epoch: {:03}/008 | Batch {:04}/0100 | Loss: 3.8\n", epoch, batch);
      text += fmt::format("Time elapsed: {:.2f} min\n", each + growth * epoch);
    }
    return LogOf(text);
  };
  const auto timed = [](const TrainingLog& of) {
    return std::ranges::count_if(of.iterations,
                                 [](const TrainingIteration& row) { return row.elapsed_ns.has_value(); });
  };
  EXPECT_EQ(timed(log(0, 5)), 7);
  EXPECT_EQ(timed(log(5, 0)), 0) << "of each epoch, or of nothing that is known";
}

// What grows by as much with each epoch is the time since the start, also where a line stands for many.
TEST(EpochLines, TimesSinceTheStartOfEverySoManyEpochs) {
  TrainingLog log = LogOf(
      "Epoch: 0 - Execution time: 11.5 seconds\nEpoch: 1000 - Execution time: 61.5 seconds\n"
      "Epoch: 2000 - Execution time: 112.5 seconds\nEpoch: 3000 - Execution time: 161.5 seconds\n"
      "Epoch: 4000 - Execution time: 212.5 seconds\nEpoch: 5000 - Execution time: 261.5 seconds\n");
  ASSERT_EQ(log.iterations.size(), 6u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 11.5);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.05);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[5]), 0.049);
  log = LogOf(
      "Epoch: 1000 - Execution time: 55.5 seconds\nEpoch: 2000 - Execution time: 105.5 seconds\n"
      "Epoch: 3000 - Execution time: 155.5 seconds\nEpoch: 4000 - Execution time: 205.5 seconds\n"
      "Epoch: 5000 - Execution time: 255.5 seconds\n");
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 0.0555);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[4]), 0.05);
  // Of each epoch itself, though the later ones take longer.
  log = LogOf(
      "Epoch: 10 - Execution time: 50.5 seconds\nEpoch: 20 - Execution time: 51.5 seconds\n"
      "Epoch: 30 - Execution time: 52.5 seconds\nEpoch: 40 - Execution time: 53.5 seconds\n"
      "Epoch: 50 - Execution time: 54.5 seconds\n");
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[4]), 54.5);
}

TEST(EpochLines, NumbersInBracketsAndTimesWithoutUnit) {
  const TrainingLog affordance = ReadTrainingLog(LinesOf(0, 9, 1, [](int epoch) {
    return fmt::format("Epoch({}) begin training........\nTrain({}), loss: 2.29, time: 415 s", epoch, epoch);
  }));
  EXPECT_TRUE(affordance.of_epochs);
  ExpectSeconds(affordance, 3, 415);
  const TrainingLog mxnet = ReadTrainingLog(
      LinesOf(0, 9, 1, [](int epoch) { return fmt::format("Epoch[{}] Time cost=106.624", epoch); }));
  ExpectSeconds(mxnet, 3, 106.624);
}

}  // namespace
}  // namespace dladvisor
