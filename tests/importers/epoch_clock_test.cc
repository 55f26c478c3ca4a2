// SPDX-License-Identifier: Apache-2.0
// Lines that say at what time of the day an epoch was done.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {

// In minutes, over midnight; short epochs are taken together.
TEST(EpochClock, EpochsTakeWhatLiesBetweenTheirTimes) {
  const auto log = [](int minutes) {
    std::string text;
    for (int epoch = 1; epoch <= 13; ++epoch) {
      const int now = 22 * 60 + 7 + epoch * minutes, hour = now / 60 % 24;
      text += fmt::format("loss is low\nEPOCH {} COMPLETED @ {}:{:02} {}\n", epoch,
                          hour % 12 == 0 ? 12 : hour % 12, now % 60, hour < 12 ? "AM" : "PM");
    }
    return test::ReadTrainingLog(text);
  };
  const TrainingLog hours = log(60), minutes = log(5);
  ASSERT_EQ(hours.iterations.size(), 12u);
  EXPECT_TRUE(hours.of_epochs);
  test::ExpectSeconds(hours, 0, 3600);
  test::ExpectSeconds(hours, 11, 3600);
  ASSERT_EQ(minutes.iterations.size(), 3u);
  EXPECT_EQ(minutes.iterations[0].covers, 4);
  test::ExpectSeconds(minutes, 2, 300);
}

TEST(EpochClock, LinesThatBeginWithAClockTellItOfTheirEpoch) {
  std::string text;
  for (int epoch = 1; epoch <= 12; ++epoch) {
    const int now = (86'340 + 30 * epoch) % 86'400;
    for (const char* of : {"Dataset 00 | ARI 0.063", "Dataset 01 | ARI 0.093"})
      text += fmt::format("{:02}:{:02}:{:02}  [Pretrain] Epoch {:03} | {} | Avg Loss 18.{}\n", now / 3600,
                          now / 60 % 60, now % 60, epoch, of, epoch);
  }
  const TrainingLog log = test::ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 11u);
  EXPECT_TRUE(log.of_epochs);
  test::ExpectSeconds(log, 0, 30);
  test::ExpectSeconds(log, 10, 30);
}

}  // namespace
}  // namespace dladvisor
