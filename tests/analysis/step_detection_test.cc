// SPDX-License-Identifier: Apache-2.0
// Steps against a reference, and the cases in which ranges that look like steps are none.
#include "src/analysis/context/step_detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/analysis/timeline/step.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using testing::HasSubstr;

std::vector<Step> StepsOf(const TraceBuilder& b, const AnalysisOptions& options = {}) {
  const Context context = MakeContext(b.trace, options);
  return context.steps.by_rank.empty() ? std::vector<Step>() : context.steps.by_rank[0].second;
}

std::string Pattern(const TraceBuilder& b) { return test::ContextOf(b.trace).steps.range_pattern; }

struct Work {
  Ns call, start, end;
};

// Two threads launch at random times on two devices; everything runs at some time after its launch.
TraceBuilder RandomLoop(std::mt19937& random, std::vector<Interval>& ranges, std::vector<Work>& work) {
  TraceBuilder b;
  b.AddThread(0, 43);
  b.AddDevice(1);
  Ns t = static_cast<Ns>(random() % 50);
  for (int step = 0; step < 2 + static_cast<int>(random() % 6); ++step) {
    const Ns length = 20 + static_cast<Ns>(random() % 60);
    b.Range(t, t + length, "iteration " + std::to_string(step * 10 + 5));
    ranges.push_back({t, t + length});
    t += length + static_cast<Ns>(random() % 3 ? random() % 30 : 0);
  }
  for (int i = 0; i < 12; ++i) {
    const Ns call = static_cast<Ns>(random() % static_cast<uint32_t>(t + 40));
    const Ns start = call + 3 + static_cast<Ns>(random() % 60);
    work.push_back({call, start, start + 1 + static_cast<Ns>(random() % 40)});
  }
  std::sort(work.begin(), work.end(), [](const Work& x, const Work& y) { return x.call < y.call; });
  std::vector<std::pair<Ns, int64_t>> by_start;  // and correlation
  for (const Work& w : work) {
    by_start.emplace_back(w.start, static_cast<int64_t>(by_start.size()) + 1);
    b.Api(w.call, w.call + 2, "cudaLaunchKernel", by_start.back().second,
          static_cast<uint32_t>(random() % 2));
  }
  std::sort(by_start.begin(), by_start.end());
  for (const auto& [start, correlation] : by_start)
    b.Kernel(start, work[static_cast<size_t>(correlation) - 1].end, "k", correlation, 0,
             static_cast<uint32_t>(random() % 2));
  return b;
}

TEST(StepDetection, AgreesWithTheDefinition) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> ranges;
    std::vector<Work> work;
    const TraceBuilder b = RandomLoop(random, ranges, work);
    const std::vector<Step> steps = StepsOf(b);
    const auto launches = [&](const Interval& range) {
      return std::ranges::any_of(work,
                                 [&](const Work& w) { return w.call >= range.start && w.call < range.end; });
    };
    if (std::ranges::any_of(ranges, launches))
      while (!launches(ranges.back())) ranges.pop_back();
    ASSERT_EQ(steps.size(), ranges.size());
    // The first step begins where the GPU has done what was launched beside the steps, before its own work.
    Ns own = std::numeric_limits<Ns>::max();
    for (const Work& w : work)
      if (w.call >= ranges[0].start && w.call < ranges[0].end) own = std::min(own, w.start);
    Ns begin = ranges[0].start;
    for (const Work& w : work)
      if ((w.call < ranges[0].start || w.call >= ranges.back().end) && w.end <= own &&
          own < std::numeric_limits<Ns>::max())
        begin = std::max(begin, w.end);
    for (size_t n = 0; n < steps.size(); ++n) {
      Ns first = 0, last = 0;
      for (const Work& w : work) {
        if (w.call < ranges[n].start || w.call >= ranges[n].end) continue;
        first = last == 0 ? w.start : std::min(first, w.start);
        last = std::max(last, w.end);
      }
      EXPECT_EQ(steps[n].number, static_cast<int64_t>(n) * 10 + 5);
      EXPECT_EQ(steps[n].gpu, (Interval{first, last}));
      const Ns end = std::max(begin, last == 0 ? ranges[n].end : last);
      EXPECT_EQ(steps[n].time, (Interval{begin, end})) << "step " << n;
      begin = end;
    }
  }
}

