// SPDX-License-Identifier: Apache-2.0
// Ranges in which a program warms up and measures, on drawn traces.
#include "src/analysis/context/program_phase.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// `count` launches, each 100 after the one before, of kernels that take 50.
void Launches(TraceBuilder& b, Ns from, int count, std::string_view name = "kernel") {
  for (Ns at = from; at < from + 100 * count; at += 100) b.Launch(at, at + 10, at + 60, name);
}

// A start, a warm-up, and what is measured.
TraceBuilder Benchmark(std::string_view warm_up, std::string_view measured) {
  TraceBuilder b;
  b.Range(0, 5000, "Run Benchmark");
  b.Range(1000, 2000, warm_up);
  b.Range(3000, 4500, measured);
  Launches(b, 100, 2, "initialise");
  Launches(b, 1100, 5, "cold");
  Launches(b, 3100, 10);
  return b;
}

Interval WindowOf(const TraceBuilder& b, const AnalysisOptions& options = {}) {
  return MakeContext(b.trace, options).windows.at(0);
}

TEST(ProgramPhase, WhatIsMeasuredIsAnalysed) {
  for (const std::string_view warm_up : {"warm-up", "Warmup Step 3", "WarmUp", "[param|warmup|forward]"})
    for (const std::string_view measured : {"measure", "Benchmark Forward Only", "timed_region"}) {
      const TraceBuilder b = Benchmark(warm_up, measured);
      EXPECT_EQ(WindowOf(b), (Interval{3110, 4060})) << warm_up << measured;
      EXPECT_EQ(MakeContext(b.trace, {}).HostWindowOf(0), (Interval{3000, 4500}));
    }
}

TEST(ProgramPhase, WhatFollowsAWarmUpIsAnalysed) {
  TraceBuilder b = Benchmark("warm-up", "forward only");
  EXPECT_EQ(WindowOf(b), (Interval{3110, 4060}));
}

TEST(ProgramPhase, TheWholeIsAnalysedWhereNamesMeanSomethingElse) {
  // A schedule of the learning rate, and a range around everything.
  EXPECT_EQ(WindowOf(Benchmark("warmup_lr", "forward only")), (Interval{110, 4060}));
  // Warm-ups within steps, after the last of which hardly anything follows.
  TraceBuilder b;
  for (Ns at = 0; at < 4000; at += 1000) {
    b.Range(at, at + 900, "warmup");
    Launches(b, at, 8);
  }
  b.Launch(3950, 3960, 3970, "last");
  EXPECT_EQ(WindowOf(b).start, 10);
  // What is measured is the least part of the program.
  TraceBuilder c;
  Launches(c, 0, 20);
  c.Range(2000, 2500, "measure");
  Launches(c, 2000, 5);
  EXPECT_EQ(WindowOf(c).start, 10);
}

TEST(ProgramPhase, AutotuningIsNotWhatAProgramMeasures) {
  TraceBuilder b;
  b.Range(0, 1000, "CachingAutotuner.benchmark_all_configs (dynamo_timed)");
  Launches(b, 0, 10);
  Launches(b, 2000, 3);
  EXPECT_EQ(WindowOf(b).start, 10);
  TraceBuilder c;
  c.Range(0, 1000, "warmup");
  c.Range(100, 900, "benchmark candidates");
  Launches(c, 0, 4);
  Launches(c, 2000, 4);
  EXPECT_EQ(WindowOf(c).start, 2010);
}

TEST(ProgramPhase, StepsOfAWarmUpAreNone) {
  TraceBuilder b;
  b.Range(0, 2000, "warm-up");
  for (int step = 0; step < 5; ++step) {
    b.Range(step * 400, step * 400 + 400, "Warm-up Step " + std::to_string(step));
    Launches(b, step * 400, 4, "cold");
  }
  b.Range(2000, 3600, "benchmark");
  for (int step = 0; step < 4; ++step) {
    b.Range(2000 + step * 400, 2400 + step * 400, "iteration " + std::to_string(step));
    Launches(b, 2000 + step * 400, 4);
  }
  const Context context = MakeContext(b.trace, {});
  EXPECT_EQ(context.steps.range_pattern, "iteration #");
  EXPECT_EQ(context.StepCount(0), 4);
  EXPECT_EQ(context.windows.at(0).start, 2000);
  AnalysisOptions chosen;
  chosen.step_range = "Warm-up Step";
  EXPECT_EQ(MakeContext(b.trace, chosen).StepCount(0), 5);
  AnalysisOptions whole;
  whole.whole = true;
  EXPECT_EQ(WindowOf(b, whole).start, 10);
}

// An upload, a wait at the prompt, queries, and the wait for the next command.
TEST(ProgramPhase, WhatRunsBetweenWaitsForInputIsAnalysed) {
  constexpr Ns kSecond = 1'000'000'000;
  const auto window = [](std::string_view call, Ns wait) {
    TraceBuilder b;
    Launches(b, 100, 2, "upload");
    b.Os(1000, 1000 + wait, call);
    Launches(b, 2000 + wait, 10);
    b.Os(10'000 + wait, 10'000 + 2 * wait, call);
    return WindowOf(b);
  };
  EXPECT_EQ(window("getc", 4 * kSecond), (Interval{2010 + 4 * kSecond, 2960 + 4 * kSecond}));
  EXPECT_EQ(window("poll", 4 * kSecond).start, 110) << "may wait for the GPU";
  EXPECT_EQ(window("getc", kSecond / 2).start, 110) << "reads a file";
}

}  // namespace
}  // namespace dladvisor
