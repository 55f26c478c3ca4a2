// SPDX-License-Identifier: Apache-2.0
// pytorch-cifar's bars, each a pass of the training or of the evaluation behind it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::ReadTrainingLog;

// As it is written to a file: the count stands behind the line's end, where backspaces lead a terminal back.
std::string Written(int done, int total, const std::string& time) {
  return fmt::format(
      " [====>...]  Step: 1s9ms | Tot: {} | Loss: 0.500 | Acc: 90.0% (45/50)   \b\b\b\b {}/{} {}", time, done,
      total, done < total ? "\r" : "\n");
}

// As a terminal shows it.
std::string Shown(int done, int total, const std::string& time) {
  return fmt::format(" [==== {}/{} ===>]  Step: 1s9ms | Tot: {} | Loss: 0.500 | Acc: 90.0% (45/50)\n", done,
                     total, time);
}

// The time of a bar begins behind the first batch.
TEST(PassBars, ThoseOfTrainingAndEvaluationTakeTurns) {
  for (const auto& bar : {Written, Shown})
    for (const bool headings : {true, false}) {
      std::string text;
      for (int epoch = 0; epoch < 4; ++epoch)
        text += (headings ? fmt::format("\nEpoch: {}\n", epoch) : "") + bar(101, 201, "40s") +
                bar(201, 201, "1m20s") + bar(41, 41, "4s20ms") + "Saving..\n";
      const TrainingLog log = ReadTrainingLog(text);
      ASSERT_EQ(log.iterations.size(), 4u);
      EXPECT_EQ(log.iterations[3].iteration, 804);
      EXPECT_EQ(log.iterations[3].covers, 201);
      EXPECT_EQ(log.iterations[3].attempt, 0);
      for (size_t row = 0; row < 4; ++row) ExpectSeconds(log, row, 0.4);
      EXPECT_EQ(log.evaluations, 4);
      EXPECT_NEAR(log.evaluation_ns, 4 * 4.12e9, 0.01e9);
    }
}

// As many batches as the training has may be an evaluation's; what starts anew is another attempt.
TEST(PassBars, BehindTheLineOfAnEpochTheFirstIsTheTrainings) {
  std::string text;
  for (const int epoch : {0, 1, 2, 1, 2})
    text += fmt::format("Epoch: {}\n", epoch) + Written(51, 51, "50s") + Written(51, 51, "10s");
  const TrainingLog log = ReadTrainingLog(text + "Epoch: 3\n" + Written(26, 51, "25s"));
  ASSERT_EQ(log.iterations.size(), 6u);
  for (size_t row = 0; row < 6; ++row) ExpectSeconds(log, row, 1);
  EXPECT_EQ(log.iterations[3].attempt, 1);
  EXPECT_EQ(log.iterations[5].iteration, 128);
  EXPECT_EQ(log.iterations[5].covers, 26);
}

}  // namespace
}  // namespace dladvisor