TEST(StepDetection, FamiliesOfStepsPartitionTheirWork) {
  std::mt19937 random(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<Interval> ranges;
    std::vector<Work> work;
    const TraceBuilder b = RandomLoop(random, ranges, work);
    const Context context = test::ContextOf(b.trace);
    const std::vector<StepRow> rows = ComputeSteps(context);
    const Interval all{rows.front().start_ns, rows.back().end_ns};
    int64_t kernels = 0, kernel_ns = 0, busy = 0;
    for (const StepRow& row : rows) {
      kernels += row.kernels;
      kernel_ns += row.kernel_ns;
      busy += row.busy_ns;
      EXPECT_EQ(row.busy_ns + row.idle_ns, row.duration_ns);
      EXPECT_EQ(row.kernel_busy_ns, row.busy_ns) << "there are only kernels";
    }
    int64_t expected = 0, expected_ns = 0;
    for (const Work& w : work)
      if (w.start >= all.start && w.start < all.end) {
        ++expected;
        expected_ns += w.end - w.start;
      }
    EXPECT_EQ(kernels, expected);
    EXPECT_EQ(kernel_ns, expected_ns);
    std::vector<Interval> first_device;
    for (const uint32_t k : context.work[0].kernels)
      first_device.push_back({b.trace.kernels.start[k], b.trace.kernels.end[k]});
    EXPECT_EQ(busy, Length(Clip(Union(first_device), all)));
  }
}

TEST(StepDetection, TheLoopWithMostStepsCounts) {
  TraceBuilder b;
  for (int epoch = 0; epoch < 2; ++epoch) {
    b.Range(1000 * epoch, 1000 * epoch + 990, "epoch " + std::to_string(epoch));
    for (int step = 0; step < 5; ++step) {
      const Ns t = 1000 * epoch + 100 * step;
      b.Range(t, t + 90, "step " + std::to_string(epoch * 5 + step));
      b.Range(t + 50, t + 60, "iteration 1");  // always the same number
      b.Launch(t + 10, t + 20, t + 80, "k");
    }
  }
  EXPECT_EQ(Pattern(b), "step #");
  EXPECT_EQ(StepsOf(b).size(), 10u);
}

TEST(StepDetection, OfEquallyManyTheLongestCount) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    const Ns t = 100 * step;
    b.Range(t, t + 90, "train_step " + std::to_string(step));
    b.Range(t + 20, t + 40, "[iteration " + std::to_string(step));
    b.Launch(t + 25, t + 30, t + 80, "k");
  }
  EXPECT_EQ(Pattern(b), "train_step #");
}

TEST(StepDetection, WhatStandsBeforeTheNumberIsThePattern) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    b.Range(100 * step, 100 * step + 90, "_step_x_step_" + std::to_string(step) + "_bs16");
    b.Launch(100 * step + 10, 100 * step + 20, 100 * step + 80, "k");
  }
  EXPECT_EQ(Pattern(b), "_step_x_step_#");
}

TEST(StepDetection, NumbersThatDoNotFitAreNone) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step)
    b.Range(100 * step, 100 * step + 90, "step 9999999999999999999999" + std::to_string(step));
  b.Launch(10, 20, 80, "k");
  EXPECT_TRUE(StepsOf(b).empty());
}

TEST(StepDetection, MarksAreNoSteps) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    b.Range(100 * step, 100 * step, "step " + std::to_string(step));
    b.trace.ranges.kind.back() = RangeKind::kMark;
  }
  b.Launch(10, 20, 80, "k");
  EXPECT_TRUE(StepsOf(b).empty());
}

TEST(StepDetection, RangesOfAProcessWithoutGpuWorkAreNone) {
  TraceBuilder b;
  b.AddProcess(43);
  for (int step = 0; step < 4; ++step)
    b.Range(100 * step, 100 * step + 90, "step " + std::to_string(step), 1);
  b.Launch(10, 20, 80, "k");
  EXPECT_TRUE(StepsOf(b).empty());
}

