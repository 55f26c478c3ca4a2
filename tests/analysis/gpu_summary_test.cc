// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/gpu_summary.h"

#include <gtest/gtest.h>

#include "src/analysis/context/gpu_estimates.h"
#include "src/analysis/context/occupancy.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(GpuSummary, BlocksOfKernelsAtOnceAddUpToAFullGpu) {
  TraceBuilder b;
  b.Range(0, 200, "ProfilerStep#1");
  b.Launch(1, 10, 60, "a");
  b.Launch(5, 40, 80, "b");
  b.trace.kernels.blocks_per_sm = {0.5F, 0.75F};
  b.trace.kernels.occupancy = {20.0F, 50.0F};
  const auto rows = ComputeGpuSummaries(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].steps_ns, 200);
  EXPECT_DOUBLE_EQ(rows[0].gpu_utilization.value(), 70.0 / 200);
  EXPECT_NEAR(rows[0].est_sm_efficiency.value(), (30 * 0.5 + 20 * 1.0 + 20 * 0.75) / 200, 1e-9);
  EXPECT_NEAR(rows[0].est_achieved_occupancy.value(), (50 * 0.2 + 40 * 0.5) / 90, 1e-6);
}

TEST(GpuSummary, OnlyTimeWithinTheWindowCounts) {
  TraceBuilder b;
  b.Launch(0, 10, 60, "a");
  b.trace.kernels.blocks_per_sm = {0.5F};
  b.trace.kernels.occupancy = {-1.0F};
  const GpuEstimates estimates = EstimateGpu(test::ContextOf(b.trace), 0, {50, 150});
  EXPECT_DOUBLE_EQ(estimates.utilization.value(), 0.1);
  EXPECT_DOUBLE_EQ(estimates.sm_efficiency.value(), 0.05);
  EXPECT_EQ(estimates.achieved_occupancy, std::nullopt);
}

TEST(KernelEstimates, FollowFromTheGridWhereTheProfilerTellsNothing) {
  TraceBuilder b;
  b.Launch(0, 10, 60, "a");
  b.trace.kernels.grid.Set(0, 216);
  b.trace.kernels.block.Set(0, 256);
  b.trace.devices[0].sm_count = 108;
  KernelEstimates estimates(b.trace, b.trace.devices[0]);
  EXPECT_DOUBLE_EQ(estimates.Of(0).blocks_per_sm.value(), 2);
  EXPECT_DOUBLE_EQ(estimates.Of(0).occupancy.value(), 2 * 256 / 2048.0);
  b.trace.kernels.grid.Set(0, 108 * 100);  // 8 blocks of 256 threads fit
  EXPECT_DOUBLE_EQ(estimates.Of(0).occupancy.value(), 1);
  b.trace.devices[0].sm_count.reset();
  EXPECT_EQ(KernelEstimates(b.trace, b.trace.devices[0]).Of(0).blocks_per_sm, std::nullopt);
}

TEST(KernelEstimates, FitByWhatEachKernelNeeds) {
  TraceBuilder b;
  constexpr int64_t kKernels = 1000;  // more than are remembered
  for (int64_t k = 0; k < kKernels; ++k) {
    b.Launch(k * 100, k * 100 + 10, k * 100 + 60, "a");
    b.trace.kernels.block.Set(static_cast<size_t>(k), 32 + 32 * (k % 32));
    b.trace.kernels.registers.Set(static_cast<size_t>(k), k % 255);
    b.trace.kernels.shared_bytes.Set(static_cast<size_t>(k), 64 * k);
  }
  const Device& device = b.trace.devices[0];
  KernelEstimates estimates(b.trace, device);
  for (const int64_t step : {1, 7})
    for (int64_t i = 0; i < kKernels; ++i) {
      const int64_t k = i * step % kKernels;
      EXPECT_EQ(estimates.Of(static_cast<uint32_t>(k)).fit,
                BlocksPerSm(device, 32 + 32 * (k % 32), k % 255, 64 * k));
    }
}

}  // namespace
}  // namespace dladvisor
