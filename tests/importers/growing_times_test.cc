// SPDX-License-Identifier: Apache-2.0
// Times that grow from line to line: a clock that runs on, or work that takes longer and longer.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "src/importers/training_log/lines/growth.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;
using training_log::GrowsAsClock;
using training_log::TimesOfRun;

// Between -1 and 1, the same each time.
double Noise(int i) { return std::sin(12.9898 * i + 4.1 * i * i); }

bool IsClock(const TimesOfRun& times) { return GrowsAsClock(std::vector<TimesOfRun>{times}); }

TEST(GrowingTimes, AClockThatBeganLongBefore) {
  TimesOfRun times;
  double now = 1000;
  for (int i = 0; i < 60; ++i) times.push_back(now += 0.5 + 0.05 * Noise(i));
  EXPECT_TRUE(IsClock(times));
}

TEST(GrowingTimes, AClockWithEvaluationsInBetween) {
  TimesOfRun times;
  double now = 3;
  for (int i = 0; i < 60; ++i) times.push_back(now += i % 3 == 2 ? 1.5 : 0.5);
  EXPECT_TRUE(IsClock(times));
}

TEST(GrowingTimes, WorkThatTakesLongerHasANoiseOfItsOwn) {
  TimesOfRun times;
  for (int i = 0; i < 100; ++i) times.push_back(0.2 + 0.01 * i + 0.003 * Noise(i));
  EXPECT_FALSE(IsClock(times));
}

TEST(GrowingTimes, TimesThatFallAreNoClock) {
  EXPECT_FALSE(IsClock({1, 2, 3, 4, 3.9, 5, 6, 7}));
  EXPECT_FALSE(IsClock({1, 2, 3}));
}

TEST(GrowingTimes, TheClockOfEachLineInAnyStyle) {
  const char* kStyles[] = {
      R"({{"step": {}, "loss": 2.1, "time": {:.2f}}})",
      "step={} loss=2.1 time={:.2f}",
      "Iter {} | loss: 2.1 | time: {:.2f}s",
      R"({{"loss": 2.1, "_step": {}, "_runtime": {:.2f}}})",
  };
  for (const char* style : kStyles) {
    SCOPED_TRACE(style);
    const TrainingLog log = ReadTrainingLog(LinesOf(
        1, 20, 1, [&](int step) { return fmt::format(fmt::runtime(style), step, 100 + 0.5 * step); }));
    ASSERT_EQ(log.iterations.size(), 20u);
    EXPECT_FALSE(log.iterations[0].elapsed_ns);
    ExpectSeconds(log, 10, 0.5);
  }
}

TEST(GrowingTimes, TimesSince1970) {
  const TrainingLog log = ReadTrainingLog(LinesOf(10, 200, 10, [](int step) {
    return fmt::format(R"({{"step": {}, "loss": 2.1, "timestamp": {:.3f}}})", step,
                       1717000000.5 + 0.25 * step);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 10, 0.25);
}

TEST(GrowingTimes, TheClockThatBeginsEachLine) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 40, 1, [](int line) {
    const int seconds = 31 * line;
    return fmt::format("[{}:{:02}:{:02}] iter {} loss 1.2 lr 1e-4", seconds / 3600, seconds / 60 % 60,
                       seconds % 60, 50 * line);
  }));
  ASSERT_EQ(log.iterations.size(), 40u);
  ExpectSeconds(log, 10, 0.62);
}

TEST(GrowingTimes, ObjectsOfEpochs) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 10, 1, [](int epoch) {
    return fmt::format(R"({{"epoch": {}, "train_loss": 2.1, "val_loss": 2.2, "elapsed": {:.1f}}})", epoch,
                       300 + 37.5 * epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 10u);
  EXPECT_TRUE(log.of_epochs);
  ExpectSeconds(log, 4, 37.5);
}

TEST(GrowingTimes, AClockOfEpochsThatBeganBeforeTheFirst) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 12, 1, [](int epoch) {
    return fmt::format("Epoch {}/12 loss=2.1 time={:.1f}s", epoch, 300 + 37.0 * epoch);
  }));
  ASSERT_EQ(log.iterations.size(), 12u);
  ExpectSeconds(log, 4, 37);
}

TEST(GrowingTimes, EpochsWithoutALineCount) {
  std::string text;
  for (int line = 1; line <= 8; ++line) {
    const int step = 1000 * line;
    text += fmt::format("2022-11-29 02:{:02}:{:02}.25 - epoch {} | iter {}/181 | loss 27.1 | took {:.2f} s\n",
                        line * 500 / 60, line * 500 % 60, step / 181, step % 181, 0.5 * (step % 181));
  }
  const TrainingLog log = ReadTrainingLog(text);
  ASSERT_EQ(log.iterations.size(), 8u);
  EXPECT_EQ(log.iterations[3].covers, 1000);
  ExpectSeconds(log, 3, 0.5);
}

TEST(GrowingTimes, WhatAnEpochTakesOnAverageIsNoLineOfOne) {
  std::string text = "2023-12-18 08:19:13,834 INFO Warm up the model for 5 epochs\n";
  for (int run = 0; run < 8; ++run)
    text += fmt::format(
        "2023-12-18 {0:02}:24:42,973 INFO Average training time per epoch: 52.4{0} s\n"
        "2023-12-18 {0:02}:24:42,974 INFO Average data-loading time per epoch: 3.1{0} s\n",
        9 + run);
  EXPECT_TRUE(ReadTrainingLog(text).empty());
}

}  // namespace
}  // namespace dladvisor
