// SPDX-License-Identifier: Apache-2.0
// Logs that many write by hand: epochs with their times, progress bars, what is left of an epoch; and texts
// in which lines of several programs stand.

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

TrainingLog LogOf(const std::string& text) { return test::ReadLog(text).training_log; }

double Seconds(const TrainingIteration& row) { return row.elapsed_ns.value_or(0) / 1e9; }

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

TEST(EpochLines, BarsOfTrainingAndValidation) {
  const TrainingLog log = LogOf(
      "2025-09-16 12:03:31,009 - INFO - Epoch 1/2\n"
      "Training:  33%|###3      | 1/3 [00:00<00:00,  4.00it/s]\r"
      "Training: 100%|##########| 3/3 [00:00<00:00, 10.00it/s]2025-09-16 12:03:31,659 - INFO - Loss: 1.3\n"
      "Validation: 100%|##########| 50/50 [00:01<00:00, 50.00it/s]\n"
      "2025-09-16 12:03:33,520 - INFO - Epoch 2/2\n"
      "Training: 100%|##########| 3/3 [00:00<00:00, 20.00it/s]\n"
      "Validation: 100%|##########| 50/50 [00:01<00:00, 25.00it/s]\n");
  EXPECT_EQ(log.program, "a program with a progress bar");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].iteration, 6);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 0.1);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.05);
  EXPECT_EQ(log.evaluations, 2);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 3e9);
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

// Also where its title names the epoch, and several are evaluated behind one.
TEST(EpochLines, BarsOfSeveralEvaluations) {
  std::string text;
  for (const int epoch : {1, 2})
    text += fmt::format(
        "Epoch {0}/2 train:  50%|#####     | 50/100 [00:01<00:01, 50.00it/s]\n"
        "Epoch {0}/2 train: 100%|##########| 100/100 [00:02<00:00, 50.00it/s]\n"
        "Epoch {0}/2 val: 100%|##########| 50/50 [00:01<00:00, 50.00it/s]\n"
        "[Eval] Best Model at Epoch {0}: 100%|##########| 60/60 [04:00<00:00,  3.00s/it]\r"
        "[Eval] Best Model at Epoch {0}: 100%|##########| 60/60 [04:00<00:00,  4.00s/it]\n",
        epoch);
  const TrainingLog log = LogOf(text);
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.02);
  EXPECT_EQ(log.evaluations, 4);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 482e9);
}

// A bar that names training, or a loss, and no other.
TEST(EpochLines, OneBarOfTheWholeTraining) {
  const std::string head = "\x1b[36m(TaskRunner pid=7)\x1b[0m ";
  const TrainingLog named =
      LogOf(head + "Training Progress:   0%|          | 1/900 [01:00<99:58:54, 60.00s/it]\n" + head +
            "Training Progress:   0%|          | 2/900 [02:04<99:18:08, 62.00s/it]\n");
  EXPECT_EQ(named.program, "a program with a progress bar");
  ASSERT_EQ(named.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(named.iterations[1]), 64);
  const TrainingLog loss = LogOf(
      "steps:   2%|2  | 30/900 [00:30<15:00, 1.00s/it, avr_loss=0.09]\r"
      "steps:   7%|7  | 60/900 [01:30<15:00, 2.00s/it, avr_loss=0.08]\n");
  ASSERT_EQ(loss.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(loss.iterations[1]), 2);
  EXPECT_TRUE(LogOf("Map:   2%|2  | 30/900 [00:30<15:00, 1.00s/it]\rMap: 7%|7 | 60/900 [01:30<15:00, "
                    "2.00s/it]\n")
                  .empty());
}

// Before it counted steps, Keras counted samples.
TEST(EpochLines, KerasThatCountsSamples) {
  const TrainingLog log = LogOf(
      "Train on 58 samples, validate on 26 samples\nEpoch 1/3\n"
      "58/58 [==============================] - 0s 7ms/step - loss: 1.25 - val_loss: 1.0\nEpoch 2/3\n"
      "58/58 [==============================] - 0s 150us/step - loss: 1.20 - val_loss: 1.0\nEpoch 3/3\n"
      "58/58 [==============================] - 0s 100us/step - loss: 1.10 - val_loss: 1.0\n");
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[2].iteration, 3);
  EXPECT_EQ(log.iterations[2].covers, 1);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[2]), 0.0058);
}

