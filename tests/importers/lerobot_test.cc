// SPDX-License-Identifier: Apache-2.0
// Lines of LeRobot's training.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// Numbers are rounded from a thousand on; a step is what the update and its batch take.
TEST(LeRobot, StepsAndTheirWaitForBatches) {
  std::string text = "INFO 2025-07-18 06:09:25 ts/train.py:209 Start offline training on a fixed dataset\n";
  for (int step = 200; step <= 2000; step += 200)
    text += fmt::format(
        "INFO 2025-07-18 06:{:02}:42 ts/train.py:239 step:{} smpl:{}K ep:3 epch:0.07 loss:6.785 grdn:153.774 "
        "lr:1.0e-05 updt_s:0.180 data_s:0.120\n",
        10 + step / 200, step < 1000 ? std::to_string(step) : fmt::format("{}K", step / 1000), step / 100);
  const TrainingLog log = test::ReadTrainingLog(text);
  ASSERT_EQ(log.program, "LeRobot");
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_EQ(log.iterations.back().iteration, 2000);
  EXPECT_EQ(log.iterations.back().covers, 200);
  EXPECT_EQ(log.iterations.back().attempt, 0);
  test::ExpectSeconds(log, 9, 0.3);
  ASSERT_EQ(log.timers.size(), 10u);
  EXPECT_DOUBLE_EQ(log.timers[9].ns.value_or(0), 0.12e9);
}

}  // namespace
}  // namespace dladvisor