TEST(StepDetection, EachRankHasItsOwn) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  for (int step = 0; step < 3; ++step) {
    const Ns t = 100 * step;
    b.Range(t, t + 50, "step " + std::to_string(step), 0);
    b.Range(t + 5, t + 60, "step " + std::to_string(step), 1);
    b.Launch(t + 10, t + 20, t + 70, "k", 0, 0, 0);
    b.Launch(t + 15, t + 20, t + 90, "k", 1, other, device);
  }
  const Context context = test::ContextOf(b.trace);
  ASSERT_EQ(context.steps.by_rank.size(), 2u);
  EXPECT_EQ(context.windows, (std::vector<Interval>{{0, 270}, {5, 290}}));
}

// Steps of `lengths`, back to back.
TraceBuilder StepsOfLengths(const std::vector<Ns>& lengths) {
  TraceBuilder b;
  Ns t = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    b.Range(t, t + lengths[i], "step " + std::to_string(i));
    b.Launch(t, t + 1, t + lengths[i], "k");
    t += lengths[i];
  }
  return b;
}

size_t WarmupOf(const std::vector<Ns>& lengths) {
  const std::vector<Step> steps = StepsOf(StepsOfLengths(lengths));
  const auto steady = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return !s.warmup; });
  EXPECT_TRUE(std::none_of(steady, steps.end(), [](const Step& s) { return s.warmup; }))
      << "only at the start";
  return static_cast<size_t>(steady - steps.begin());
}

TEST(StepDetection, RangesOfOneNameThatSaysStepAreSteps) {
  for (const char* name : {"train_step", "Model.training_step", "iteration", "STEP", "trainer:train_batch",
                           "timestep", "decode_step", "md_step"}) {
    TraceBuilder b;
    for (int i = 0; i < 4; ++i) {
      b.Range(100 * i, 100 * i + 90, name);
      b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 50, "k");
    }
    const Context context = test::ContextOf(b.trace);
    ASSERT_EQ(context.steps.by_rank.size(), 1u) << name;
    EXPECT_EQ(context.steps.by_rank[0].second.size(), 4u);
    EXPECT_EQ(context.steps.range_pattern, name);
  }
  for (const char* name : {"Optimizer.step", "scheduler.step", "forward", "steps", "substep"}) {
    TraceBuilder b;
    for (int i = 0; i < 4; ++i) {
      b.Range(100 * i, 100 * i + 90, name);
      b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 50, "k");
    }
    EXPECT_TRUE(test::ContextOf(b.trace).steps.by_rank.empty()) << name;
  }
}

TEST(StepDetection, NumbersGoBeforeNames) {
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) {
    if (i % 2 == 0) b.Range(100 * i, 100 * i + 190, "iteration " + std::to_string(i));
    b.Range(100 * i + 1, 100 * i + 80, "train_step");
    b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 50, "k");
  }
  EXPECT_EQ(test::ContextOf(b.trace).steps.by_rank.at(0).second.size(), 3u);
}

TEST(StepDetection, RangesThatNestAreNoSteps) {
  TraceBuilder b;
  for (int i = 0; i < 10; ++i) {
    b.Range(100 * i, 1000, "iteration " + std::to_string(i));  // pushed, and popped all together
    b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 50, "k");
  }
  EXPECT_TRUE(test::ContextOf(b.trace).steps.by_rank.empty());
}

// A language model that generates: passes of `layers` kernels, whose names change as the sequence grows.
TraceBuilder Generating(int tokens, bool looks_up_once_a_layer) {
  TraceBuilder b;
  for (int t = 0; t < tokens; ++t) {
    const Ns begin = 1000 * t;
    const auto op = [&](Ns at, const char* name) { b.Range(begin + at, begin + at + 20, name); };
    op(0, "aten::embedding");   // of the token
    op(30, "aten::embedding");  // of its position
    for (int layer = 0; layer < 4; ++layer) {
      if (looks_up_once_a_layer) op(95 + 100 * layer, "aten::embedding");
      op(120 + 100 * layer, "aten::addmm");
      b.Launch(begin + 125 + 100 * layer, begin + 130 + 100 * layer, begin + 160 + 100 * layer,
               "attention_" + std::to_string(t * t + layer * layer));
    }
    op(600, "aten::argmax");
    b.Launch(begin + 605, begin + 610, begin + 620, "reduce");
  }
  return b;
}

