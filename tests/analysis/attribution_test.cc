// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::string OpOfKernel(const Context& context, size_t kernel) {
  return OpPathText(context, context.attribution.kernel_range[kernel]);
}

TEST(Attribution, InnermostRangeOnTheLaunchingThread) {
  TraceBuilder b;
  b.Range(0, 100, "train");
  b.Range(10, 40, "forward");
  b.Range(20, 30, "linear");
  b.Launch(5, 200, 210, "a");
  b.Launch(15, 210, 220, "b");
  b.Launch(25, 220, 230, "c");
  b.Launch(30, 230, 240, "d");   // linear has just ended
  b.Launch(40, 240, 250, "e");   // forward too
  b.Launch(150, 250, 260, "f");  // outside
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/train");
  EXPECT_EQ(OpOfKernel(context, 1), "/train/forward");
  EXPECT_EQ(OpOfKernel(context, 2), "/train/forward/linear");
  EXPECT_EQ(OpOfKernel(context, 3), "/train/forward");
  EXPECT_EQ(OpOfKernel(context, 4), "/train");
  EXPECT_EQ(OpOfKernel(context, 5), "(no range)");
}

TEST(Attribution, CorrelationIdsRepeatBetweenProcesses) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43);
  const uint32_t device = b.AddDevice(1);
  b.Range(0, 100, "mine", 0);
  b.Range(0, 100, "theirs", 1);
  b.Api(10, 12, "cudaLaunchKernel", 5, 0);
  b.Api(20, 22, "cudaLaunchKernel", 5, 1);
  b.Kernel(30, 40, "k", 5, 0, 0);
  b.Kernel(30, 40, "k", 5, other, device);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/mine");
  EXPECT_EQ(OpOfKernel(context, 1), "/theirs");
  ASSERT_EQ(context.ranks.gpus.size(), 2u);
  EXPECT_EQ(context.ranks.of_process, (std::vector<int64_t>{0, 1}));
}

TEST(Attribution, AThreadWithoutRangesInheritsFromTheOneThatWaits) {
  TraceBuilder b;
  const uint32_t autograd = b.AddThread(0, 77);
  b.Range(0, 100, "train");
  b.Range(10, 50, "backward");
  b.Launch(20, 60, 70, "grad", autograd);
  b.Launch(60, 70, 80, "later", autograd);
  b.Launch(120, 130, 140, "outside", autograd);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/train/backward");
  EXPECT_EQ(OpOfKernel(context, 1), "/train");
  EXPECT_EQ(OpOfKernel(context, 2), "(no range)");
  EXPECT_EQ(context.attribution.kernel_inherited, (std::vector<uint8_t>{1, 1, 0}));
}

TEST(Attribution, RangesThatStartTogetherNestByLength) {
  TraceBuilder b;
  b.Range(0, 20, "inner");
  b.Range(0, 50, "outer");
  b.Launch(0, 60, 70, "k");
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/outer/inner");
}

TEST(Attribution, DlprofMarkersNameTheirOpAndKeepWhatIsInside) {
  TraceBuilder b;
  b.Range(0, 100, "{'traceMarker': ['net.py:5', 'net.py:9'], 'funcStack': '/<module>/Net::forward/linear'}");
  b.Range(10, 90,
          "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor', 'shape': "
          "(8, 16), 'dtype': 'float32'}]}");
  b.Range(20, 80, "aten::linear, op_id = 7");
  b.Range(30, 70, "aten::addmm, op_id = 8");
  b.Launch(40, 110, 120, "ampere_sgemm_128x64_tn");
  const Context context = test::ContextOf(b.trace);
  const OpFamilies ops = ComputeOps(context);
  ASSERT_EQ(ops.ops.size(), 1u);
  EXPECT_EQ(ops.ops[0].op, "/module/Net::forward/linear");
  EXPECT_EQ(ops.ops[0].op_type, "linear");
  EXPECT_EQ(ops.ops[0].calls, 1);
  EXPECT_EQ(ops.ops[0].cpu_ns, 80);  // of the inner marker
  EXPECT_EQ(ops.ops[0].gpu_ns, 10);
  EXPECT_EQ(ops.ops[0].data_type, "float32");
  EXPECT_EQ(ops.ops[0].shapes, "(8, 16)");
  EXPECT_EQ(ops.ops[0].stack, "net.py:5\nnet.py:9");
  EXPECT_TRUE(ops.ops[0].tensor_core_eligible);
  EXPECT_EQ(ops.ops[0].uses_tensor_cores, false);
}

