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

}  // namespace
}  // namespace dladvisor
