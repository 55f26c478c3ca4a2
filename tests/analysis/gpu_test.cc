// SPDX-License-Identifier: Apache-2.0
// What is said of each GPU: work, memory and launches.
#include "src/analysis/summary/gpu.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/analysis/host/api_name.h"
#include "src/analysis/memory/memory.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/timeline/launch.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<GpuRow> GpusOf(const TraceBuilder& b, const AnalysisOptions& options = {}) {
  const Context context = MakeContext(b.trace, options);
  return ComputeGpus(context, ComputeTimelines(context), ComputeOps(context), ComputeMemory(context),
                     ComputeGpuPeaks(context), ComputeGpuKernels(context));
}

TEST(Gpu, BusyTimeIsAUnionAndKernelTimeASum) {
  TraceBuilder b;
  b.Launch(0, 10, 60, test::kGemm);
  b.Launch(5, 40, 80, "relu");
  b.Set(90, 95, 0);
  b.Launch(150, 160, 200, "relu");
  const GpuRow gpu = GpusOf(b).at(0);
  EXPECT_EQ(gpu.window_ns, 190);
  EXPECT_EQ(gpu.kernels, 3);
  EXPECT_EQ(gpu.kernel_ns, 50 + 40 + 40);
  EXPECT_EQ(gpu.kernel_busy_ns, 70 + 40);
  EXPECT_EQ(gpu.busy_ns, 70 + 5 + 40);
  EXPECT_EQ(gpu.idle_ns, 75);
  EXPECT_DOUBLE_EQ(gpu.gpu_utilization.value(), 110.0 / 190);
  EXPECT_DOUBLE_EQ(gpu.idle_share.value(), 75.0 / 190);
  EXPECT_EQ(gpu.tensor_core_ns, 50);
  EXPECT_EQ(gpu.idle_starved_ns, 55) << "from 95 to the launch at 150";
  EXPECT_EQ(gpu.starved_gaps, 1);
  EXPECT_FALSE(gpu.gpu_ns_per_step.has_value());
  EXPECT_EQ(gpu.compute_capability, "8.0");
}

TEST(Gpu, WithoutCallsStarvationIsUnknown) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  b.Kernel(20, 30, "b", 2);
  const GpuRow gpu = GpusOf(b).at(0);
  EXPECT_EQ(gpu.idle_ns, 10);
  EXPECT_FALSE(gpu.idle_starved_ns.has_value());
  EXPECT_FALSE(gpu.starved_gaps.has_value());
  EXPECT_FALSE(gpu.memory_peak_bytes.has_value());
}

TEST(Gpu, OnlyTheWindowCounts) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    b.Range(1000 * step, 1000 * step + 900, "step " + std::to_string(step));
    b.Launch(1000 * step + 100, 1000 * step + 110, 1000 * step + 800, "k");
  }
  AnalysisOptions options;
  options.steps = {1, 2};
  const GpuRow gpu = GpusOf(b, options).at(0);
  EXPECT_EQ(gpu.window_ns, 2000);
  EXPECT_EQ(gpu.kernels, 2);
  EXPECT_EQ(gpu.busy_ns, 2 * 690);
  EXPECT_DOUBLE_EQ(gpu.gpu_ns_per_step.value(), 690);
}

TEST(Memory, PeakIsTheMostAtOneTime) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  b.Memory(1, 300);
  b.Memory(2, 200);
  b.Memory(3, -300);
  b.Memory(4, 180);
  const Context context = test::ContextOf(b.trace);
  const MemoryRow row = ComputeMemory(context).at(0);
  EXPECT_EQ(row.peak_bytes, 500);
  EXPECT_EQ(row.allocations, 3);
  EXPECT_EQ(row.frees, 1);
  EXPECT_DOUBLE_EQ(row.used_share.value(), 0.5);  // of 1000
}

