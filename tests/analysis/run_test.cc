// SPDX-License-Identifier: Apache-2.0
// What is said of the run as a whole, on drawn traces.
#include "src/analysis/summary/run.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr Ns kMillisecond = 1'000'000;

RunRow RunOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  OpFamilies ops;
  ops.eligible_ns.resize(1);
  ops.eligible_tensor_core_ns.resize(1);
  return ComputeRun(context, {GpuRow{}}, {}, ops, {}, {}, {}, {});
}

// Calls that do next to nothing take 320 ms; what pins memory, or frees it behind the work, takes long for
// that.
TEST(Run, FirstUseIsOfCallsThatDoNextToNothing) {
  TraceBuilder b;
  b.Api(0, 20 * kMillisecond, "cudaGetDeviceCount_v3020", 1);
  b.Api(20 * kMillisecond, 320 * kMillisecond, "cudaMalloc_v3020", 2);
  b.Api(320 * kMillisecond, 920 * kMillisecond, "cudaHostAlloc_v3020", 3);
  b.Launch(920 * kMillisecond, 930 * kMillisecond, 940 * kMillisecond, "kernel");
  b.Api(940 * kMillisecond, 1500 * kMillisecond, "cudaFree_v3020", 4);
  const RunRow run = RunOf(b);
  EXPECT_EQ(run.first_use_ns, 320 * kMillisecond);
  EXPECT_EQ(run.first_use_call, "cudaMalloc");
}

TEST(Run, LastsAsLongAsWhatIsRecordedOfTheHostWhereNothingElseIs) {
  const auto wall = [](const TraceBuilder& b) {
    return ComputeRun(test::ContextOf(b.trace), {}, {}, {}, {}, {}, {}, {}).wall_ns;
  };
  TraceBuilder b;
  EXPECT_EQ(wall(b), 0);
  b.trace.session_duration_ns = 9 * kMillisecond;
  EXPECT_EQ(wall(b), 9 * kMillisecond);
  b.Frame(kMillisecond, 5 * kMillisecond, "train.py(1): main");
  b.Frame(2 * kMillisecond, 3 * kMillisecond, "train.py(9): step");
  EXPECT_EQ(wall(b), 4 * kMillisecond);
}

TEST(Run, NoFirstUseWhereCallsAreShort) {
  TraceBuilder b;
  b.Api(0, 9 * kMillisecond, "cudaMalloc_v3020", 1);
  b.Launch(10 * kMillisecond, 11 * kMillisecond, 12 * kMillisecond, "kernel");
  b.Api(12 * kMillisecond, 400 * kMillisecond, "cudaMalloc_v3020", 2);
  EXPECT_FALSE(RunOf(b).first_use_ns);
}

// A graph that was traced as a whole is work of the GPU.
TEST(Run, NoFirstUseBehindAGraph) {
  TraceBuilder b;
  b.Graph(1 * kMillisecond, 490 * kMillisecond, 1, 7);
  b.Api(2 * kMillisecond, 402 * kMillisecond, "cudaMalloc_v3020", 1);
  b.Launch(490 * kMillisecond, 500 * kMillisecond, 510 * kMillisecond, "kernel");
  EXPECT_FALSE(RunOf(b).first_use_ns);
}

// Half of the samples of a call, and those of calls within it, lie in the driver's compiler.
TEST(Run, PtxIsCompiledWhereSamplesShowIt) {
  TraceBuilder b;
  b.Api(0, 100 * kMillisecond, "cudaMalloc_v3020", 1);
  b.Api(10 * kMillisecond, 90 * kMillisecond, "cuModuleLoadData", 2);
  b.Api(100 * kMillisecond, 140 * kMillisecond, "cudaFree_v3020", 3);
  b.Launch(150 * kMillisecond, 160 * kMillisecond, 170 * kMillisecond, "kernel");
  for (Ns at = 0; at < 100; ++at)
    b.Sample(at * kMillisecond, at % 2 == 0 ? kPtxCompiler : std::string_view("strstr"), "main");
  for (Ns at = 100; at < 119; ++at) b.Sample(at * kMillisecond, kPtxCompiler, "main");
  EXPECT_EQ(RunOf(b).ptx_compiling_ns, 50 * kMillisecond);
}

TEST(Run, NoPtxIsCompiledWhereNoSampleShowsIt) {
  TraceBuilder b;
  b.Api(0, 100 * kMillisecond, "cudaMalloc_v3020", 1);
  b.Launch(150 * kMillisecond, 160 * kMillisecond, 170 * kMillisecond, "kernel");
  for (Ns at = 0; at < 100; ++at) b.Sample(at * kMillisecond, "strstr", "main");
  EXPECT_FALSE(RunOf(b).ptx_compiling_ns);
}

TEST(Run, OfSeveralProfilesTheLongestFirstUseIsNamed) {
  RunRow a, b;
  a.gpus = b.gpus = 1;
  a.first_use_ns = 5;
  a.first_use_call = "cudaMalloc";
  b.first_use_ns = 7;
  b.first_use_call = "cudaFree";
  const RunRow merged = MergeRuns({a, b}, {});
  EXPECT_EQ(merged.first_use_ns, 7);
  EXPECT_EQ(merged.first_use_call, "cudaFree");
}

}  // namespace
}  // namespace dladvisor
