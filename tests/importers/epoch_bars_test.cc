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

// A bar that gets faster than a step in a second changes its unit, and is of the same loop.
TEST(EpochBars, EpochsShorterThanTheClockTellsByTheirRate) {
  std::string text;
  for (int epoch = 0; epoch < 40; ++epoch)
    text +=
        fmt::format("Epoch {}\n  0%|    | 0/6 [00:00<?, ?it/s]\n", epoch) +
        (epoch < 20 ? "100%|####| 6/6 [00:17<00:00,  2.77s/it]\n100%|####| 6/6 [00:17<00:00,  2.90s/it]\n"
                    : "100%|####| 6/6 [00:02<00:00,  2.60it/s]\n100%|####| 6/6 [00:02<00:00,  2.50it/s]\n") +
        "Loss:  157.06\nEvaluating...\n";
  const TrainingLog log = LogOfBars(text);
  ASSERT_EQ(log.iterations.size(), 40u);
  EXPECT_NEAR(SecondsOfBars(log.iterations[10]), 2.83, 0.01);
  EXPECT_NEAR(SecondsOfBars(log.iterations[30]), 0.4, 0.001);
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

TEST(EpochBars, BarsOfTrainingAndValidation) {
  const TrainingLog log = LogOfBars(
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
  EXPECT_DOUBLE_EQ(SecondsOfBars(log.iterations[0]), 0.1);
  EXPECT_DOUBLE_EQ(SecondsOfBars(log.iterations[1]), 0.05);
  EXPECT_EQ(log.evaluations, 2);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 3e9);
}

// Also where its title names the epoch, and several are evaluated behind one.
TEST(EpochBars, BarsOfSeveralEvaluations) {
  std::string text;
  for (const int epoch : {1, 2})
    text += fmt::format(
        "Epoch {0}/2 train:  50%|#####     | 50/100 [00:01<00:01, 50.00it/s]\n"
        "Epoch {0}/2 train: 100%|##########| 100/100 [00:02<00:00, 50.00it/s]\n"
        "Epoch {0}/2 val: 100%|##########| 50/50 [00:01<00:00, 50.00it/s]\n"
        "[Eval] Best Model at Epoch {0}: 100%|##########| 60/60 [04:00<00:00,  3.00s/it]\r"
        "[Eval] Best Model at Epoch {0}: 100%|##########| 60/60 [04:00<00:00,  4.00s/it]\n",
        epoch);
  const TrainingLog log = LogOfBars(text);
  ASSERT_EQ(log.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(SecondsOfBars(log.iterations[1]), 0.02);
  EXPECT_EQ(log.evaluations, 4);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 482e9);
}

// A bar that names training, or a loss, and no other.
TEST(EpochBars, OneBarOfTheWholeTraining) {
  const std::string head = "\x1b[36m(TaskRunner pid=7)\x1b[0m ";
  const TrainingLog named =
      LogOfBars(head + "Training Progress:   0%|          | 1/900 [01:00<99:58:54, 60.00s/it]\n" + head +
                "Training Progress:   0%|          | 2/900 [02:04<99:18:08, 62.00s/it]\n");
  EXPECT_EQ(named.program, "a program with a progress bar");
  ASSERT_EQ(named.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(SecondsOfBars(named.iterations[1]), 64);
  const TrainingLog loss = LogOfBars(
      "steps:   2%|2  | 30/900 [00:30<15:00, 1.00s/it, avr_loss=0.09]\r"
      "steps:   7%|7  | 60/900 [01:30<15:00, 2.00s/it, avr_loss=0.08]\n");
  ASSERT_EQ(loss.iterations.size(), 2u);
  EXPECT_DOUBLE_EQ(SecondsOfBars(loss.iterations[1]), 2);
  EXPECT_TRUE(LogOfBars("Map:   2%|2  | 30/900 [00:30<15:00, 1.00s/it]\rMap: 7%|7 | 60/900 [01:30<15:00, "
                        "2.00s/it]\n")
                  .empty());
}

// Of Hugging Face's examples: "Epoch:  33%" counts epochs, and is no third epoch.
TEST(EpochBars, ABarOfEpochsAroundOneOfIterations) {
  std::string text;
  for (int minute = 0; minute <= 60; ++minute)
    text += fmt::format("Iteration: {}%|##  | {}/60 [{:02}:00<10:00,  1.00it/s]\n", minute * 100 / 60, minute,
                        minute) +
            "Epoch:  33%|###       | 1/3 [1:40:23<3:20:46, 6023.13s/it]\n";
  for (const char* planned : {"", "INFO -   Total optimization steps = 180\n"}) {
    const TrainingLog log = LogOfBars(planned + text);
    ASSERT_EQ(log.iterations.size(), 60u);
    EXPECT_DOUBLE_EQ(SecondsOfBars(log.iterations[5]), 60);
  }
}

TEST(EpochBars, BarsOfValidationBesideThoseOfEpochs) {
  std::string text, yolo;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    text += fmt::format("Training Epoch {}: 100%|####| 28/28 [00:59<00:00,  2.0s/it, loss=0.3]\n", epoch) +
            "Validating: 100%|####| 8/8 [00:06<00:00,  1.25s/it]\n";
    yolo += fmt::format(
                "     {}/2   7.8G  0.07  0.02  0  0.1  30  640: 100%|####| 38/38 [00:38<00:00,  1.0s/it]\n",
                epoch - 1) +
            "   Class  Images  Labels  P  R  mAP@.5  mAP@.5:.95: 100%|####| 7/7 [00:10<00:00,  1.5s/it]\n";
  }
  TrainingLog log = LogOfBars(text);
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 18e9) << "by its clock, as its rate is a smoothed one";
  EXPECT_EQ(log.iterations.front().iteration, 28);
  log = LogOfBars(yolo);
  EXPECT_EQ(log.program, "YOLO");
  EXPECT_EQ(log.evaluations, 3);
  EXPECT_DOUBLE_EQ(log.evaluation_ns, 30e9);
}

}  // namespace
}  // namespace dladvisor