TEST(Memory, MoreThanThereIsIsNoShareOfIt) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  b.Memory(1, 5000);
  const Context context = test::ContextOf(b.trace);
  const MemoryRow row = ComputeMemory(context).at(0);
  EXPECT_EQ(row.peak_bytes, 5000);
  EXPECT_FALSE(row.used_share);
}

TEST(Memory, OfTheHostOrOfOthersDoesNotCount) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  b.Kernel(0, 10, "a", 1);
  b.Memory(1, 300);
  b.trace.memory_events.memory.back() = MemoryKind::kPinned;
  b.Memory(1, 300);
  b.trace.memory_events.device.back() = device;
  b.Memory(1, 300);
  b.trace.memory_events.process.back() = other;
  const Context context = test::ContextOf(b.trace);
  const MemoryRow row = ComputeMemory(context).at(0);
  EXPECT_EQ(row.total_bytes, 1000);
  EXPECT_FALSE(row.peak_bytes || row.used_share || row.allocations || row.source);
}

TEST(Memory, OfTensorsIsWhatTheAllocatorSays) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  for (const auto& [start, end, name] : {std::tuple{0, 9, "aten::linear"},
                                         {1, 8, "aten::addmm"},
                                         {2, 4, "aten::empty"},
                                         {5, 7, "aten::empty"}}) {
    b.Range(start, end, name);
    b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("cpu_op"));
  }
  b.Tensor(3, 300, 700, 800);
  b.Tensor(4, -300, 400, 900);
  b.Tensor(6, 300, 700, 800);
  const MemoryRow row = ComputeMemory(test::ContextOf(b.trace)).at(0);
  EXPECT_EQ(row.peak_bytes, 700);
  EXPECT_EQ(row.reserved_bytes, 900);
  EXPECT_EQ(row.peak_at_ns, 3) << "the first time";
  EXPECT_EQ(row.peak_operator, "aten::addmm") << "that asked for memory";
  EXPECT_EQ(row.source, "PyTorch's allocator");
}

TEST(Memory, ThePeakIsOfAnOperatorOpenOnItsThread) {
  TraceBuilder b;
  const uint32_t other = b.AddThread(0, 43);
  b.Kernel(0, 10, "a", 1);
  const auto peak_at = [&](Ns time, uint32_t thread) {
    b.trace.memory_events = {};
    b.Tensor(time, 300, 700, 800, thread);
    return ComputeMemory(test::ContextOf(b.trace)).at(0).peak_operator;
  };
  EXPECT_FALSE(peak_at(3, 0)) << "without any";
  b.Range(1, 5, "aten::empty_strided");
  b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("cpu_op"));
  b.Range(2, 8, "forward", other);
  b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("user_annotation"));
  EXPECT_EQ(peak_at(3, 0), "aten::empty_strided") << "where no other calls it";
  EXPECT_FALSE(peak_at(5, 0)) << "after its end";
  EXPECT_FALSE(peak_at(0, 0)) << "before its start";
  EXPECT_FALSE(peak_at(3, other)) << "an annotation is no operator";
}

TEST(Memory, OfTensorsIsUnknownWithoutTotals) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  b.Tensor(1, 300);
  b.Tensor(2, 200);
  const MemoryRow row = ComputeMemory(test::ContextOf(b.trace)).at(0);
  EXPECT_FALSE(row.peak_bytes || row.used_share || row.peak_at_ns || row.source);
}

TEST(Launch, DelaysAndTinyKernels) {
  TraceBuilder b;
  b.Api(0, 10, "cudaLaunchKernel", 1);
  b.Api(20, 30, "cudaLaunchKernel", 2);
  b.Api(40, 70, "cudaLaunchKernel", 3);
  b.Kernel(15, 20, "tiny", 1);
  b.Kernel(50, 60, "as long as its call", 2);
  b.Kernel(140, 160, "tiny too", 3);
  b.Kernel(170, 180, "launch not recorded", 0);
  const Context context = test::ContextOf(b.trace);
  const LaunchRow row = ComputeLaunches(context, ComputeTimelines(context)).at(0);
  EXPECT_EQ(row.launches, 4);
  EXPECT_DOUBLE_EQ(row.avg_api_ns.value(), 50.0 / 3);
  EXPECT_DOUBLE_EQ(row.median_queue_delay_ns.value(), 30);
  EXPECT_DOUBLE_EQ(row.median_interval_ns.value(), 20);
  EXPECT_EQ(row.tiny_kernels, 2);
  EXPECT_DOUBLE_EQ(row.tiny_share.value(), 2.0 / 3);
  EXPECT_EQ(row.min_latency_ns, 15);
}

