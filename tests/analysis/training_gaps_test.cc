// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_gaps.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace dladvisor {
namespace {

// Lines of twenty iterations of a second each; after every fifth something of three minutes.
TrainingLog LogWithGap(int64_t gap_s, int64_t attempt = 0) {
  TrainingLog log;
  int64_t seconds = 0;
  for (int64_t line = 0; line < 60; ++line) {
    seconds += 20 + (line % 5 == 4 ? 180 : 0) + (line == 32 ? gap_s : 0);
    TrainingIteration& row = log.iterations.emplace_back();
    row.attempt = line >= 32 ? attempt : 0;
    row.iteration = (line + 1) * 20;
    row.covers = 20;
    row.elapsed_ns = 1e9;
    row.time_ns = seconds * 1'000'000'000;
  }
  return log;
}

TEST(TrainingGaps, HoursBetweenTwoLines) {
  const auto found = FindGaps(LogWithGap(8 * 3600));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gaps, 1);
  EXPECT_EQ(found->after, 640);
  EXPECT_NEAR(found->longest_ns, 8 * 3600e9, 1e9);
  EXPECT_NEAR(found->all_ns, 8 * 3600e9, 1e9);
}

TEST(TrainingGaps, EvaluationsAndOtherStartsAreNone) {
  EXPECT_FALSE(FindGaps(LogWithGap(0)));
  EXPECT_FALSE(FindGaps(LogWithGap(1200))) << "less than ten times an evaluation";
  EXPECT_FALSE(FindGaps(LogWithGap(8 * 3600, 1)));
  TrainingLog undated = LogWithGap(8 * 3600);
  for (TrainingIteration& row : undated.iterations) row.time_ns.reset();
  EXPECT_FALSE(FindGaps(undated));
}

// Lines of twenty iterations of a second each, some of which have 40 s before them.
TrainingLog LogWithStalls(int64_t distance) {
  TrainingLog log;
  int64_t seconds = 0;
  for (int64_t line = 0; line < 100; ++line) {
    seconds += 20 + (line % distance == distance - 1 ? 40 : 0);
    TrainingIteration& row = log.iterations.emplace_back();
    row.iteration = (line + 1) * 20;
    row.covers = 20;
    row.elapsed_ns = 1e9;
    row.time_ns = seconds * 1'000'000'000;
  }
  return log;
}

TEST(TrainingGaps, StallsThatNoTimerHolds) {
  TrainingLog log = LogWithStalls(50);
  log.events = {{49, TrainingEventKind::kCheckpoint, {}}, {99, TrainingEventKind::kEvaluation, {}}};
  const auto stalls = FindStalls(log);
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->stalls, 2);
  EXPECT_EQ(stalls->with_checkpoint, 1);
  EXPECT_EQ(stalls->with_evaluation, 1);
  EXPECT_NEAR(stalls->all_ns, 80e9, 1e6);
  EXPECT_EQ(stalls->after, 980);
  log.evaluations = 1;
  EXPECT_EQ(FindStalls(log)->stalls, 1) << "the evaluation's time is known";
}

TEST(TrainingGaps, WhatIsNoStall) {
  EXPECT_FALSE(FindStalls(LogWithStalls(2))) << "the timers do not hold what passes";
  EXPECT_FALSE(FindStalls(LogWithStalls(200)));
  TrainingLog slow = LogWithStalls(50);
  for (TrainingIteration& row : slow.iterations) {
    row.covers = 1;
    row.elapsed_ns = 30e9;
    row.iteration /= 20;
    row.time_ns = *row.time_ns + row.iteration * 10'000'000'000;
  }
  EXPECT_FALSE(FindStalls(slow)) << "less than two iterations";
  TrainingLog other = LogWithStalls(50);
  for (size_t i = 49; i < other.iterations.size(); ++i) other.iterations[i].attempt = i < 99 ? 1 : 2;
  EXPECT_FALSE(FindStalls(other)) << "other starts";
  TrainingLog skips = LogWithStalls(50);
  for (TrainingIteration& row : skips.iterations) row.covers = 10;
  EXPECT_FALSE(FindStalls(skips)) << "lines tell of half of the iterations";
}

TEST(TrainingGaps, WhatTheProgramTellsOfIsNoStandstill) {
  TrainingLog log = LogWithGap(8 * 3600);
  TrainingEvent& event = log.events.emplace_back();
  event.before = 32;
  event.kind = TrainingEventKind::kEvaluation;
  EXPECT_FALSE(FindGaps(log)) << "it may have evaluated all the while";
  event.ns = 60e9;
  ASSERT_TRUE(FindGaps(log));
  EXPECT_NEAR(FindGaps(log)->longest_ns, 8 * 3600e9 - 60e9, 1e9);
  event.ns = 8 * 3600e9;
  EXPECT_FALSE(FindGaps(log));
  log.events.clear();
  for (size_t row = 4; row < 60; row += 5) log.events.push_back({.before = row});
  log.events.push_back({.before = 32});
  EXPECT_TRUE(FindGaps(log)) << "others of the kind take three minutes";
}

TEST(TrainingGaps, NoCheckpointTakesHours) {
  TrainingLog log = LogWithGap(8 * 3600);
  log.events.push_back({.before = 32});
  log.iterations[32].elapsed_ns.reset();
  ASSERT_TRUE(FindGaps(log));
  EXPECT_NEAR(FindGaps(log)->longest_ns, 8 * 3600e9, 1e9);
  log = LogWithGap(1800);
  log.events.push_back({.before = 32});
  EXPECT_FALSE(FindGaps(log)) << "it may take half an hour";
}

}  // namespace
}  // namespace dladvisor
