// SPDX-License-Identifier: Apache-2.0
// Forms that the line of a step has in less known programs.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::ReadTrainingLog;

// Each program's own line, with the time that it prints or that of the line.
TEST(StepForms, FormsThatNameTheirStepsInOtherWords) {
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

TEST(StepForms, TokensPerSecondOfStepsWithoutTimes) {
  const TrainingLog log = test::ReadLog(
                              "step   710 | loss 4.3713 | lr 2.99e-04 | 414 tok/s\n"
                              "step   720 | loss 4.4358 | lr 2.99e-04 | 457 tok/s\n")
                              .training_log;
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_EQ(log.iterations[1].tokens_per_second, 457);
}

// What a checkpoint manager says of its steps is no line of OLMo.
TEST(StepForms, StepsOfOthersAreNotThoseOfOlmo) {
  const std::string save =
      "2026-01-05 05:47:42.413 [process=0][thread=MainThread][step=1000] Starting CheckpointManager Save\n"
      "2026-01-05 06:14:01.892 [process=0][thread=MainThread][step=2000] Starting CheckpointManager Save\n";
  EXPECT_THROW(test::ReadLog(save + save), Error);
}

TEST(StepForms, TimeBetweenEpochsIsOfNoIteration) {
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

TEST(StepForms, MaxText) {
  const TrainingLog log = ReadTrainingLog(
      "I0811 21:54:55.5 metric_logger.py:226] completed step: 1, seconds: 0.631, TFLOP/s/device: 5688.282, "
      "Tokens/s/device: 311629.521, total_weights: 1572864, loss: 12.979\n"
      "I0811 21:55:06.1 metric_logger.py:226] completed step: 2, seconds: 10.228, TFLOP/s/device: 350.869, "
      "Tokens/s/device: 19222.175, total_weights: 1572864, loss: 12.980\n");
  EXPECT_EQ(log.program, "MaxText");
  ASSERT_EQ(log.iterations.size(), 2u);
  ExpectSeconds(log, 1, 10.228);
  EXPECT_DOUBLE_EQ(*log.iterations[1].tflops_per_gpu, 350.869);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 12.98);
}

TEST(StepForms, StepsWithoutTimesByTheTimesOfTheLines) {
  const TrainingLog log = ReadTrainingLog(
      "2024-10-10 22:34:03.000 | INFO | main:1 - Ep 1 (Step 000000): Train loss 10.3, Val loss 10.0\n"
      "2024-10-10 22:34:04.500 | INFO | main:1 - Ep 1 (Step 000005): Train loss 8.9, Val loss 8.7\n"
      "2024-10-10 22:34:06.500 | INFO | main:1 - Ep 1 (Step 000010): Train loss 8.4, Val loss 8.3\n");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[1].iteration, 6) << "counted from 0";
  ExpectSeconds(log, 1, 0.3);
  ExpectSeconds(log, 2, 0.4);
}

}  // namespace
}  // namespace dladvisor
