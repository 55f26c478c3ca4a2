// SPDX-License-Identifier: Apache-2.0
// Bars of which each is an epoch, its training's or its evaluation's.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TrainingLog LogOfBars(const std::string& text) { return test::ReadLog(text).training_log; }

double SecondsOfBars(const TrainingIteration& row) { return row.elapsed_ns.value_or(0) / 1e9; }

// "Epoch 3" is the title of the bars behind it, until an evaluation begins.
TEST(EpochBars, BarsBehindALineThatNamesTheEpoch) {
  std::string text;
  for (int epoch = 0; epoch < 5; ++epoch)
    text += fmt::format("Epoch {}\n  0%|    | 0/60 [00:00<?, ?it/s]\n", epoch) +
            " 50%|##  | 30/60 [00:30<00:30,  1.0s/it]\n100%|####| 60/60 [01:00<00:00,  1.0s/it]\n"
            "Loss:  157.06\nEvaluating...\n100%|####| 60/60 [05:00<00:00,  5.0s/it]\n";
  const TrainingLog log = LogOfBars(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations[9].iteration, 300);
  EXPECT_DOUBLE_EQ(SecondsOfBars(log.iterations[9]), 1.0);
}

// Of an epoch the first is the training's, whatever the others count.
TEST(EpochBars, BarsOfAnEpochBehindItsFirstAreNotTheTrainings) {
  const auto bar = [](const std::string& title, int total, int seconds) {
    std::string text;
    for (int part = 0; part <= 10; ++part)
      text += fmt::format("{}{}%|##  | {}/{} [{:02}:{:02}<00:40,  1.6it/s]\r", title, part * 10,
                          total * part / 10, total, seconds * part / 600, seconds * part / 10 % 60);
    return text + "\n";
  };
  for (const int evaluated : {20, 100, 200})
    for (const char* between : {"", "Train loss: 0.51 acc 0.9\n"})
      for (const bool titled : {false, true}) {
        std::string text;
        for (int epoch = 1; epoch <= 5; ++epoch) {
          const std::string title = titled ? fmt::format("Epoch {}/5: ", epoch) : "";
          if (!titled) text += fmt::format("Epoch {}/5\n", epoch);
          text += bar(title, 100, 120) + between + bar(title, evaluated, 50) + "loss 0.6\n";
        }
        const TrainingLog log = LogOfBars(text);
        ASSERT_FALSE(log.iterations.empty());
        EXPECT_EQ(log.iterations.back().iteration, 500) << evaluated;
        EXPECT_EQ(log.iterations.back().attempt, 0) << evaluated;
        for (const TrainingIteration& row : log.iterations) EXPECT_DOUBLE_EQ(SecondsOfBars(row), 1.2);
      }
}

TEST(EpochBars, FullBarsOfAnEpochBehindItsFirstAreNotTheTrainings) {
  for (const char* title : {"Epoch {}/5: ", "Epoch {}/5\n"}) {
    std::string text;
    for (int epoch = 1; epoch <= 5; ++epoch) {
      const std::string head = fmt::format(fmt::runtime(title), epoch);
      text += head + "100%|####| 100/100 [02:00<00:00,  1.2s/it]\n" + (head.back() == '\n' ? "" : head) +
              "100%|####| 20/20 [00:50<00:00,  2.5s/it]\n";
    }
    const TrainingLog log = LogOfBars(text);
    ASSERT_EQ(log.iterations.size(), 5u) << title;
    EXPECT_EQ(log.iterations.back().iteration, 500) << title;
    EXPECT_EQ(log.iterations.back().attempt, 0) << title;
    for (const TrainingIteration& row : log.iterations) EXPECT_DOUBLE_EQ(SecondsOfBars(row), 1.2) << title;
  }
}

TEST(EpochBars, ABarThatStopsMayStartAgain) {
  const auto bar = [](int epoch, int to) {
    std::string text = fmt::format("Epoch {}/5\n", epoch);
    for (int done = 0; done <= to; done += 10)
      text +=
          fmt::format(" {}%|##  | {}/100 [{:02}:{:02}<00:40,  1.0it/s]\r", done, done, done / 60, done % 60);
    return text + "\n";
  };
  const TrainingLog log = LogOfBars(bar(1, 100) + bar(2, 60) + bar(2, 100) + bar(3, 100));
  EXPECT_EQ(log.iterations.back().attempt, 1);
  EXPECT_EQ(log.iterations.back().iteration, 200);
}

