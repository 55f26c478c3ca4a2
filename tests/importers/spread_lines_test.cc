// SPDX-License-Identifier: Apache-2.0
// Steps that are printed over several lines, and times that only a step's name has.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TEST(SpreadLines, FiguresBelowTheNumberOfTheirStep) {
  const TrainingLog log = ReadTrainingLog(LinesOf(25, 250, 25, [](int step) {
    return fmt::format(
        "\x1b[1m   --> STEP: {}/36 -- GLOBAL_STEP: {}\x1b[0m\n"
        "     | > loss_gen: 1.61938  (1.98766)\n"
        "     | > amp_scaler: 1024.00000  (2176.00000)\n"
        "     | > step_time: 1.25000  (1.38766)\n"
        "     | > loader_time: 0.25000  (0.34136)\n\n",
        (step - 1) % 36 + 1, 1000000 + step);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations[1].covers, 25);
  ExpectSeconds(log, 4, 1.25);
  ASSERT_FALSE(log.timers.empty());
  EXPECT_EQ(log.timers[0].name, "data");
}

TEST(SpreadLines, TooFewFiguresAreNone) {
  EXPECT_TRUE(ReadTrainingLog(LinesOf(1, 9, 1, [](int step) {
                return fmt::format("Step {}:\n  loss: 2.5\n  step_time: 0.25 s\n", step);
              })).iterations.empty());
}

TEST(SpreadLines, AStepsNameWithAUnitIsItsTime) {
  const TrainingLog log = ReadTrainingLog(LinesOf(20, 400, 20, [](int step) {
    return fmt::format("Step {:04} | Loss 10.9 | Aux 7.9 | Step 250.0ms | Tokens/sec 9,898", step);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 4, 0.25);
  EXPECT_DOUBLE_EQ(log.iterations[4].tokens_per_second.value_or(0), 9898);
}

TEST(SpreadLines, DatesOfRich) {
  const Trace trace =
      test::ReadLog("Using device: cuda:0\n" + LinesOf(0, 59, 1, [](int i) {
                      return fmt::format("[04/12/24 16:{:02}:00] INFO     rendering the view", i);
                    }));
  EXPECT_NEAR(trace.program_output.duration_ns.value_or(0), 59 * 60e9, 1e9);
}

}  // namespace
}  // namespace dladvisor