TEST(StepDetection, PassesThatGenerateTokens) {
  const Context context = test::ContextOf(Generating(6, false).trace);
  ASSERT_EQ(context.steps.by_rank.size(), 1u);
  const std::vector<Step>& steps = context.steps.by_rank[0].second;
  ASSERT_EQ(steps.size(), 5u) << "what follows the last look-up may be cut off";
  EXPECT_EQ(steps[2].operations, 5u);
  EXPECT_EQ(context.steps.source, "passes");
  EXPECT_TRUE(test::ContextOf(Generating(3, false).trace).steps.by_rank.empty()) << "two steps are too few";
  EXPECT_EQ(test::ContextOf(Generating(6, true).trace).steps.by_rank.at(0).second[2].operations, 5u)
      << "between look-ups of one pass no token is chosen";
}

TEST(StepDetection, WarmUpIsAnOutlierAtTheStart) {
  EXPECT_EQ(WarmupOf({100, 100, 100, 100, 100, 100}), 0u);
  EXPECT_EQ(WarmupOf({500, 100, 100, 100, 100, 100}), 1u);
  EXPECT_EQ(WarmupOf({500, 300, 100, 100, 100, 100}), 2u);
  EXPECT_EQ(WarmupOf({500, 400, 300, 100, 100, 100}), 2u) << "at most a third";
  EXPECT_EQ(WarmupOf({100, 500, 100, 100, 100, 100}), 0u) << "a later outlier is part of the run";
  EXPECT_EQ(WarmupOf({120, 100, 100, 100, 100, 100}), 0u) << "not by more than 20 %";
  EXPECT_EQ(WarmupOf({121, 100, 100, 100, 100, 100}), 1u);
  // Steps that vary: median 100, median deviation 20, so that 100 + 5 x 29.652 is still no outlier.
  EXPECT_EQ(WarmupOf({248, 60, 80, 100, 120, 140}), 0u);
  EXPECT_EQ(WarmupOf({249, 60, 80, 100, 120, 140}), 1u);
  EXPECT_EQ(WarmupOf({900, 100}), 0u) << "of two steps none can be called warm-up";
  EXPECT_EQ(WarmupOf({900, 100, 100}), 1u);
  std::vector<Ns> many(20, 100);
  many[1] = 2000;
  EXPECT_EQ(WarmupOf(many), 2u) << "what is made at its first use";
  many[15] = 1000;
  EXPECT_EQ(WarmupOf(many), 0u) << "it recurs";
}

