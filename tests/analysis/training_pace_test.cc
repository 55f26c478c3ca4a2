// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_pace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// Stretches of 40 lines of about so many ms, each with a spread of a tenth.
std::vector<TrainingLogRow> Log(const std::vector<double>& stretches) {
  std::vector<TrainingLogRow> rows;
  for (const double ms : stretches)
    for (int i = 0; i < 40; ++i) {
      TrainingLogRow& row = rows.emplace_back();
      row.iteration = static_cast<int64_t>(rows.size());
      row.covers = 1;
      row.elapsed_ns = ms * (1 + 0.1 * (i % 11 - 5) / 5) * 1e6;
      row.global_batch = 8;
    }
  return rows;
}

TEST(TrainingPace, StretchesThatAreSlowBetweenOthers) {
  const auto shifts = FindPaceShifts(Log({100, 100, 100, 100, 200, 200, 100, 100, 100, 100}));
  ASSERT_TRUE(shifts);
  EXPECT_NEAR(shifts->fast_ns, 100e6, 3e6);
  EXPECT_NEAR(shifts->slow_ns, 200e6, 6e6);
  EXPECT_NEAR(shifts->lost_ns, 80 * 100e6, 5e8);
}

TEST(TrainingPace, LinesInARowThatAreFasterThanWhatIsAroundThem) {
  auto log = Log({800, 800, 800, 800, 800, 800, 800, 800, 800, 800});
  for (size_t i = 190; i < 250; ++i) *log[i].elapsed_ns *= 0.2;
  for (size_t i = 10; i < 400; i += 11) log[i].elapsed_ns = 160e6;
  const auto shifts = FindPaceShifts(log);
  ASSERT_TRUE(shifts && shifts->odd);
  EXPECT_NEAR(shifts->fast_ns, 160e6, 5e6);
  EXPECT_NEAR(shifts->slow_ns, 800e6, 20e6);
  EXPECT_EQ(shifts->odd->first, 191);
  EXPECT_EQ(shifts->odd->last, 250);
  EXPECT_EQ(shifts->odd->lines, 60u);
  EXPECT_GT(shifts->odd->all_lines, 85u);
  EXPECT_LT(shifts->odd->ns, shifts->odd->others_ns);
  EXPECT_NEAR(shifts->lost_share, 0.755, 0.01);
  auto slow = Log({100, 100, 100, 100, 100, 100, 100, 100, 100, 100});
  for (size_t i = 190; i < 215; ++i) *slow[i].elapsed_ns *= 4;
  const auto slower = FindPaceShifts(slow);
  ASSERT_TRUE(slower && slower->odd);
  EXPECT_EQ(slower->odd->lines, 25u);
  EXPECT_NEAR(slower->lost_ns, 25 * 300e6, 5e8);
  EXPECT_GT(slower->odd->ns, slower->odd->others_ns);
}

// Phases at a regular distance, steps of another start, the end of the log, steps by turns, and a few lines.
TEST(TrainingPace, OddLinesThatAProgramPlansAreNone) {
  const std::vector<double> even(10, 800);
  auto phases = Log(even);
  for (size_t i = 60; i < phases.size(); ++i)
    if (i % 80 < 25) *phases[i].elapsed_ns *= 0.2;
  EXPECT_FALSE(FindPaceShifts(phases));
  auto starts = Log(even);
  for (size_t i = 150; i < starts.size(); ++i) starts[i].attempt = 1;
  for (size_t i = 150; i < 180; ++i) *starts[i].elapsed_ns *= 0.2;
  EXPECT_FALSE(FindPaceShifts(starts));
  auto ends = Log(even);
  for (size_t i = 370; i < ends.size(); ++i) *ends[i].elapsed_ns *= 0.2;
  EXPECT_FALSE(FindPaceShifts(ends));
  auto turns = Log(even);
  for (size_t i = 0; i < turns.size(); i += 4) *turns[i].elapsed_ns *= 3;
  EXPECT_FALSE(FindPaceShifts(turns));
  auto few = Log(even);
  for (size_t i = 200; i < 215; ++i) *few[i].elapsed_ns *= 0.2;
  EXPECT_FALSE(FindPaceShifts(few));
}

// From one iteration on to the last, by less than what a schedule of sizes does.
TEST(TrainingPace, ALevelThatChangesOnce) {
  std::vector<double> stretches = {100, 100, 100, 100, 100, 100, 109, 109, 109, 109};
  const auto log = [&] { return Log(stretches); };
  const auto level = FindPaceLevel(log());
  ASSERT_TRUE(level);
  EXPECT_NEAR(static_cast<double>(level->from), 241, 6);
  EXPECT_NEAR(level->after_ns / level->before_ns, 1.09, 0.005);
  EXPECT_NEAR(level->lost_ns, 160 * 9e6, 1e8);
  EXPECT_FALSE(level->to);
  stretches = {100, 100, 100, 100, 100, 109, 109, 109, 100, 100};
  const auto between = FindPaceLevel(log());
  ASSERT_TRUE(between && between->to);
  EXPECT_NEAR(static_cast<double>(between->from), 201, 6);
  EXPECT_NEAR(static_cast<double>(*between->to), 320, 6);
  stretches = {100, 100, 100, 109, 100, 100, 109, 100, 109, 100};
  EXPECT_FALSE(FindPaceLevel(log())) << "it goes up and down";
  stretches = {100, 103, 106, 109, 112, 115, 118, 121, 124, 127};
  EXPECT_FALSE(FindPaceLevel(log())) << "it grows";
  stretches = {100, 100, 100, 100, 100, 100, 103, 103, 103, 103};
  EXPECT_FALSE(FindPaceLevel(log())) << "hardly any";
  stretches = {109, 109, 109, 109, 100, 100, 100, 100, 100, 100};
  EXPECT_FALSE(FindPaceLevel(log())) << "it is faster";
  stretches = {100, 130, 105, 125, 100, 130, 140, 118, 150, 125};
  EXPECT_FALSE(FindPaceLevel(log())) << "it varies as much";
  stretches = {100, 100, 100, 100, 100, 100, 109, 109, 109, 109};
  std::vector<TrainingLogRow> twice = log();
  for (size_t i = 240; i < twice.size(); ++i) twice[i].attempt = 1;
  EXPECT_FALSE(FindPaceLevel(twice));
}

