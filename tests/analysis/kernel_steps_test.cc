// SPDX-License-Identifier: Apache-2.0
// Steps of programs in which no range is one: by the sequence of kernels, updates of parameters and passes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/context/step_detection.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<Step> StepsOf(const TraceBuilder& b) {
  const auto steps = test::ContextOf(b.trace).steps;
  return steps.by_rank.empty() ? std::vector<Step>() : steps.by_rank[0].second;
}

// `rounds` of ten kernels; each round launched at once, 10 ns before its first kernel.
TraceBuilder KernelLoop(int rounds) {
  TraceBuilder b;
  b.Launch(0, 10, 100, "start");
  Ns t = 300;
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < 10; ++k) b.Launch(t - 10, t + 20 * k, t + 20 * k + 15, "kernel" + std::to_string(k));
    t += 500;
  }
  return b;
}

TEST(KernelSteps, KernelSequencePartitionsToo) {
  const TraceBuilder b = KernelLoop(5);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(context.steps.source, "kernel sequence");
  EXPECT_EQ(context.steps.range_pattern, "");
  const std::vector<Step>& steps = context.steps.by_rank.at(0).second;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].time, (Interval{290, 495})) << "from its first launch";
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(steps[i].time.start, steps[i - 1].time.end);
    EXPECT_EQ(steps[i].time.length(), 500);
    EXPECT_EQ(steps[i].gpu.length(), 195);
  }
}

// The GPU waits before each round; how long it did before the first is not known.
TEST(KernelSteps, TheFirstIsWarmUpWhereOthersBeginWithAWait) {
  for (const Ns wait : {Ns{300}, Ns{0}}) {
    TraceBuilder b;
    Ns t = 300;
    for (int round = 0; round < 5; ++round, t += 200 + wait)
      for (int k = 0; k < 10; ++k)
        b.Launch(t + 20 * k - 5, t + 20 * k, t + 20 * k + 15, "kernel" + std::to_string(k));
    const auto steps = StepsOf(b);
    ASSERT_EQ(steps.size(), 5u);
    EXPECT_EQ(steps[0].warmup, wait > 0);
    EXPECT_EQ(steps[1].time.length(), 200 + wait);
  }
}

// `rounds` of one kernel that runs 15 of 20 ms, and `other` ms in every second of them.
TraceBuilder LoopOfOneKernel(int rounds, Ns other = 15) {
  constexpr Ns kMs = 1'000'000;
  TraceBuilder b;
  for (int round = 0; round < rounds; ++round) {
    const Ns t = 20 * kMs * round, length = round % 2 == 0 ? other : 15;
    b.Launch(t, t + kMs, t + kMs + length * kMs, "solve");
  }
  return b;
}

// As a benchmark does: a kernel of 10 us that starts again and again, `distance` us later.
TraceBuilder ShortLoopOfOneKernel(int rounds, Ns distance) {
  TraceBuilder t;
  for (int i = 0; i < rounds; ++i) {
    const Ns start = 1'000'000 + i * distance * 1'000;
    t.Launch(start, start + 5'000, start + 15'000, "gemm");
  }
  return t;
}

TEST(KernelSteps, ABenchmarkOfOneKernelHasARoundForEach) {
  EXPECT_EQ(StepsOf(ShortLoopOfOneKernel(20, 16)).size(), 20u);
  EXPECT_TRUE(StepsOf(ShortLoopOfOneKernel(19, 16)).empty()) << "too few";
  EXPECT_TRUE(StepsOf(ShortLoopOfOneKernel(20, 25)).empty()) << "the GPU waits for most of them";
}