// As of an elimination, whose rows become fewer.
TEST(StepDetection, StepsThatShrinkAllTheWayAreNoWarmUp) {
  std::vector<Ns> lengths;
  for (Ns i = 0; i < 300; ++i) lengths.push_back(4'000 - 10 * i);
  EXPECT_EQ(WarmupOf(lengths), 0u);
  lengths.insert(lengths.begin(), {20'000, 9'000});
  EXPECT_EQ(WarmupOf(lengths), 2u) << "what ends at once is one";
}

// One whose steps come near to the others is left out as far as it is longer.
TEST(StepDetection, WarmUpMayEndSlowly) {
  std::vector<Ns> lengths = {1000, 700, 500, 350, 250, 180, 140, 130};
  lengths.resize(60, 100);
  EXPECT_EQ(WarmupOf(lengths), 8u);
}

TEST(StepDetection, WarmUpIsFollowedByAnyNumberOfPaces) {
  std::vector<Ns> lengths = {6000, 5000, 4500, 4000, 3600, 3300, 3000, 2800, 2700, 2600};
  lengths.resize(20, 2000);
  lengths.resize(30, 1600);
  EXPECT_EQ(WarmupOf(lengths), 2u) << "of which each is the same for a while";
  std::vector<Ns> settling;
  for (int i = 0; i < 30; ++i) settling.push_back(static_cast<Ns>(2000 * (1 + 4 * std::pow(0.85, i))));
  EXPECT_EQ(WarmupOf(settling), 7u) << "where it settles";
}

TEST(StepDetection, ChosenStepsAreTakenAsTheyAre) {
  AnalysisOptions options;
  options.steps = {0, 3};
  const TraceBuilder b = StepsOfLengths({900, 100, 100, 100, 100, 100});
  const Context context = MakeContext(b.trace, options);
  EXPECT_EQ(context.StepCount(0), 4);
  EXPECT_EQ(context.windows[0], (Interval{0, 1200}));
}

std::string ErrorOf(const TraceBuilder& b, const AnalysisOptions& options) {
  try {
    MakeContext(b.trace, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(StepDetection, AChosenRangeThatCannotBeAStepIsAnError) {
  TraceBuilder nested;
  for (int i = 0; i < 3; ++i) nested.Range(10 * i, 100 - 10 * i, "layer");
  nested.Launch(40, 45, 60, "k");
  AnalysisOptions options;
  options.step_range = "layer";
  EXPECT_THAT(ErrorOf(nested, options), HasSubstr("they overlap"));

  TraceBuilder elsewhere;
  elsewhere.AddProcess(43);
  elsewhere.Range(0, 10, "batch", 1);
  elsewhere.Launch(40, 45, 60, "k");
  options.step_range = "batch";
  EXPECT_THAT(ErrorOf(elsewhere, options), HasSubstr("no GPU work"));

  TraceBuilder host_only;
  host_only.Range(0, 10, "batch");
  EXPECT_EQ(ErrorOf(host_only, options), "no error") << "a profile without GPU work has no steps";
}

TEST(StepDetection, AChosenRangeInsideOfStepsIsAnError) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.Range(100 * i, 100 * i + 95, "iteration " + std::to_string(i));
    b.Range(100 * i + 2, 100 * i + 8, "aten::add");
    b.Launch(100 * i + 4, 100 * i + 20, 100 * i + 23, "add");
    b.Launch(100 * i + 10, 100 * i + 30, 100 * i + 80, "gemm");
  }
  AnalysisOptions options;
  options.step_range = "aten";
  EXPECT_THAT(ErrorOf(b, options),
              HasSubstr("has 4 ranges that match --step-range aten, but they launch only "
                        "7.4 % of the GPU time between the first and the last"));
  options.step_range = "iteration";
  EXPECT_EQ(StepsOf(b, options).size(), 4u);
}

TEST(StepDetection, AChosenRangeNeedsNoNumberAndMayBeOne) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Range(100 * i, 100 * i + 90, "batch of " + std::to_string(7 - i));
    b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 80, "k");
  }
  AnalysisOptions options;
  options.step_range = "^batch";
  const std::vector<Step> steps = StepsOf(b, options);
  ASSERT_EQ(steps.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(steps[i].number, static_cast<int64_t>(i));
  options.step_range = "of 6$";
  EXPECT_EQ(StepsOf(b, options).size(), 1u);
  options.step_range = R"(of (\d+))";
  EXPECT_THAT(ErrorOf(b, options), HasSubstr("do not rise"));
}

TEST(StepDetection, LastStepsThatLaunchNothingAreNone) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) b.Range(100 * i, 100 * i + 90, "ProfilerStep#" + std::to_string(i));
  b.Launch(10, 20, 80, "k");
  b.Launch(110, 120, 180, "k");
  EXPECT_EQ(StepsOf(b).size(), 2u);
}

TEST(StepDetection, TheFirstBeginsWhenEarlierWorkIsDone) {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    b.Range(100 * i, 100 * i + 90, "ProfilerStep#" + std::to_string(i));
    b.Launch(100 * i + 10, 1000 + 500 * i, 1500 + 500 * i, "k");
  }
  b.Kernel(400, 980, "launched before the profile began", 0);
  EXPECT_EQ(StepsOf(b)[0].time, (Interval{980, 1500}));
}

