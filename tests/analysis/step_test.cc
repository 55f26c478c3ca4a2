// SPDX-License-Identifier: Apache-2.0
// Steps: found from ranges, from the kernel sequence, or not at all.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "src/analysis/context/kernel_period.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<uint32_t> Repeat(const std::vector<uint32_t>& unit, size_t times) {
  std::vector<uint32_t> sequence;
  for (size_t i = 0; i < times; ++i) sequence.insert(sequence.end(), unit.begin(), unit.end());
  return sequence;
}

const std::vector<uint32_t> kStep = {1, 2, 3, 4, 5, 6, 7, 8, 3, 2};

TEST(KernelPeriod, FindsTheRepetition) {
  const auto period = FindPeriod(Repeat(kStep, 5));
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->period, 10u);
  EXPECT_EQ(period->count, 5u);
  EXPECT_EQ(period->first, 0u);
}

TEST(KernelPeriod, SkipsWarmUpBeforeAndEvaluationAfter) {
  std::vector<uint32_t> sequence = {90, 91, 92, 93};
  const auto steps = Repeat(kStep, 6);
  sequence.insert(sequence.end(), steps.begin(), steps.end());
  sequence.insert(sequence.end(), {95, 96, 97});
  const auto period = FindPeriod(sequence);
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->period, 10u);
  EXPECT_GE(period->count, 5u);
  EXPECT_GE(period->first, 4u);
  EXPECT_LE(period->first + period->count * period->period, 64u);
}

TEST(KernelPeriod, ALoopOfOneKernelIsNoTraining) {
  EXPECT_FALSE(FindPeriod(std::vector<uint32_t>(1000, 7)).has_value());
  EXPECT_FALSE(FindPeriod(Repeat({1, 2, 1, 2, 1, 2, 1, 2}, 100)).has_value());
}

TEST(KernelPeriod, TwoRepetitionsOrLittleCoverageDoNotSuffice) {
  EXPECT_FALSE(FindPeriod(Repeat(kStep, 2)).has_value());
  std::vector<uint32_t> sequence;
  for (uint32_t i = 0; i < 200; ++i) sequence.push_back(1000 + i);
  const auto steps = Repeat(kStep, 5);
  sequence.insert(sequence.end(), steps.begin(), steps.end());
  EXPECT_FALSE(FindPeriod(sequence).has_value());
  EXPECT_FALSE(FindPeriod({}).has_value());
}

// `count` iterations of 100 ns with a kernel in each; the first takes `first` ns.
TraceBuilder Loop(int count, Ns first = 100, std::string_view prefix = "iteration ") {
  TraceBuilder b;
  Ns t = 0;
  for (int i = 0; i < count; ++i) {
    const Ns length = i == 0 ? first : 100;
    b.Range(t, t + length, std::string(prefix) + std::to_string(i + 10));
    b.Launch(t + 5, t + 10, t + length + 20, "k" + std::to_string(i));  // ends after its range
    t += length + 50;
  }
  return b;
}

TEST(Steps, NumberedRangesPartitionTheTime) {
  const TraceBuilder b = Loop(5);
  const Context context = test::ContextOf(b.trace);
  ASSERT_EQ(context.steps.by_rank.size(), 1u);
  const auto& steps = context.steps.by_rank[0].second;
  EXPECT_EQ(context.steps.source, "ranges");
  EXPECT_EQ(context.steps.range_pattern, "iteration #");
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].number, 10);
  EXPECT_EQ(steps[0].time, (Interval{0, 120}));
  EXPECT_EQ(steps[1].time, (Interval{120, 270}));  // the pause before its range is its own
  EXPECT_EQ(steps[1].gpu, (Interval{160, 270}));
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_EQ(steps[i].time.start, steps[i - 1].time.end);
  EXPECT_EQ(context.windows[0], (Interval{0, steps.back().time.end}));
}

TEST(Steps, WarmUpIsLeftOut) {
  const TraceBuilder b = Loop(6, 5000);
  const Context context = test::ContextOf(b.trace);
  const auto& steps = context.steps.by_rank[0].second;
  EXPECT_TRUE(steps[0].warmup);
  EXPECT_FALSE(steps[1].warmup);
  EXPECT_EQ(context.windows[0].start, steps[1].time.start);
  EXPECT_EQ(context.StepCount(0), 5);
}

TEST(Steps, NamesOfManyTools) {
  for (const char* prefix : {"ProfilerStep#", "step ", "Iteration: ", "train/iter_", "epoch1_step", "[step_"})
    EXPECT_EQ(test::ContextOf(Loop(4, 100, prefix).trace).steps.by_rank.size(), 1u) << prefix;
  for (const char* prefix : {"layer ", "footstep ", "batch", "stepper "})
    EXPECT_TRUE(test::ContextOf(Loop(4, 100, prefix).trace).steps.by_rank.empty()) << prefix;
}

TEST(Steps, NestedRangesThatAreNeverClosedAreNone) {
  TraceBuilder b;
  for (int i = 0; i < 10; ++i) b.Range(i * 10, 1000, "iteration " + std::to_string(i), 0, /*open=*/true);
  b.Launch(500, 510, 600, "k");
  EXPECT_TRUE(test::ContextOf(b.trace).steps.by_rank.empty());
}

TEST(Steps, OverlappingOrFallingNumbersAreNone) {
  TraceBuilder nested;
  for (int i = 0; i < 4; ++i) nested.Range(i * 10, 1000 - i * 10, "step " + std::to_string(i));
  nested.Launch(500, 510, 600, "k");
  EXPECT_TRUE(test::ContextOf(nested.trace).steps.by_rank.empty());
  TraceBuilder falling;
  for (int i = 0; i < 4; ++i) falling.Range(i * 10, i * 10 + 5, "step " + std::to_string(9 - i));
  falling.Launch(50, 51, 60, "k");
  EXPECT_TRUE(test::ContextOf(falling.trace).steps.by_rank.empty());
}

TEST(Steps, TheUserChooses) {
  const TraceBuilder b = Loop(6);
  AnalysisOptions some;
  some.steps = {12, 13};
  const Context chosen = MakeContext(b.trace, some);
  EXPECT_EQ(chosen.StepCount(0), 2);
  EXPECT_EQ(chosen.steps.by_rank[0].second[0].number, 12);
  AnalysisOptions none;
  none.steps = {50, 60};
  EXPECT_THROW(MakeContext(b.trace, none), Error);
  AnalysisOptions regex;
  regex.step_range = "^iteration 1[0-2]$";
  EXPECT_EQ(MakeContext(b.trace, regex).StepCount(0), 3);
  regex.step_range = "no such range";
  EXPECT_THROW(MakeContext(b.trace, regex), Error);
}

TEST(Steps, FromTheKernelSequence) {
  TraceBuilder b;
  Ns t = 1000;
  for (int step = 0; step < 5; ++step) {
    for (const uint32_t k : kStep) {
      b.Launch(t - 5, t, t + 10, "kernel" + std::to_string(k));
      t += 12;
    }
    t += 100;
  }
  const Context context = test::ContextOf(b.trace);
  ASSERT_EQ(context.steps.by_rank.size(), 1u);
  EXPECT_EQ(context.steps.source, "kernel sequence");
  const auto& steps = context.steps.by_rank[0].second;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[1].time.length(), 220);
  EXPECT_EQ(steps[1].gpu.length(), 118);
}

}  // namespace
}  // namespace dladvisor