TEST(KernelSteps, ALoopOfOneKernelHasARoundForEach) {
  EXPECT_EQ(StepsOf(LoopOfOneKernel(8)).size(), 8u);
  EXPECT_TRUE(StepsOf(LoopOfOneKernel(4)).empty()) << "too few";
  EXPECT_TRUE(StepsOf(LoopOfOneKernel(8, 2)).empty()) << "pieces that differ";
  TraceBuilder copying = LoopOfOneKernel(8);
  copying.Copy(161'000'000, 361'000'000, 1 << 30, CopyDirection::kDeviceToHost, MemoryKind::kDevice,
               MemoryKind::kPageable, 99);
  EXPECT_TRUE(StepsOf(copying).empty()) << "most of its time is a copy";
  TraceBuilder brief;
  for (int round = 0; round < 8; ++round)
    brief.Launch(100 * round, 100 * round + 10, 100 * round + 90, "add");
  EXPECT_TRUE(StepsOf(brief).empty()) << "a test";
}

TEST(KernelSteps, KernelsBetweenPausesThatRecurAreARound) {
  const auto loop = [](int rounds, int kernels, int odd) {
    TraceBuilder b;
    Ns t = 0;
    for (int r = 0; r < rounds; ++r) {
      for (int i = 0; i < kernels + (r == odd); ++i, t += 3'100'000)
        b.Launch(t, t + 10, t + 3'000'000, "sweep");
      t += 2'000'000;  // writes what it has
    }
    return b;
  };
  const std::vector<Step> steps = StepsOf(loop(8, 4, -1));
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps[1].operations, 4u);
  EXPECT_EQ(StepsOf(loop(8, 4, 3)).size(), 33u) << "rounds that differ";
  EXPECT_EQ(StepsOf(loop(3, 8, -1)).size(), 24u) << "too few";
}

TEST(KernelSteps, AddUpToMoreThanTimesHold) {
  constexpr Ns kLength = 800'000'000'000'000'000;
  TraceBuilder b;
  for (Ns i = 0; i < 12; ++i) b.Launch(20 * i, 20 * i + 10, kLength + 20 * i, "solve");
  EXPECT_EQ(StepsOf(b).size(), 12u);
}

// Of each round the kernel at place `at` has the name that `name` gives for the round.
TraceBuilder LoopWithKernel(int at, const std::vector<std::string>& name) {
  TraceBuilder b;
  Ns t = 300;
  for (const std::string& of_round : name) {
    for (int k = 0; k < 10; ++k)
      b.Launch(t - 10, t + 20 * k, t + 20 * k + 15, k == at ? of_round : "kernel" + std::to_string(k));
    t += 500;
  }
  return b;
}

TEST(KernelSteps, TheLibrarysChoiceOfAProductsKernelMakesNoOtherRound) {
  EXPECT_EQ(
      StepsOf(LoopWithKernel(4, {"ampere_sgemm_128x64_tn", "ampere_sgemm_32x32_tn", "ampere_sgemm_32x32_tn",
                                 "ampere_sgemm_128x64_tn", "cutlass_80_simt_sgemm_256x128_8x4_tn_align1"}))
          .size(),
      5u);
  EXPECT_TRUE(StepsOf(LoopWithKernel(4, {"first", "second", "second", "first", "third"})).empty());
}

TEST(KernelSteps, AGraphBehindTheKernelsOfEachRoundEndsIt) {
  TraceBuilder b = KernelLoop(5);
  for (int round = 0; round < 5; ++round) b.Graph(500 + 500 * round, 780 + 500 * round, 3, 1);
  const std::vector<Step> steps = StepsOf(b);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].time, (Interval{290, 780}));
  EXPECT_EQ(steps[4].time, (Interval{2280, 2780}));
  EXPECT_EQ(steps[4].gpu, (Interval{2300, 2780}));
}

// Kernels of `counts` in each step, none named twice; an update of the parameters ends each.
TraceBuilder Updates(const std::vector<int>& counts, const std::string& update = "Optimizer.step#SGD.step") {
  TraceBuilder b;
  int kernel = 0;
  for (size_t step = 0; step < counts.size(); ++step) {
    const Ns t = 1000 * static_cast<Ns>(step);
    for (int k = 0; k < counts[step]; ++k)
      b.Launch(t + 10 * k, t + 10 * k + 5, t + 10 * k + 9, "kernel" + std::to_string(kernel++));
    b.Range(t + 900, t + 990, update);
  }
  return b;
}

