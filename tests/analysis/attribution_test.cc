#include "src/analysis/attribution.h"

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
  EXPECT_EQ(ops.ops[0].cpu_ns, 100);
  EXPECT_EQ(ops.ops[0].gpu_ns, 10);
  EXPECT_EQ(ops.ops[0].data_type, "float32");
  EXPECT_EQ(ops.ops[0].shapes, "(8, 16)");
  EXPECT_EQ(ops.ops[0].stack, "net.py:5\nnet.py:9");
  EXPECT_TRUE(ops.ops[0].tensor_core_eligible);
  EXPECT_EQ(ops.ops[0].uses_tensor_cores, false);
}

// The reference: among the ranges of the thread that hold the time, the one opened last; of those that start
// together the shortest.
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

TEST(Attribution, AgreesWithBruteForceOnNestedRanges) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    TraceBuilder b;
    b.AddThread(0, 43);
    std::vector<std::tuple<Ns, Ns, uint32_t>> ranges;
    for (const uint32_t thread : {0u, 1u}) {
      // Random nesting: each range lies inside the one before it or after it.
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
      fill(0, 200, 0);
    }
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const auto& x, const auto& y) { return std::get<0>(x) < std::get<0>(y); });
    for (const auto& [start, end, thread] : ranges)
      b.Range(start, end, "r" + std::to_string(b.trace.ranges.size()), thread);
    for (Ns t = 0; t < 200; t += 3)
      b.Api(t, t + 1, "cudaLaunchKernel", 1 + t, static_cast<uint32_t>(random() % 2));
    const Attribution attribution = Attribute(b.trace, FindLaunches(b.trace));
    for (uint32_t i = 0; i < b.trace.api_calls.size(); ++i) {
      const uint32_t expected =
          InnermostByForce(b.trace.ranges, b.trace.api_calls.thread[i], b.trace.api_calls.start[i]);
      const uint32_t actual = attribution.api_range[i];
      // Ranges that cover exactly the same time are interchangeable.
      if (expected != actual) {
        ASSERT_NE(expected, kNoIndex);
        ASSERT_NE(actual, kNoIndex);
        EXPECT_EQ(b.trace.ranges.start[expected], b.trace.ranges.start[actual]);
        EXPECT_EQ(b.trace.ranges.end[expected], b.trace.ranges.end[actual]);
      }
    }
  }
}

}  // namespace
}  // namespace dladvisor