// Whose losses another reader of bars knows, too.
TEST(EpochBars, BarsWithALossAreEpochsAsOthersAre) {
  std::string text;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    text += fmt::format("Epoch {}/5\n", epoch);
    for (int done = 0; done <= 100; done += 10)
      text += fmt::format(" {}%|##  | {}/100 [{:02}:{:02}<00:40,  1.0s/it, loss=0.5]\r", done, done,
                          done / 60, done % 60);
  }
  const TrainingLog log = LogOfBars(text);
  ASSERT_FALSE(log.iterations.empty());
  EXPECT_EQ(log.iterations.back().iteration, 500);
  EXPECT_EQ(log.iterations.back().attempt, 0);
}

TEST(EpochBars, PartsOfAnEpochThatEndsInTheMiddle) {
  std::string text;
  for (int epoch = 1; epoch <= 2; ++epoch)
    for (int step = 1; step <= 200; ++step)
      text += fmt::format("Epoch {}/60:  {}%|###   | {}/445 [{:02}:{:02}<07:08,  1.03it/s, L=4.1]\r", epoch,
                          step * 100 / 445, step, step / 60, step % 60);
  const TrainingLog log = ReadTrainingLog(text);
  EXPECT_EQ(log.program, "a program with a progress bar");
  ASSERT_GE(log.iterations.size(), 18u);
  ExpectSeconds(log, 2, 1);
  EXPECT_EQ(log.iterations[0].covers, 20);
  EXPECT_EQ(log.iterations.back().iteration, 445 + 200);
}

TEST(EpochBars, BarsOfEpochsThatNoLineNames) {
  std::string text;
  for (int epoch = 0; epoch < 6; ++epoch)
    text +=
        "training:  45%|####  | 5/11 [00:02<00:03,  2.0it/s]\rtraining: 100%|####| 11/11 [00:05<00:00,  "
        "2.0it/s]\r"
        "validating: 100%|####| 1/1 [00:01<00:00,  1.25s/it]\r\n";
  const TrainingLog log = ReadTrainingLog(text);
  EXPECT_EQ(log.iterations.size(), 6u);
  EXPECT_EQ(log.iterations.back().iteration, 66);
  EXPECT_EQ(log.evaluations, 6);
}

// Of which a terminal keeps the last state of one, beside lines that tell how many steps an epoch has.
TEST(EpochBars, ASingleOneOfLightning) {
  const auto text = [](int steps) {
    std::string lines = "Epoch 1: 100%|####| 350/350 [01:10<00:00,  5.00it/s, v_num=1, loss=2.5]\n";
    for (int epoch = 0; epoch < 4; ++epoch)
      lines +=
          fmt::format("Epoch {}, global step {}: 'val/acc' was not in top 1\n", epoch, (epoch + 1) * steps);
    return lines;
  };
  const TrainingLog log = LogOfBars(text(350));
  EXPECT_EQ(log.program, "Lightning");
  ASSERT_EQ(log.iterations.size(), 1u);
  EXPECT_EQ(log.iterations[0].iteration, 700);
  EXPECT_EQ(log.iterations[0].covers, 350);
  EXPECT_DOUBLE_EQ(*log.iterations[0].elapsed_ns, 0.2e9);
  EXPECT_TRUE(LogOfBars(text(340)).empty()) << "a bar of something else";
}

// What the epoch waited for its batches is told from the mean of a batch by how many lines have a loss.
TEST(EpochTimes, BelowTheLinesOfBatches) {
  const auto text = [](double loading) {
    std::string lines;
    for (int epoch = 0; epoch < 2; ++epoch) {
      lines += fmt::format("\nEpoch: {}\n", epoch);
      for (int batch = 0; batch < 20; ++batch) lines += "Loss: 2.5 | Precision: 12%\n";
      lines += fmt::format("\t DataLoader Time: {:.4f} \t\n\t Training Epoch Time: 30.5000\n", loading);
    }
    return lines;
  };
  const TrainingLog log = LogOfBars(text(8));
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 2u);
  ExpectSeconds(log, 1, 30.5);
  ASSERT_EQ(log.timers.size(), 2u);
  EXPECT_DOUBLE_EQ(*log.timers[1].ns, 8e9);
  EXPECT_TRUE(LogOfBars(text(0.8)).timers.empty());
}

}  // namespace
}  // namespace dladvisor