TEST(TrainingPace, TheNextDigitIsNoOtherLevel) {
  std::vector<TrainingLogRow> log = Log({100, 100, 100, 100, 100, 100, 110, 110, 110, 110});
  for (size_t i = 0; i < log.size(); ++i) log[i].elapsed_ns = i < 240 ? 1'000'000'000 : 1'100'000'000;
  EXPECT_FALSE(FindPaceLevel(log));
  log[5].elapsed_ns = 1'050'000'000;
  EXPECT_TRUE(FindPaceLevel(log)) << "printed with two digits";
}

// As sequences that grow do, or a warm-up that is long.
TEST(TrainingPace, WhatDoesNotComeBackIsASchedule) {
  EXPECT_FALSE(FindPaceShifts(Log({100, 100, 100, 200, 200, 200, 300, 300, 300, 300})));
  EXPECT_FALSE(FindPaceShifts(Log({300, 300, 100, 100, 100, 100, 100, 100, 100, 100})));
}

TEST(TrainingPace, SingleSlowLinesAndSmallShiftsAreNone) {
  auto log = Log({100, 100, 100, 100, 100, 100, 100, 100, 100, 100});
  for (size_t i = 20; i < log.size(); i += 20) *log[i].elapsed_ns *= 30;
  EXPECT_FALSE(FindPaceShifts(log));
  EXPECT_FALSE(FindPaceShifts(Log({100, 100, 100, 115, 115, 115, 100, 100, 100, 100})));
  auto few = Log({100, 200, 100});
  EXPECT_TRUE(FindPaceShifts(few));
  few.erase(few.begin(), few.begin() + 30);
  EXPECT_FALSE(FindPaceShifts(few)) << "90 lines show no course";
}

TEST(TrainingPace, OtherBatchesAndWarmupDoNotCount) {
  auto log = Log({100, 100, 100, 100, 200, 200, 100, 100, 100, 100});
  for (TrainingLogRow& row : log)
    if (row.iteration > 160 && row.iteration <= 240) row.global_batch = 16;
  EXPECT_FALSE(FindPaceShifts(log));
}

TEST(TrainingPace, LongerSequencesAreNotSlower) {
  auto log = Log({100, 100, 100, 100, 200, 200, 100, 100, 100, 100});
  for (TrainingLogRow& row : log) row.tokens_per_second = 1000;
  EXPECT_FALSE(FindPaceShifts(log));
  for (TrainingLogRow& row : log) row.tokens_per_second = 1e11 / *row.elapsed_ns;
  EXPECT_TRUE(FindPaceShifts(log));
}

TEST(TrainingPace, OfTokensPerSecondAloneAFallIsEnough) {
  const auto rates = [](const std::vector<double>& per_token) {
    std::vector<TrainingLogRow> log = Log(per_token);
    for (TrainingLogRow& row : log) {
      row.tokens_per_second = 1e9 / *row.elapsed_ns;
      row.elapsed_ns.reset();
    }
    return FindPaceShifts(log);
  };
  const auto falls = rates({100, 100, 100, 100, 100, 200, 200, 200, 200, 200});
  ASSERT_TRUE(falls);
  EXPECT_TRUE(falls->of_tokens);
  EXPECT_NEAR(falls->slow_ns / falls->fast_ns, 2, 0.1);
  EXPECT_NEAR(falls->lost_share, 1.0 / 3, 0.02);
  EXPECT_FALSE(rates({200, 200, 100, 100, 100, 100, 100, 100, 100, 100})) << "it is slow at its start alone";
  EXPECT_FALSE(rates({100, 100, 100, 100, 100, 100, 100, 100, 100, 100}));
}

TEST(TrainingPace, IterationsThatTakeLongerAndLonger) {
  const std::vector<double> growing = {100, 150, 200, 250, 300};
  const auto growth = FindPaceGrowth(Log(growing));
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->early_ns, 100e6, 3e6);
  EXPECT_NEAR(growth->late_ns, 300e6, 3e6);
  EXPECT_NEAR(growth->lost_ns, 40 * 500e6, 1e9);
  EXPECT_FALSE(FindPaceGrowth(Log({100, 200, 200, 300, 300}))) << "steps of a schedule";
  EXPECT_FALSE(FindPaceGrowth(Log({100, 110, 120, 130, 140}))) << "not twice as long";
  EXPECT_FALSE(FindPaceGrowth(Log({300, 250, 200, 150, 100})));
  std::vector<TrainingLogRow> few = Log(growing);
  few.resize(19);
  EXPECT_FALSE(FindPaceGrowth(few));
  std::vector<TrainingLogRow> twice = Log(growing);
  for (size_t i = 100; i < twice.size(); ++i) twice[i].attempt = 1;
  EXPECT_FALSE(FindPaceGrowth(twice));
}

}  // namespace
}  // namespace dladvisor
