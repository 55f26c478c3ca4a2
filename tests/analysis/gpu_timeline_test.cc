// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/gpu_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

int64_t At(const GpuTimeline& timeline, Bucket bucket) {
  return timeline.ledger[static_cast<size_t>(bucket)];
}

int64_t Sum(const GpuTimeline& timeline) {
  int64_t sum = 0;
  for (const int64_t ns : timeline.ledger) sum += ns;
  return sum;
}

TEST(GpuTimeline, OverlapCountsOnceAndTensorCoresFirst) {
  TraceBuilder b;
  b.Launch(0, 10, 30, test::kGemm);
  b.Launch(2, 20, 50, "relu");
  b.Launch(4, 40, 70, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  b.Copy(60, 90, 1, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.Set(80, 100, 0);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(timeline.window, (Interval{10, 100}));
  EXPECT_EQ(At(timeline, Bucket::kTensor), 20);
  EXPECT_EQ(At(timeline, Bucket::kOther), 20);
  EXPECT_EQ(At(timeline, Bucket::kCommunication), 20);
  EXPECT_EQ(At(timeline, Bucket::kCopy), 20);
  EXPECT_EQ(At(timeline, Bucket::kMemset), 10);
  EXPECT_EQ(Sum(timeline), 90);
  EXPECT_EQ(timeline.kernel_busy_ns, 60);
}

// A kernel that ends at 100, then one that starts at 200; what the host did in between differs.
struct Gap {
  TraceBuilder b;
  Gap() { b.Launch(0, 5, 100, "first"); }

  // The charges of the gap [100, 200), with a launch latency of 5 ns from the first kernel.
  IdleGap Charge(Ns launch, Ns start = 200) {
    b.Launch(launch, start, start + 10, "second");
    const Context context = test::ContextOf(b.trace);
    const GpuTimeline timeline = ComputeTimelines(context).at(0);
    EXPECT_EQ(Sum(timeline), timeline.window.length());
    for (const IdleGap& gap : timeline.gaps)
      if (gap.time == Interval{100, start}) return gap;
    ADD_FAILURE() << "no such gap";
    return {};
  }
};

int64_t At(const IdleGap& gap, Bucket bucket) { return gap.charged[static_cast<size_t>(bucket)]; }

TEST(GpuTimeline, LaunchedLateIsStarvation) {
  Gap g;
  const IdleGap gap = g.Charge(190);
  EXPECT_EQ(gap.starved_ns, 90);
  EXPECT_EQ(At(gap, Bucket::kLaunch), 90);
  EXPECT_EQ(At(gap, Bucket::kLaunchLatency), 5);
  EXPECT_EQ(At(gap, Bucket::kDependency), 5);
  EXPECT_EQ(gap.Cause(), Bucket::kLaunch);
}

TEST(GpuTimeline, LaunchedLongBeforeIsADependency) {
  Gap g;
  const IdleGap gap = g.Charge(50);
  EXPECT_EQ(gap.starved_ns, 0);
  EXPECT_EQ(At(gap, Bucket::kDependency), 100);
}

TEST(GpuTimeline, LaunchedJustBeforeIsLatencyFirst) {
  Gap g;
  const IdleGap gap = g.Charge(98);
  EXPECT_EQ(At(gap, Bucket::kLaunchLatency), 3);
  EXPECT_EQ(At(gap, Bucket::kDependency), 97);
}

TEST(GpuTimeline, ASynchronisationOwnsTheHostTimeAfterIt) {
  Gap g;
  g.b.Api(50, 104, "cudaStreamSynchronize_v3020", 0);
  const IdleGap gap = g.Charge(150);
  EXPECT_EQ(At(gap, Bucket::kIdleSync), 50);
  EXPECT_EQ(At(gap, Bucket::kLaunch), 0);
}

TEST(GpuTimeline, BlockingCopiesAllocationsAndTheProfilerAreCharged) {
  Gap g;
  g.b.Api(100, 110, "cudaMemcpy_v3020", 0);
  g.b.Api(110, 130, "cudaMalloc_v3020", 0);
  g.b.Overhead(130, 145, "buffer flush");
  const IdleGap gap = g.Charge(150);
  EXPECT_EQ(At(gap, Bucket::kIdleCopy), 10);
  EXPECT_EQ(At(gap, Bucket::kAllocation), 20);
  EXPECT_EQ(At(gap, Bucket::kProfiler), 15);
  EXPECT_EQ(At(gap, Bucket::kLaunch), 5);
}

TEST(GpuTimeline, DataLoadingIsInput) {
  Gap g;
  g.b.Range(90, 140, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  const IdleGap gap = g.Charge(150);
  EXPECT_EQ(At(gap, Bucket::kInput), 40);
  EXPECT_EQ(At(gap, Bucket::kLaunch), 10);
}

TEST(GpuTimeline, OnlyTheLaunchingThreadCounts) {
  Gap g;
  const uint32_t other = g.b.AddThread(0, 99);
  g.b.Api(100, 150, "cudaDeviceSynchronize", 0, other);
  const IdleGap gap = g.Charge(150);
  EXPECT_EQ(At(gap, Bucket::kIdleSync), 0);
  EXPECT_EQ(At(gap, Bucket::kLaunch), 50);
}

TEST(GpuTimeline, WithoutTheLaunchTheCauseIsUnknown) {
  TraceBuilder b;
  b.Kernel(0, 100, "a", 1);
  b.Kernel(200, 210, "b", 2);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(At(timeline, Bucket::kUnknown), 100);
  EXPECT_FALSE(timeline.has_launches);
}

TEST(GpuTimeline, LedgerAgreesWithOneBucketPerNanosecond) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    TraceBuilder b;
    const char* names[] = {test::kGemm, "relu", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
    Ns t = 0;
    struct Painted {
      Ns start, end;
      int kind;
    };
    std::vector<Painted> painted;
    for (int i = 0; i < 20; ++i) {
      t += static_cast<Ns>(random() % 15);
      const Ns end = t + 1 + static_cast<Ns>(random() % 25);
      const int kind = static_cast<int>(random() % 4);
      const Ns call = std::max<Ns>(0, t - static_cast<Ns>(random() % 30));
      if (kind < 3)
        b.Launch(call, t, end, names[kind]);
      else
        b.Copy(t, end, 1, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned, 0);
      painted.push_back({t, end, kind});
    }
    const Context context = test::ContextOf(b.trace);
    const GpuTimeline timeline = ComputeTimelines(context).at(0);
    std::array<int64_t, 5> expected{};
    for (Ns n = timeline.window.start; n < timeline.window.end; ++n) {
      int best = 4;  // idle
      for (const Painted& p : painted)
        if (n >= p.start && n < p.end) best = std::min(best, p.kind);
      ++expected[static_cast<size_t>(best)];
    }
    EXPECT_EQ(At(timeline, Bucket::kTensor), expected[0]);
    EXPECT_EQ(At(timeline, Bucket::kOther), expected[1]);
    EXPECT_EQ(At(timeline, Bucket::kCommunication), expected[2]);
    EXPECT_EQ(At(timeline, Bucket::kCopy), expected[3]);
    EXPECT_EQ(Length(timeline.idle), expected[4]);
    EXPECT_EQ(Sum(timeline), timeline.window.length());
    for (const int64_t ns : timeline.ledger) EXPECT_GE(ns, 0);
  }
}

}  // namespace
}  // namespace dladvisor