TEST(Launch, KernelsThatTheirCallsWaitFor) {
  TraceBuilder b;
  b.Api(0, 50'000, "cudaLaunchKernel", 1);
  b.Api(60'000, 90'000, "cudaLaunchKernel", 2);
  b.Api(100'000, 110'000, "cudaLaunchKernel", 3);
  b.Api(120'000, 124'000, "cudaLaunchKernel", 4);
  b.Kernel(10'000, 45'000, "within its call", 1);
  b.Kernel(70'000, 95'000, "ends later", 2);
  b.Kernel(102'000, 104'000, "short", 3);
  b.Kernel(130'000, 160'000, "behind its call", 4);
  const Context context = test::ContextOf(b.trace);
  const LaunchRow row = ComputeLaunches(context, ComputeTimelines(context)).at(0);
  EXPECT_EQ(row.long_kernels, 3);
  EXPECT_EQ(row.awaited_kernels, 1);
  EXPECT_EQ(row.awaited_ns, 40'000 + 8'000);
}

TEST(ApiName, VersionsOfAFunctionAreOne) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  b.Api(0, 5, "cudaMalloc_v3020", 0);
  b.Api(5, 15, "cudaMalloc_v4000", 0);
  b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, 2);
  b.Api(15, 16, "cudaFree_v3020", 0);
  b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, 4);  // the driver is gone
  b.Api(16, 16, "cuCtxSynchronize", 0);
  b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, 201);  // a profiler that stops finds no context
  const auto rows = ComputeApiNames(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "cudaMalloc");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].total_ns, 15);
  EXPECT_DOUBLE_EQ(rows[0].avg_ns, 7.5);
  EXPECT_EQ(rows[0].min_ns, 5);
  EXPECT_EQ(rows[0].max_ns, 10);
  EXPECT_EQ(rows[0].errors, 1);
  EXPECT_EQ(rows[1].name, "cudaFree");
  EXPECT_EQ(rows[1].errors, 0);
  EXPECT_EQ(rows[2].errors, 0);
}

TEST(ApiName, CountsLaunchesThatAreTimed) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  Ns at = 0;
  const auto call = [&](const char* name, int64_t result = 0) {
    b.Api(at, at + 5, name, 0);
    b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, result);
    at += 10;
  };
  call("cudaLaunchKernel_v7000", 1);
  call("cudaLaunchKernel_v7000");  // warms up
  for (const int64_t result : {0, 701}) {
    call("cuEventRecord");
    call("cudaLaunchKernel_v7000", result);
    call("cudaLaunchKernel_v7000", result);
    call("cuEventRecord");
    call("cuEventSynchronize");
  }
  call("cudaMallocManaged_v6000");
  call("cudaEventRecord");
  call("cudaLaunchKernel_v7000");
  call("cudaDeviceSynchronize_v3020");
  call("cudaEventRecord");
  std::map<std::string, ApiNameRow> rows;
  for (const ApiNameRow& row : ComputeApiNames(test::ContextOf(b.trace))) rows[row.name] = row;
  EXPECT_EQ(rows["cudaLaunchKernel"].timed_calls, 5);
  EXPECT_EQ(rows["cudaLaunchKernel"].timed_errors, 2);
  EXPECT_EQ(rows["cudaLaunchKernel"].errors, 3);
  EXPECT_EQ(rows["cudaLaunchKernel"].managed_calls, 1);
  EXPECT_EQ(rows["cuEventSynchronize"].managed_calls, 0);
  EXPECT_EQ(rows["cudaDeviceSynchronize"].managed_ns, 5);
}

