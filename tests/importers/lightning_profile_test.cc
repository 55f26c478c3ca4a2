// SPDX-License-Identifier: Apache-2.0
// The table that Lightning's simple profiler prints, in the forms of its versions.

#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

double MsOfData(const TrainingLog& log) {
  return log.timers.size() == 1 && log.timers[0].name == "data" ? log.timers[0].ns.value_or(0) / 1e6 : -1;
}

TEST(LightningProfile, StepsAndTheirWaitForBatches) {
  const TrainingLog log = test::ReadTrainingLog(
      "GPU available: True (cuda), used: True\n"
      "FIT Profiler Report\n\n-----\n"
      "|  Action   \t|  Mean duration (s)\t|  Num calls\t|  Total time (s) \t|  Percentage %   \t|\n-----\n"
      "|  Total    \t|  -              \t|  7236      \t|  26.0          \t|  100 %          \t|\n-----\n"
      "|  run_training_epoch\t|  12.5  \t|  2   \t|  25.0   \t|  98.0  \t|\n"
      "|  [_TrainingEpochLoop].train_dataloader_next   \t|  0.05  \t|  200 \t|  10.0   \t|  40.0  \t|\n"
      "|  run_training_batch \t|  0.05 \t|  200 \t|  10.0  \t|  40.0  \t|\n"
      "|  [Strategy]SingleDeviceStrategy.validation_step \t|  0.1 \t|  40 \t|  4.0  \t|  16.0  \t|\n"
      "|  [_EvaluationLoop].val_next \t|  0.025 \t|  40 \t|  1.0  \t|  4.0  \t|\n"
      "|  [LightningModule]M.on_train_end \t|  7.61e-07 \t|  1 \t|  7.61e-07 \t|  3.1e-06 \t|\n");
  ASSERT_EQ(log.program, "Lightning");
  ASSERT_EQ(log.iterations.size(), 1u);
  EXPECT_EQ(log.iterations[0].covers, 200);
  test::ExpectSeconds(log, 0, 0.1);
  EXPECT_DOUBLE_EQ(MsOfData(log), 50);
  EXPECT_DOUBLE_EQ(log.runtime_ns.value_or(0), 26e9);
}

// Without the number of calls, which total and mean tell.
TEST(LightningProfile, TablesOfOldVersions) {
  const TrainingLog log = test::ReadTrainingLog(
      "Epoch 1: 100%|####| 3000/3000 [02:35<00:00, 19.3it/s, loss=0.109, v_num=1]\nProfiler Report\n\n"
      "Action                  |  Mean duration (s)    |  Total time (s)\n-----\n"
      "get_train_batch         |  0.01                 |  30.0\n"
      "model_forward           |  0.02                 |  60.0\n"
      "model_backward          |  0.01                 |  30.0\n"
      "optimizer_step          |  0.01                 |  30.0\n");
  ASSERT_EQ(log.program, "Lightning");
  EXPECT_EQ(log.iterations[0].covers, 3000);
  test::ExpectSeconds(log, 0, 0.05);
  EXPECT_DOUBLE_EQ(MsOfData(log), 10);
}

// Of a test there is no training.
TEST(LightningProfile, OtherReportsAreNoTraining) {
  EXPECT_NE(test::RefusalOf("TEST Profiler Report\n"
                            "|  run_training_batch \t|  0.05 \t|  200 \t|  10.0  \t|  40.0  \t|\n"),
            "");
}

}  // namespace
}  // namespace dladvisor