TEST(Attribution, AThreadWithOnlyItsCollectivesRangesStillInherits) {
  TraceBuilder b;
  const uint32_t autograd = b.AddThread(0, 77);
  b.Range(0, 100, "backward");
  b.Range(30, 40, "ncclAllReduce", autograd);
  b.Range(50, 55, "ncclAllReduce", autograd);
  b.Launch(20, 60, 70, "grad", autograd);
  b.Launch(32, 70, 80, "nccl", autograd);
  b.Launch(45, 80, 90, "grad", autograd);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/backward");
  EXPECT_EQ(OpOfKernel(context, 1), "/ncclAllReduce");
  EXPECT_EQ(OpOfKernel(context, 2), "/backward");
  EXPECT_EQ(context.attribution.kernel_inherited, (std::vector<uint8_t>{1, 0, 1}));
}

TEST(Attribution, TheMainThreadDoesNotInherit) {
  TraceBuilder b;
  const uint32_t autograd = b.AddThread(0, 77);
  b.Range(0, 10, "forward");
  for (Ns t = 0; t < 100; t += 10) b.Range(t, t + 10, "AddmmBackward0, seq = 1", autograd);
  b.Launch(50, 60, 70, "k");
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "(no range)");
}

TEST(Attribution, WithoutAMainThreadTheOneWithMostRangesGivesItsOwn) {
  TraceBuilder b;
  const uint32_t trainer = b.AddThread(0, 50), logger = b.AddThread(0, 51), autograd = b.AddThread(0, 52);
  b.Range(0, 100, "log", logger);
  b.Range(0, 100, "train", trainer);
  b.Range(10, 90, "backward", trainer);
  b.Launch(20, 60, 70, "grad", autograd);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "/train/backward");
}

TEST(Attribution, NothingIsInheritedFromAnotherProcess) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43);
  b.Range(0, 100, "mine", 0);
  b.Launch(10, 30, 40, "k", 1, other);
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "(no range)");
}

TEST(Attribution, OverlapWithoutNestingKeepsTheLatestOpenedOnTop) {
  TraceBuilder b;
  b.Range(0, 50, "a");
  b.Range(20, 80, "b");
  b.Launch(30, 100, 110, "k");
  b.Launch(60, 110, 120, "k");
  b.Launch(90, 120, 130, "k");
  const Attribution attribution = Attribute(b.trace, FindLaunches(b.trace));
  EXPECT_EQ(attribution.kernel_range, (std::vector<uint32_t>{1, 1, kNoIndex}));
}

TEST(Attribution, IterationsThatAreNeverPoppedDoNotNest) {
  TraceBuilder b;
  b.Range(0, 1000, "train", 0, true);
  for (Ns i = 0; i < 4; ++i) {
    b.Range(100 * i + 10, 1000, "iteration " + std::to_string(i), 0, true);
    b.Range(100 * i + 20, 100 * i + 60, "forward");
    b.Launch(100 * i + 30, 2000 + i, 2001 + i, "k");
    b.Launch(100 * i + 70, 3000 + i, 3001 + i, "k");
  }
  const Context context = test::ContextOf(b.trace);
  for (size_t i = 0; i < 8; i += 2) {
    EXPECT_EQ(OpOfKernel(context, i), "/train/iteration #/forward");
    EXPECT_EQ(OpOfKernel(context, i + 1), "/train/iteration #");
  }
}

TEST(Attribution, DeepRecursionEndsAtADepth) {
  TraceBuilder b;
  constexpr Ns kLevels = 5000;
  for (Ns i = 0; i < kLevels; ++i) b.Range(i, 2 * kLevels - i, "f");
  b.Launch(kLevels, 20'000, 20'010, "k");
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0).size(), 200u);  // "/f" a hundred times
  const OpFamilies ops = ComputeOps(context);
  ASSERT_EQ(ops.ops.size(), 1u);
  EXPECT_EQ(ops.ops[0].calls, 1);  // the deeper ones are parts of it
  EXPECT_EQ(ops.ops[0].cpu_ns, 2 * (kLevels - 99));
}

TEST(Attribution, MarksAndStartEndRangesOwnNothing) {
  TraceBuilder b;
  b.Range(0, 100, "process");
  b.trace.ranges.kind.back() = RangeKind::kStartEnd;
  b.Range(5, 5, "mark");
  b.trace.ranges.kind.back() = RangeKind::kMark;
  b.Launch(10, 30, 40, "k");
  const Context context = test::ContextOf(b.trace);
  EXPECT_EQ(OpOfKernel(context, 0), "(no range)");
  EXPECT_EQ(context.attribution.range_parent, (std::vector<uint32_t>{kNoIndex, kNoIndex}));
}