// "800/800 [====] - 3s 4ms/step - loss: 0.5" for each epoch of a fold.
std::string KerasFold(int samples, int epochs, const char* unit) {
  std::string text = "Train on " + std::to_string(samples) + " samples, validate on 200 samples\n";
  const std::string all = std::to_string(samples);
  for (int epoch = 1; epoch <= epochs; ++epoch)
    text += "Epoch " + std::to_string(epoch) + "/" + std::to_string(epochs) + "\n" + all + "/" + all +
            " [==============================] - 3s 4ms/" + unit + " - loss: 0.5 - val_loss: 0.4\n";
  return text;
}

TEST(EpochLines, FoldsOfKerasThatCountTheirOwnSamples) {
  for (const char* unit : {"step", "sample"})
    for (const auto& [first, second] : {std::pair{800, 801}, {801, 800}, {500, 700}}) {
      const TrainingLog log = LogOf(KerasFold(first, 2, unit) + KerasFold(second, 3, unit));
      EXPECT_TRUE(log.of_epochs);
      ASSERT_EQ(log.iterations.size(), 5u) << first;
      EXPECT_EQ(log.iterations[2].iteration, 1);
      EXPECT_EQ(log.iterations[2].attempt, 1);
      EXPECT_EQ(log.iterations[4].iteration, 3);
      EXPECT_DOUBLE_EQ(Seconds(log.iterations[4]), 0.004 * second);
    }
  EXPECT_THROW(LogOf("60000/60000 [====] - 5s 81us/sample\n"), Error);
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

TEST(EpochLines, StepsWithoutTimesByTheTimesOfTheLines) {
  const TrainingLog log = LogOf(
      "2024-10-10 22:34:03.000 | INFO | main:1 - Ep 1 (Step 000000): Train loss 10.3, Val loss 10.0\n"
      "2024-10-10 22:34:04.500 | INFO | main:1 - Ep 1 (Step 000005): Train loss 8.9, Val loss 8.7\n"
      "2024-10-10 22:34:06.500 | INFO | main:1 - Ep 1 (Step 000010): Train loss 8.4, Val loss 8.3\n");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[1].iteration, 6) << "counted from 0";
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.3);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[2]), 0.4);
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

TEST(EpochLines, KerasInOneLineForAnEpoch) {
  const TrainingLog log = LogOf(
      "Epoch 1/3\n19/19 - 38s - loss: 0.3384 - accuracy: 0.3406\nEpoch 2/3\n19/19 - 19s - loss: 0.2871\n"
      "Epoch 3/3\n19/19 - 4s - loss: 0.2450\n");
  EXPECT_EQ(log.program, "Keras");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[1].iteration, 38);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 2);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 1);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "four rounded seconds are too rough";
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

TEST(EpochLines, MaxText) {
  const TrainingLog log = LogOf(
      "I0811 21:54:55.5 metric_logger.py:226] completed step: 1, seconds: 0.631, TFLOP/s/device: 5688.282, "
      "Tokens/s/device: 311629.521, total_weights: 1572864, loss: 12.979\n"
      "I0811 21:55:06.1 metric_logger.py:226] completed step: 2, seconds: 10.228, TFLOP/s/device: 350.869, "
      "Tokens/s/device: 19222.175, total_weights: 1572864, loss: 12.980\n");
  EXPECT_EQ(log.program, "MaxText");
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 10.228);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tflops_per_gpu, 350.869);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 12.98);
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

