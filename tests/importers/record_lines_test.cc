// SPDX-License-Identifier: Apache-2.0
// Tables with a row for each epoch.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::ReadTrainingLog;

// As fastai prints them.
TEST(RecordLines, ATableOfEpochsWithClocks) {
  std::string text = "epoch     train_loss  valid_loss  accuracy  time    \n";
  for (int epoch = 0; epoch < 6; ++epoch)
    text += fmt::format("{}         2.100000    2.200000    0.810000  01:2{}     \n", epoch, epoch);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 6u);
  EXPECT_TRUE(log.of_epochs);
  ExpectSeconds(log, 3, 83);
}

TEST(RecordLines, SemicolonsAndDecimalCommas) {
  std::string text = "epoch;train_loss;val_loss;time_s\n";
  for (int epoch = 0; epoch < 6; ++epoch) text += fmt::format("{};0,91;0,95;61,{}\n", epoch, epoch);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 6u);
  EXPECT_TRUE(log.of_epochs);
  ExpectSeconds(log, 3, 61.3);
}

TEST(RecordLines, APlotOfARunThatIsExported) {
  std::string text =
      "\"Step\",\"run-1 - perf/step_time\",\"run-1 - perf/step_time__MIN\",\"run-2 - perf/step_time\"\n";
  for (int step = 0; step < 50; step += 5) text += fmt::format("\"{}\",\"1.25\",\"1.0\",\"9.5\"\n", step);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 3, 1.25);
}

TEST(RecordLines, TheHistoryOfARun) {
  std::string text = ",_step,_runtime,_timestamp,train/loss,train/global_step\n";
  for (int line = 0; line < 10; ++line)
    text +=
        fmt::format("{0},{0},{1:.1f},{2:.1f},1.2,{3}\n", line, 17.5 * line, 1.7e9 + 17.5 * line, 10 * line);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 3, 1.75);
}

TEST(RecordLines, AScalarOfTensorBoard) {
  std::string text = "Wall time,Step,Value\n";
  for (int line = 0; line < 10; ++line)
    text += fmt::format("{:.2f},{},2.1\n", 1.7e9 + 5.25 * line, 10 * line);
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 10u);
  ExpectSeconds(log, 3, 0.525);
}

}  // namespace
}  // namespace dladvisor