TEST(KernelSteps, RoundsWithinOneCallOfAModuleAreLayers) {
  for (const bool of_all : {true, false}) {
    TraceBuilder b = KernelLoop(5);
    b.Range(280, of_all ? 2400 : 500, "nn.Module: BertEncoder_0");
    b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("nn.Module"));
    EXPECT_EQ(test::ContextOf(b.trace).steps.source, of_all ? "" : "kernel sequence");
  }
  TraceBuilder update = KernelLoop(5);
  update.Range(280, 2400, "Optimizer.step#Adam.step");
  EXPECT_EQ(test::ContextOf(update.trace).steps.source, "") << "parameters";
  TraceBuilder b = KernelLoop(5);
  b.Frame(280, 2400, "modeling_bert.py(12): forward");
  EXPECT_EQ(test::ContextOf(b.trace).steps.source, "");
}

TEST(KernelSteps, RoundsThatAttendOnceBehindAnInputAreLayers) {
  const auto steps = [](bool attend, Ns input) {
    TraceBuilder b;
    b.Range(input, input + 20, "aten::conv2d");
    for (int round = 0; round < 8; ++round)
      for (int k = 0; k < 10; ++k)
        b.Launch(300 + 500 * round + k, 310 + 500 * round + 20 * k, 325 + 500 * round + 20 * k,
                 k == 5 && attend ? "flash_fwd_kernel" : "kernel" + std::to_string(k));
    return StepsOf(b).size();
  };
  EXPECT_EQ(steps(true, 0), 0u);
  EXPECT_EQ(steps(true, 1000), 8u) << "the input is within a round";
  EXPECT_EQ(steps(false, 0), 8u) << "no layer of a transformer";
}

TEST(KernelSteps, UpdatesOfParametersEndSteps) {
  const TraceBuilder b = Updates({3, 20, 21, 19, 20, 20});
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(context.steps.source, "optimizer steps");
  const std::vector<Step>& steps = context.steps.by_rank.at(0).second;
  ASSERT_EQ(steps.size(), 5u) << "the first may be half a step";
  EXPECT_EQ(steps[0].time.start, 990);
  EXPECT_EQ(steps[0].operations, 20u);
  for (const std::vector<int>& no_steps : {std::vector{20, 20, 20}, {20, 5, 20, 5, 20, 5, 20}}) {
    const TraceBuilder other = Updates(no_steps);
    EXPECT_EQ(test::ContextOf(other.trace).steps.source, "");
  }
}

TEST(KernelSteps, UpdatesAreMarkedByDlprofToo) {
  const auto source = [](const std::string& op) {
    const TraceBuilder b =
        Updates({20, 20, 21, 19, 20, 20}, "{'mod': 'apex.optimizers', 'op': '" + op + "', 'args': []}");
    return test::ContextOf(b.trace).steps.source;
  };
  EXPECT_EQ(source("step"), "optimizer steps");
  EXPECT_EQ(source("multi_tensor_scale"), "");
}

TEST(KernelSteps, NoneWhereTheWholeProfileIsWanted) {
  AnalysisOptions options;
  options.whole = true;
  const TraceBuilder b = Updates({20, 20, 20, 20, 20, 20});
  const Context context = test::ContextOf(b.trace, options);
  EXPECT_EQ(context.steps.source, "none");
  EXPECT_TRUE(context.steps.by_rank.empty());
}

