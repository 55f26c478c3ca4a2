// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/kernel_breakdown.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "src/analysis/compat/idle_breakdown.h"
#include "src/analysis/compat/memory_bandwidth.h"
#include "src/analysis/compat/operator_sequence.h"
#include "src/analysis/compat/queue_length.h"
#include "src/analysis/ops/kernel_name.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

Breakdowns BreakdownsOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeBreakdowns(context, FindProfiledWork(context));
}

TEST(KernelBreakdown, TimeIsSplitByWhatRunsAtOnce) {
  TraceBuilder b;
  b.Launch(0, 10, 60, "gemm");
  b.Launch(5, 40, 80, kNccl);
  b.Copy(90, 100, 8, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  const Breakdowns breakdowns = BreakdownsOf(b);
  ASSERT_EQ(breakdowns.temporal.size(), 1u);
  EXPECT_EQ(breakdowns.temporal[0].kernel_ns, 90);
  EXPECT_EQ(breakdowns.temporal[0].idle_ns, 10);
  EXPECT_EQ(breakdowns.temporal[0].compute_ns, 50);
  EXPECT_EQ(breakdowns.temporal[0].non_compute_ns, 30);
  EXPECT_EQ(breakdowns.overlaps[0].communication_ns, 40);
  EXPECT_DOUBLE_EQ(breakdowns.overlaps[0].overlap_share.value(), 0.5);
  ASSERT_EQ(breakdowns.types.size(), 4u);
  EXPECT_EQ(breakdowns.types[0].kernel_type, "COMPUTATION");
  EXPECT_EQ(breakdowns.types[0].total_ns, 30);
  EXPECT_EQ(breakdowns.types[1].kernel_type, "COMMUNICATION");
  EXPECT_EQ(breakdowns.types[2].kernel_type, "COMPUTATION overlapping COMMUNICATION");
  EXPECT_EQ(breakdowns.types[3].kernel_type, "MEMORY");
  EXPECT_DOUBLE_EQ(breakdowns.types[3].share.value(), 10.0 / 80);
}

TEST(KernelBreakdown, WithStepsOnlyWhatTheyLaunchedCounts) {
  TraceBuilder b;
  b.Range(0, 50, "ProfilerStep#1");
  b.Range(50, 100, "ProfilerStep#2");
  b.Kernel(0, 5, "from before the profile", 7);
  b.Launch(10, 20, 30, "gemm");
  b.Launch(150, 160, 190, "after the last step");
  EXPECT_EQ(BreakdownsOf(b).temporal.at(0).kernel_ns, 10);
  b.trace.ranges = {};
  EXPECT_EQ(BreakdownsOf(b).temporal.at(0).kernel_ns, 190);
}

TEST(KernelBreakdown, WithoutGpuWorkThereAreNoRows) {
  TraceBuilder b;
  b.Range(0, 50, "ProfilerStep#1");
  EXPECT_TRUE(BreakdownsOf(b).temporal.empty());
}

TEST(IdleBreakdown, AGapIsOfTheHostWhereTheNextLaunchCameLate) {
  TraceBuilder b;
  b.Launch(0, 10, 20, "a");
  b.Launch(100, 110, 120, "b");          // launched 80 after a's end
  b.Launch(115, 121, 130, "c");          // queued in time
  b.Launch(125, 200'130, 200'140, "d");  // queued in time, and 200 us late
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeIdleBreakdown(context, FindProfiledWork(context));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].category, "host_wait");
  EXPECT_EQ(rows[0].idle_ns, 90);
  EXPECT_EQ(rows[1].category, "kernel_wait");
  EXPECT_EQ(rows[1].idle_ns, 1);
  EXPECT_EQ(rows[2].category, "other");
  EXPECT_EQ(rows[2].idle_ns, 200'000);
  EXPECT_DOUBLE_EQ(rows[2].max_ns.value(), 200'000);
  EXPECT_DOUBLE_EQ(rows[2].idle_share.value(), 200'000 / 200'091.0);
}

TEST(QueueLength, GrowsWithCallsAndShrinksAsOperationsStart) {
  TraceBuilder b;
  b.Launch(0, 30, 40, "a");
  b.Launch(10, 40, 50, "b");
  b.Launch(20, 50, 60, "c");
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeQueueLengths(context, FindProfiledWork(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].stream, 7);
  EXPECT_EQ(rows[0].count, 6);  // 1 2 3 2 1 0
  EXPECT_DOUBLE_EQ(rows[0].mean.value(), 1.5);
  EXPECT_DOUBLE_EQ(rows[0].max.value(), 3);
  EXPECT_DOUBLE_EQ(rows[0].min.value(), 0);
}

TEST(LaunchStatistics, DelayIsFromTheEndOfTheCall) {
  TraceBuilder b;
  b.Launch(0, 30, 31, "a");
  b.Launch(10, 11, 60, "b");  // starts within its call
  b.Kernel(70, 80, "c", 0);   // nobody knows who launched it
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeLaunchStatistics(context, FindProfiledWork(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].launches, 2);
  EXPECT_EQ(rows[0].short_kernels, 1);
  EXPECT_DOUBLE_EQ(rows[0].mean_delay_ns.value(), 14);
  EXPECT_DOUBLE_EQ(rows[0].max_delay_ns.value(), 28);
}

TEST(MemoryBandwidth, OfCopiesAtOnceAddsUp) {
  TraceBuilder b;
  b.Copy(0, 100, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.Copy(50, 100, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.Copy(100, 200, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeMemoryBandwidths(context, FindProfiledWork(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].operation, "host-to-device");
  EXPECT_DOUBLE_EQ(rows[0].max.value(), 30e9);
  EXPECT_DOUBLE_EQ(rows[0].min.value(), 10e9);
}

TEST(MemoryBandwidth, IsWhatTheProfilerSays) {
  TraceBuilder b;
  b.Copy(0, 1000, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.Copy(2000, 2000, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.Copy(4000, 5000, 1000, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.trace.copies.bandwidth = {2e9F, 4e9F, -1.0F};
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeMemoryBandwidths(context, FindProfiledWork(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_DOUBLE_EQ(rows[0].min.value(), 1e9);
  EXPECT_DOUBLE_EQ(rows[0].median.value(), 2e9);
  EXPECT_DOUBLE_EQ(rows[0].max.value(), 4e9);
}

TEST(OperatorSequence, KernelsOfACallAreOne) {
  TraceBuilder b;
  b.Range(0, 50, "aten::cumsum");
  b.Range(100, 150, "aten::cumsum");
  for (const Ns t : {0, 100}) {
    b.Launch(t + 10, t + 30, t + 40, "scan_init");
    b.Launch(t + 20, t + 40, t + 50, "scan");
  }
  const auto rows = ComputeOperatorSequences(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].operator_name, "aten::cumsum");
  EXPECT_EQ(rows[0].kernels, "scan_init -> scan");
  EXPECT_EQ(rows[0].occurrences, 2);
  EXPECT_DOUBLE_EQ(rows[0].mean_launch_delay_ns, 10);
  EXPECT_DOUBLE_EQ(rows[0].mean_start_delay_ns, 20);
}

// Whether a kernel whose i-th execution takes `length(i)` becomes longer or shorter (`shrinks`: shorter) all
// the way.
std::optional<bool> Drifts(int executions, const std::function<Ns(int)>& length,
                           std::string_view column = "drifts") {
  TraceBuilder b;
  for (int i = 0; i < executions; ++i) b.Launch(1000 * i, 1000 * i + 10, 1000 * i + 10 + length(i), "k");
  const Context context = test::ContextOf(b.trace);
  const Table table = ComputeKernelNames(context, ComputeKernelNameOrder(context));
  const Value value = table.ValueAt(0, table.schema().Find(column).value());
  if (IsNull(value)) return std::nullopt;
  return AsNumber(value) == 1.0;
}

TEST(KernelName, DriftsWhereItsWorkGrowsOrShrinks) {
  EXPECT_EQ(Drifts(32, [](int i) { return 100 + 10 * i; }), true);
  EXPECT_EQ(Drifts(32, [](int i) { return 500 - 10 * i; }), true);
  EXPECT_EQ(Drifts(
                32, [](int i) { return 100 + 10 * i; }, "shrinks"),
            false);
  EXPECT_EQ(Drifts(
                32, [](int i) { return 500 - 10 * i; }, "shrinks"),
            true);
  EXPECT_EQ(Drifts(32, [](int i) { return i % 7 == 0 ? 500 : 100; }), false);
  EXPECT_EQ(Drifts(32, [](int) { return 100; }), false);
  EXPECT_EQ(Drifts(8, [](int i) { return 100 + 10 * i; }), std::nullopt) << "too few";
}

// Of the same kernel, however many threads other executions have.
TEST(KernelName, CountsExecutionsOfOneWarp) {
  TraceBuilder b;
  b.Launch(0, 10, 20, "k");
  b.Launch(100, 110, 1110, "k");
  b.trace.kernels.grid.Set(0, 4096);  // blocks of 32 threads
  const Context context = test::ContextOf(b.trace);
  const Table table = ComputeKernelNames(context, ComputeKernelNameOrder(context));
  const auto value = [&](const char* column) {
    return AsNumber(table.ValueAt(0, table.schema().Find(column).value()));
  };
  EXPECT_EQ(value("serial_instances"), 1.0);
  EXPECT_EQ(value("serial_ns"), 1000.0);
}

// Shapes as damaged files give them, whose product no number holds.
TEST(KernelName, CountsNoWarpOfAShapeBeyondAllNumbers) {
  TraceBuilder b;
  b.Launch(0, 10, 20, "k");
  b.trace.kernels.grid.Set(0, int64_t{1} << 40);
  b.trace.kernels.block.Set(0, int64_t{1} << 40);
  const Context context = test::ContextOf(b.trace);
  const Table table = ComputeKernelNames(context, ComputeKernelNameOrder(context));
  EXPECT_EQ(AsNumber(table.ValueAt(0, table.schema().Find("serial_instances").value())), 0.0);
}

TEST(KernelName, TellsHowManyBlocksFitAMultiprocessor) {
  TraceBuilder b;
  b.Launch(0, 10, 20, "k");
  b.Launch(100, 110, 120, "k");
  const auto value = [&](std::string_view column) {
    const Context context = test::ContextOf(b.trace);
    const Table table = ComputeKernelNames(context, ComputeKernelNameOrder(context));
    return table.ValueAt(0, table.schema().Find(column).value());
  };
  EXPECT_EQ(AsNumber(value("fitting_blocks")), 32.0);
  EXPECT_EQ(value("occupancy_limit"), Value("block size"));
  b.trace.kernels.shared_bytes.Set(1, 60 * 1024);
  EXPECT_EQ(AsNumber(value("fitting_blocks")), 2.0) << "of 164 KiB, by the execution that needs most";
  EXPECT_TRUE(IsNull(value("occupancy_limit"))) << "they differ in it";
  b.trace.kernels.shared_bytes.Set(0, 60 * 1024);
  EXPECT_EQ(value("occupancy_limit"), Value("shared memory"));
  b.trace.devices[0].compute_major = 99;
  EXPECT_TRUE(IsNull(value("fitting_blocks")));
  EXPECT_TRUE(IsNull(value("occupancy_limit")));
}

}  // namespace
}  // namespace dladvisor