TEST(StepDetection, EnginesOfServersNameTheirSteps) {
  TraceBuilder b;
  b.Range(0, 990, "execute_15360_context_15(sq15360sk15360sqsq1sqsk1)_generation_0(sq0sk0sqsq0sqsk0)");
  b.Launch(10, 20, 30, "arange");  // before the batch is there
  b.Range(500, 700, "step[EXTEND bs=15 toks=15360]");
  b.Launch(510, 600, 1000, "gemm");
  EXPECT_EQ(Pattern(b), "step[#]");
  const std::vector<Step> steps = StepsOf(b);
  ASSERT_EQ(steps.size(), 1u) << "one is enough";
  EXPECT_EQ(steps[0].time, (Interval{600, 1000})) << "what ran before its first operation is not known";

  TraceBuilder vllm;
  for (int i = 0; i < 3; ++i) {
    vllm.Range(100 * i, 100 * i + 20, "execute_context_0(0)_generation_" + std::to_string(9 - i) + "(9)");
    vllm.Launch(100 * i + 5, 100 * i + 30, 100 * i + 110, "decode");
  }
  EXPECT_EQ(Pattern(vllm), "execute_context_#");
  EXPECT_EQ(StepsOf(vllm).size(), 3u);
}

TEST(StepDetection, AProfilerStartedAgainNumbersAnew) {
  TraceBuilder b;
  for (int i = 0; i < 6; ++i) {
    b.Range(100 * i, 100 * i + 90, "ProfilerStep#" + std::to_string(i % 3));
    b.Launch(100 * i + 10, 100 * i + 20, 100 * i + 80, "k");
  }
  const std::vector<Step> steps = StepsOf(b);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[5].number, 5);
}

// Ranges around `layers` sequences of nine kernels each; the host waits at the end of each range.
TraceBuilder Marked(const char* name, int rounds, int layers, bool waits) {
  TraceBuilder b;
  const int kernels = 9 * layers;
  for (int r = 0; r < rounds; ++r) {
    const Ns begin = 10'000 * r;
    b.Range(begin, begin + 9'000, name);
    for (int i = 0; i < kernels; ++i)
      b.Launch(begin + 20 * i + 5, begin + 20 * i + 10, begin + 20 * i + 20, "k" + std::to_string(i % 9));
    if (waits) b.Api(begin + 8'000, begin + 8'500, "cudaStreamSynchronize", 0);
  }
  return b;
}

TEST(StepDetection, RangesAroundAllThatRepeatsAreSteps) {
  const TraceBuilder passes = Marked("execute_model", 6, 12, true);
  EXPECT_EQ(Pattern(passes), "execute_model");
  EXPECT_EQ(StepsOf(passes).size(), 6u) << "layers are parts of them";
  EXPECT_EQ(StepsOf(Marked("execute_model", 6, 12, false)).size(), 72u) << "nothing says which are the steps";
  EXPECT_EQ(StepsOf(Marked("train_epoch", 6, 12, true)).size(), 72u);
  EXPECT_EQ(StepsOf(Marked("execute_model", 4, 12, true)).size(), 48u);
  EXPECT_EQ(StepsOf(Marked("frames", 6, 1, true)).size(), 6u);
}

TEST(StepDetection, RangesThatCountWhatTheyWorkOnAreSteps) {
  for (const auto& [name, found] : {std::pair("frame ", true), std::pair("layer ", false)}) {
    TraceBuilder b;
    for (int i = 0; i < 6; ++i) {
      b.Range(100 * i, 100 * i + 90, name + std::to_string(i));
      for (int k = 0; k <= i; ++k)
        b.Launch(100 * i + 10 * k, 100 * i + 10 * k + 4, 100 * i + 10 * k + 9, "k" + std::to_string(k * k));
      b.Launch(100 * i + 70, 100 * i + 75, 100 * i + 80, "last");
    }
    EXPECT_EQ(StepsOf(b).size(), found ? 6u : 0u) << name;
    EXPECT_EQ(Pattern(b), found ? "frame #" : "");
  }
}

}  // namespace
}  // namespace dladvisor