// Each program's own line, with the time that it prints or that of the line.
TEST(StepLines, FormsThatNameTheirStepsInOtherWords) {
  const auto times = [](const std::string& text) {
    std::vector<std::pair<int64_t, double>> rows;
    const TrainingLog log = test::ReadLog(text).training_log;
    for (const TrainingIteration& row : log.iterations)
      if (row.elapsed_ns) rows.emplace_back(row.iteration, *row.elapsed_ns / 1e6);
    return rows;
  };
  using testing::ElementsAre;
  using testing::Pair;
  EXPECT_THAT(
      times("23-05-05 21:26:00.000 - INFO: [epoch:  0, iter:   1,000, lr:(2.000e-04,)] l_pix: 2.9e+05\n"
            "23-05-05 21:27:10.000 - INFO: [epoch:  0, iter:   1,100, lr:(2.000e-04,)] l_pix: 1.1e+05\n"
            "23-05-05 21:28:30.000 - INFO: [epoch:  0, iter:   1,200, lr:(2.000e-04,)] l_pix: 6.1e+04\n"),
      ElementsAre(Pair(1100, 700), Pair(1200, 800)));
  EXPECT_THAT(times("2023-10-17 08:50:43,000 INFO: Iters: 10/20000 || Lr: 0.01 || Task Loss: 2.5\n"
                    "2023-10-17 08:50:48,500 INFO: Iters: 20/20000 || Lr: 0.01 || Task Loss: 2.3\n"
                    "2023-10-17 08:50:53,500 INFO: Iters: 30/20000 || Lr: 0.01 || Task Loss: 2.6\n"),
              ElementsAre(Pair(20, 550), Pair(30, 500)));
  EXPECT_THAT(
      times("04:51:12.1 [I] Progress on: 900it/200kit rate:1.4it/s remaining:36:56 elapsed:10:09 postfix:-\n"
            "04:51:22.1 [I] Progress on: 12.8kit/200kit rate:2.0it/s remaining:36:56 elapsed:2:48:09 "
            "postfix:-\n"
            "04:51:32.1 [I] Progress on: 12.9kit/200kit rate:2.5s/it remaining:36:56 elapsed:2:48:19 "
            "postfix:-\n"),
      ElementsAre(Pair(900, 1000 / 1.4), Pair(12800, 500), Pair(12900, 2500)));
  EXPECT_THAT(times("[fold_0] 001/200:  50%|##  | 2/4 [00:03<00:03, 1.42s/it, loss=0.9]\r"
                    "[fold_0] 001/200: 100%|####| 4/4 [00:07<00:00, 1.50s/it, loss=0.8]\n"
                    "[fold_0] 002/200: 100%|####| 4/4 [00:07<00:00, 1.25s/it, loss=0.7]\n"),
              ElementsAre(Pair(4, 1500), Pair(8, 1250)));
  EXPECT_THAT(times("- Train | Epoch 1 | 143/573 | 1.25 it/sec | Loss 0.0952 | Reco 0.0920\n"
                    "- Valid | Epoch 1 | 1/3 | 0.29 it/sec | Loss 0.1287 | Reco 0.1287\n"
                    "- Train | Epoch 2 | 143/573 | 2.00 sec/it | Loss 0.0972 | Reco 0.0940\n"),
              ElementsAre(Pair(143, 800), Pair(716, 2000)));
  EXPECT_THAT(times("Epoch 1/100 [38.7s] | LR: 3.8e-06 | Train Loss: 2.72 | Val Loss: 1.23\n"
                    "Epoch 2/100 [34.5s] | LR: 7.1e-06 | Train Loss: 2.77 | Val Loss: 1.20\n"),
              ElementsAre(Pair(1, 38700), Pair(2, 34500)));
  EXPECT_THAT(times("Epoch: [0/100]  [   0/1562]  eta: 3:32:02  loss: 10.7 (10.7)  time: 8.5  data: 4.4  max "
                    "mem: 11163\n"
                    "Epoch: [0/100]  [  10/1562]  eta: 0:30:15  loss: 10.8 (10.8)  time: 0.5  data: 0.0  max "
                    "mem: 11482\n"),
              ElementsAre(Pair(1, 8500), Pair(11, 500)));
}

TEST(StepLines, TokensPerSecondOfStepsWithoutTimes) {
  const TrainingLog log = test::ReadLog(
                              "step   710 | loss 4.3713 | lr 2.99e-04 | 414 tok/s\n"
                              "step   720 | loss 4.4358 | lr 2.99e-04 | 457 tok/s\n")
                              .training_log;
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].tokens_per_second, 457);
}