// Passes of 100 ns, one every 200 ns, each with a kernel of its own.
TraceBuilder Passes(const std::vector<std::string>& names) {
  TraceBuilder b;
  for (size_t i = 0; i < names.size(); ++i) {
    const Ns t = 10'000 + 200 * static_cast<Ns>(i);
    b.Range(t, t + 100, names[i]);
    b.Launch(t + 10, t + 20, t + 90, "kernel" + std::to_string(i));
  }
  return b;
}

TEST(KernelSteps, NamedPassesMakeSteps) {
  TraceBuilder one = Passes({"forward pass", "backward pass"});
  one.Launch(0, 5, 30, "set-up");
  const Context context = test::ContextOf(one.trace);
  EXPECT_EQ(context.steps.source, "passes");
  ASSERT_EQ(context.steps.by_rank.at(0).second.size(), 1u);
  EXPECT_EQ(context.steps.by_rank[0].second[0].operations, 2u);
  EXPECT_EQ(context.windows[0], (Interval{10'000, 10'290}));

  const auto count = [](const std::vector<std::string>& names) {
    const TraceBuilder b = Passes(names);
    const auto steps = test::ContextOf(b.trace).steps;
    return steps.by_rank.empty() ? 0u : steps.by_rank[0].second.size();
  };
  EXPECT_EQ(count({"forward", "backward", "forward", "backward", "forward", "backward"}), 3u);
  EXPECT_EQ(
      count({"fwd", "bwd", "fwd", "bwd", "optimizer_step", "fwd", "bwd", "fwd", "bwd", "optimizer_step"}), 2u)
      << "two micro-batches each";
  EXPECT_EQ(count({"forward", "forward"}), 0u);
  EXPECT_EQ(count({"forward pass", "backward pass", "forward pass"}), 1u);
}

TEST(KernelSteps, PassesOfASmallPartOfTheWorkMakeNone) {
  TraceBuilder b = Passes({"forward pass", "backward pass"});
  b.Launch(20'000, 20'010, 30'000, "everything else");
  EXPECT_EQ(test::ContextOf(b.trace).steps.source, "");
}

// Rounds of two kernels; the first takes longer, as the code of both is loaded.
TraceBuilder ShortRounds(int count, std::string_view second = "fit_lines") {
  TraceBuilder b;
  for (int round = 0; round < count; ++round) {
    const Ns t = 1000 + 100 * round - (round == 0 ? 400 : 0);
    b.Launch(t, t + 10, t + 30, "seed_lines");
    b.Launch(t + 35, t + 40, t + 90, second);
  }
  return b;
}

TEST(KernelSteps, FiveShortRoundsOfAProgramWithoutRangesAreSteps) {
  const TraceBuilder b = ShortRounds(6);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(context.steps.source, "kernel sequence");
  ASSERT_EQ(StepsOf(b).size(), 6u);
  EXPECT_TRUE(StepsOf(b)[0].warmup || StepsOf(b)[0].time.length() <= 100);
  EXPECT_EQ(StepsOf(b)[5].time.length(), 100);
  EXPECT_TRUE(StepsOf(ShortRounds(4)).empty());
  EXPECT_TRUE(StepsOf(ShortRounds(6, "seed_lines")).empty()) << "a loop of one kernel";
  TraceBuilder with_ranges = ShortRounds(6);
  with_ranges.Range(0, 2000, "main");
  EXPECT_TRUE(StepsOf(with_ranges).empty());
  TraceBuilder other_work = ShortRounds(6);
  other_work.Launch(1600, 1610, 2200, "solve");
  EXPECT_TRUE(StepsOf(other_work).empty()) << "less than 80 % of the kernel time";
}

TEST(KernelSteps, RangesGoBeforeTheKernelSequence) {
  TraceBuilder b = KernelLoop(6);
  b.Range(0, 1400, "iteration 1");
  b.Range(1400, 4000, "iteration 2");
  EXPECT_EQ(test::ContextOf(b.trace).steps.source, "ranges");
  EXPECT_EQ(StepsOf(b).size(), 2u);
}

}  // namespace
}  // namespace dladvisor