TEST(ApiName, TellsWhatTheFirstFailureMeans) {
  TraceBuilder b;
  b.Kernel(0, 10, "a", 1);
  const auto fail = [&](Ns start, const char* name, int64_t result) {
    b.Api(start, start + 1, name, 0);
    b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, result);
  };
  fail(1, "cudaLaunchKernel_v7000", 222);
  fail(2, "cudaLaunchKernel_v11060", 700);  // of the driver that is in an error already
  fail(3, "cudaMemcpy_v3020", 12345);
  const auto rows = ComputeApiNames(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].errors, 2);
  EXPECT_EQ(rows[0].first_error_ns, 1);
  EXPECT_EQ(rows[0].first_error, "222: PTX of a version that the driver does not know");
  EXPECT_THAT(rows[0].remedy.value_or(""), testing::HasSubstr("update the driver"));
  EXPECT_EQ(rows[1].first_error, "12345");
  EXPECT_FALSE(rows[1].remedy);
}

TEST(ApiName, TellsAStackFromAnAddressAndFailedPtxFromNewerPtx) {
  const auto fail = [](int64_t result) {
    TraceBuilder b;
    b.Kernel(0, 10, "a", 1);
    b.Api(1, 2, "cudaDeviceSynchronize", 0);
    b.trace.api_calls.result.Set(b.trace.api_calls.size() - 1, result);
    return ComputeApiNames(test::ContextOf(b.trace)).at(0);
  };
  EXPECT_EQ(fail(714).first_error, "714: error in the call stack of a kernel");
  EXPECT_THAT(fail(714).remedy.value_or(""), testing::HasSubstr("cudaLimitStackSize"));
  EXPECT_EQ(fail(218).first_error, "218: failed compilation of PTX");
  EXPECT_THAT(fail(218).remedy.value_or(""), testing::Not(testing::HasSubstr("newer")));
  for (const int64_t result : {715, 717, 718})
    EXPECT_THAT(fail(result).remedy.value_or(""), testing::Not(testing::HasSubstr("access")));
}

TEST(ApiName, CountsWhatFollowsItsLikeAndWhatOperatorsCall) {
  for (const bool operators : {true, false}) {
    TraceBuilder b;
    b.Kernel(0, 1000, "a", 1);
    b.Range(0, 20, "aten::empty");
    if (operators) b.trace.ranges.domain.Set(0, b.trace.names.Intern("cpu_op"));
    b.Api(10, 12, "cudaFree", 0);
    for (const Ns start : {30, 40, 50}) b.Api(start, start + 2, "cudaFree", 0);
    b.Api(60, 62, "cudaMalloc", 0);
    b.Api(70, 72, "cudaFree", 0);
    const auto rows = ComputeApiNames(test::ContextOf(b.trace));
    EXPECT_EQ(rows.at(0).name, "cudaFree");
    EXPECT_EQ(rows[0].window_in_a_row, 3);
    EXPECT_EQ(rows[0].window_in_operators, operators ? std::optional<int64_t>(1) : std::nullopt);
  }
}

TEST(ApiName, OfACallThatReachesIntoTheWindowTheRestIsOutside) {
  TraceBuilder b;  // the window is 100 to 200
  b.Api(40, 130, "cudaDeviceSynchronize", 0);
  b.Kernel(100, 200, "a", 1);
  b.Api(120, 180, "cudaMemcpy", 0);
  b.Api(190, 290, "cudaFree", 0);
  b.Api(300, 310, "cudaFree", 0);
  const auto rows = ComputeApiNames(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "cudaFree");
  EXPECT_EQ(rows[0].max_outside_ns, 90);
  EXPECT_EQ(rows[1].name, "cudaDeviceSynchronize");
  EXPECT_EQ(rows[1].max_outside_ns, 60) << "of its 90 ns, 30 are in the window";
  EXPECT_EQ(rows[2].max_outside_ns, 0);
}