TEST(TrainingLogImporter, NamesWhatOtherProfilersPrint) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      test::ReadLog(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_THAT(refusal("\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Time (%)  Total Time (ns)\n"),
              HasSubstr("tables that nsys stats has printed"));
  EXPECT_THAT(refusal("Start (ns),Duration (ns),CorrId,GrdX,Name\n310086272,149853,129,1,gemm\n"),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("Processing [a.sqlite] with [/opt/nsys/reports/osrt_sum.py]... \n"),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("==18148== NVPROF is profiling process 18148, command: python train.py\n"),
              HasSubstr("the output of nvprof"));
  EXPECT_THAT(refusal("Epoch [1/50]\nEpoch [2/50]\n"), Not(HasSubstr("the output of nvprof")));
}

// What a checkpoint manager says of its steps is no line of OLMo.
TEST(StepLines, StepsOfOthersAreNotThoseOfOlmo) {
  const std::string save =
      "2026-01-05 05:47:42.413 [process=0][thread=MainThread][step=1000] Starting CheckpointManager Save\n"
      "2026-01-05 06:14:01.892 [process=0][thread=MainThread][step=2000] Starting CheckpointManager Save\n";
  EXPECT_THROW(test::ReadLog(save + save), Error);
}

TEST(StepLines, TimeBetweenEpochsIsOfNoIteration) {
  const auto line = [](const char* time, int epoch, int step) {
    return fmt::format(
        "2021-09-03 20:{} | INFO | epoch: {}/3, iter: {}/40, mem: 1491Mb, iter_time: 0.500s, "
        "data_time: 0.002s, total_loss: 10.7, lr: 7.0e-06, size: 640\n",
        time, epoch, step);
  };
  const TrainingLog log =
      test::ReadLog(line("17:00.000", 1, 20) + line("17:10.000", 1, 40) + line("17:25.000", 2, 20) +
                    line("17:35.000", 2, 40) + line("17:52.000", 3, 20))
          .training_log;
  EXPECT_THAT(log.between_epochs_ns, testing::ElementsAre(5e9, 7e9));
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

// Of Hugging Face's examples: "Epoch:  33%" counts epochs, and is no third epoch.
TEST(EpochLines, ABarOfEpochsAroundOneOfIterations) {
  std::string text;
  for (int minute = 0; minute <= 60; ++minute)
    text += fmt::format("Iteration: {}%|##  | {}/60 [{:02}:00<10:00,  1.00it/s]\n", minute * 100 / 60, minute,
                        minute) +
            "Epoch:  33%|###       | 1/3 [1:40:23<3:20:46, 6023.13s/it]\n";
  for (const char* planned : {"", "INFO -   Total optimization steps = 180\n"}) {
    const TrainingLog log = LogOf(planned + text);
    ASSERT_EQ(log.iterations.size(), 60u);
    EXPECT_DOUBLE_EQ(Seconds(log.iterations[5]), 60);
  }
}

TEST(EpochLines, BarsOfValidationBesideThoseOfEpochs) {
  std::string text, yolo;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    text += fmt::format("Training Epoch {}: 100%|####| 28/28 [00:59<00:00,  2.0s/it, loss=0.3]\n", epoch) +
            "Validating: 100%|####| 8/8 [00:06<00:00,  1.25s/it]\n";
    yolo += fmt::format(
                "     {}/2   7.8G  0.07  0.02  0  0.1  30  640: 100%|####| 38/38 [00:38<00:00,  1.0s/it]\n",
                epoch - 1) +
            "   Class  Images  Labels  P  R  mAP@.5  mAP@.5:.95: 100%|####| 7/7 [00:10<00:00,  1.5s/it]\n";
  }
  TrainingLog log = LogOf(text);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 18e9) << "by its clock, as its rate is a smoothed one";
  EXPECT_EQ(log.iterations.front().iteration, 28);
  log = LogOf(yolo);
  EXPECT_EQ(log.program, "YOLO");
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 30e9);
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
