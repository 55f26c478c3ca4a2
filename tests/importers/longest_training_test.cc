// SPDX-License-Identifier: Apache-2.0
// Logs that several trainings wrote one after the other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

TEST(LongestTraining, MeansAreOfTheLongestOfSeveralTrainings) {
  const auto lines = [](int count, const char* ms) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("iter {}: loss 9.5, time {}ms, mfu 12.50%\n", 10 * i, ms);
    return text;
  };
  const auto of = [](const std::string& text) { return test::ReadLog(text).training_log; };
  const TrainingLog log = of(lines(4, "100.00") + lines(20, "500.00") + lines(3, "50.00"));
  EXPECT_EQ(log.iterations.size(), 20u);
  EXPECT_EQ(log.other_lines, 7);
  EXPECT_EQ(log.iterations.front().attempt, 0);
  EXPECT_EQ(of(lines(4, "400.00") + lines(20, "500.00")).iterations.size(), 24u) << "of the same pace";
}

// Of each the first epoch has no time, as nothing with a date stands before it.
TEST(LongestTraining, TrainingsWhoseFirstLinesHaveNoTimeAreSeveralAllTheSame) {
  const auto epochs = [](const char* day, int count, int seconds) {
    std::string text;
    for (int i = 1; i <= count; ++i)
      text += fmt::format("2025-11-{} 10:{:02}:{:02},427 - INFO - Epoch {}/20 | Train Loss: 1.3597\n", day,
                          i * seconds / 60, i * seconds % 60, i);
    return text;
  };
  const TrainingLog log =
      test::ReadLog(epochs("20", 20, 10) + epochs("21", 20, 60) + epochs("22", 20, 11)).training_log;
  ASSERT_FALSE(log.iterations.empty());
  EXPECT_EQ(log.iterations.front().attempt, log.iterations.back().attempt);
  EXPECT_DOUBLE_EQ(log.iterations.back().elapsed_ns.value_or(0), 60e9);
  EXPECT_GT(log.other_lines, 30);
}

}  // namespace
}  // namespace dladvisor