// The reference: among the ranges of the thread that hold the time, the one opened last; of those that start
// together the shortest, then the later in the table.
uint32_t InnermostByForce(const Ranges& ranges, uint32_t thread, Ns time) {
  uint32_t best = kNoIndex;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges.thread[i] != thread || ranges.start[i] > time || ranges.end[i] <= time) continue;
    if (best == kNoIndex || ranges.start[i] > ranges.start[best] ||
        (ranges.start[i] == ranges.start[best] && ranges.end[i] <= ranges.end[best]))
      best = i;
  }
  return best;
}

// Random ranges on three threads of which 0 is the main one; nested ones, or any intervals at all.
TraceBuilder RandomRanges(std::mt19937& random, bool nested) {
  TraceBuilder b;
  b.AddThread(0, 43);
  b.AddThread(0, 44);
  std::vector<std::tuple<Ns, Ns, uint32_t>> ranges;
  for (const uint32_t thread : {0u, 1u}) {
    // Each range lies inside the one before it or after it.
    const std::function<void(Ns, Ns, int)> fill = [&](Ns from, Ns to, int depth) {
      while (from < to && depth < 5) {
        const Ns start = from + static_cast<Ns>(random() % 8),
                 end = std::min<Ns>(to, start + 1 + static_cast<Ns>(random() % 30));
        if (start >= end) return;
        ranges.emplace_back(start, end, thread);
        fill(start, end, depth + 1);
        from = end;
      }
    };
    if (nested) fill(0, 200, 0);
    for (int i = 0; i < 30 && !nested; ++i) {
      const Ns start = static_cast<Ns>(random() % 200);
      ranges.emplace_back(start, start + static_cast<Ns>(random() % 40), thread);
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const auto& x, const auto& y) { return std::get<0>(x) < std::get<0>(y); });
  for (const auto& [start, end, thread] : ranges)
    b.Range(start, end, "r" + std::to_string(b.trace.ranges.size()), thread);
  for (Ns t = 0; t < 240; t += 3) b.Launch(t, 1000 + t, 1002 + t, "k", static_cast<uint32_t>(random() % 3));
  return b;
}

TEST(Attribution, AgreesWithBruteForce) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    const TraceBuilder b = RandomRanges(random, round % 2 == 0);
    const Attribution attribution = Attribute(b.trace, FindLaunches(b.trace));
    for (uint32_t i = 0; i < b.trace.api_calls.size(); ++i) {
      const Ns start = b.trace.api_calls.start[i];
      const uint32_t own = InnermostByForce(b.trace.ranges, b.trace.api_calls.thread[i], start);
      const uint32_t main = InnermostByForce(b.trace.ranges, 0, start);
      ASSERT_EQ(attribution.api_range[i], own != kNoIndex ? own : main)
          << "round " << round << ", call " << i;
      ASSERT_EQ(attribution.kernel_range[i], attribution.api_range[i]);
      ASSERT_EQ(attribution.kernel_inherited[i], own == kNoIndex && main != kNoIndex);
    }
  }
}

TEST(Attribution, ParentsHoldTheirChildren) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    const TraceBuilder b = RandomRanges(random, true);
    const Ranges& ranges = b.trace.ranges;
    const Attribution attribution = Attribute(b.trace, FindLaunches(b.trace));
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      const uint32_t parent = attribution.range_parent[i];
      for (uint32_t other = 0; other < ranges.size(); ++other) {
        const bool holds = other != i && ranges.thread[other] == ranges.thread[i] &&
                           ranges.start[other] <= ranges.start[i] && ranges.end[other] >= ranges.end[i] &&
                           (ranges.start[other] < ranges.start[i] || ranges.end[other] > ranges.end[i]);
        if (!holds) continue;
        ASSERT_NE(parent, kNoIndex);  // and no range lies between
        EXPECT_LE(ranges.end[parent] - ranges.start[parent], ranges.end[other] - ranges.start[other]);
      }
      if (parent == kNoIndex) continue;
      EXPECT_EQ(ranges.thread[parent], ranges.thread[i]);
      EXPECT_LE(ranges.start[parent], ranges.start[i]);
      EXPECT_GE(ranges.end[parent], ranges.end[i]);
    }
  }
}

}  // namespace
}  // namespace dladvisor