TEST(Profile, CountsLaunchesBehindTheLastThatIsRecorded) {
  TraceBuilder b;
  b.Api(0, 5, "cudaLaunchKernel", 90);  // lost on its way
  for (int i = 0; i < 3; ++i) b.Launch(10 * i + 10, 10 * i + 12, 10 * i + 15, "k");
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).launches_after_last, 0);
  b.Api(50, 51, "cudaLaunchKernel", 91);
  b.Api(60, 61, "cudaMemcpyAsync", 92);
  b.Api(70, 71, "cuLaunchKernelEx", 93);
  b.Api(80, 81, "cudaDeviceSynchronize", 94);
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).launches_after_last, 2);
  b.Range(130, 135, "aten::empty");
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).launches_after_last, 0) << "the program goes on";
  b.trace.ranges = {};
  b.Api(90, 91, "cudaLaunchKernel", 95);
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).launches_after_last, 0) << "what came before was done";
}

TEST(Profile, SaysWhatToCaptureWhereThereIsNoGpuWork) {
  const auto profile = [](const TraceBuilder& b) { return ComputeProfile(test::ContextOf(b.trace)); };
  TraceBuilder with_work;
  with_work.Kernel(0, 10, "a", 1);
  EXPECT_FALSE(profile(with_work).missing_capture.has_value());
  EXPECT_EQ(profile(with_work).unmatched_kernels, 1);

  TraceBuilder nothing;
  nothing.Range(0, 10, "forward");
  EXPECT_EQ(profile(nothing).missing_capture, "--trace=cuda,nvtx");
  EXPECT_FALSE(profile(nothing).gpu_traced.has_value());
  TraceBuilder not_called;
  not_called.Range(0, 10, "forward");
  not_called.trace.capture_options["gpu_traced"] = "yes";
  EXPECT_EQ(profile(not_called).gpu_traced, true);
  EXPECT_FALSE(profile(not_called).missing_capture.has_value());
  EXPECT_EQ(profile(not_called).notes, "CUDA was traced, and the program made no CUDA call.");
  EXPECT_FALSE(profile(nothing).has_cuda);
  EXPECT_FALSE(profile(nothing).unmatched_share.has_value());
  nothing.trace.capture_options["gpu_traced"] = "no";
  EXPECT_EQ(profile(nothing).notes, "CUDA was not traced.");

  TraceBuilder too_short;
  too_short.Api(0, 10, "cudaMalloc", 0);
  EXPECT_TRUE(profile(too_short).missing_capture.value().find("--duration") != std::string::npos);
}

TEST(Profile, OverheadIsAUnionInsideTheAnalysedTime) {
  TraceBuilder b;
  b.Api(0, 95, "cudaMalloc", 0);
  b.Overhead(50, 120, "early");
  b.Overhead(110, 130, "again", b.AddThread(0, 43));
  b.Overhead(190, 300, "late");
  EXPECT_FALSE(ComputeProfile(test::ContextOf(b.trace)).overhead_share.has_value()) << "there is none";
  b.Api(100, 110, "cudaLaunchKernel", 1);
  b.Api(180, 200, "cudaMemcpy", 2);
  const ProfileRow calls = ComputeProfile(test::ContextOf(b.trace));
  EXPECT_EQ(calls.overhead_ns, 30 + 10);
  EXPECT_DOUBLE_EQ(calls.overhead_share.value(), 0.4);
  b.Kernel(120, 140, "a", 1);
  b.Kernel(150, 160, "a", 3);
  const ProfileRow work = ComputeProfile(test::ContextOf(b.trace));
  EXPECT_EQ(work.overhead_ns, 10) << "only what the GPU's window holds";
  EXPECT_DOUBLE_EQ(work.overhead_share.value(), 0.25);
}

}  // namespace
}  // namespace dladvisor
