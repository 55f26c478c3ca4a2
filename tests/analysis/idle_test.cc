// SPDX-License-Identifier: Apache-2.0
// Why a GPU was idle: charges of gaps drawn by hand, and the relations made of them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/timeline/bucket.h"
#include "src/analysis/timeline/gpu_timeline.h"
#include "src/analysis/timeline/replay.h"
#include "src/analysis/timeline/time_ledger.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using Ledger = std::array<int64_t, kBuckets>;

int64_t At(const Ledger& ledger, Bucket bucket) { return ledger[static_cast<size_t>(bucket)]; }

// Work until 100, and again from 200; the call that launches it runs from `call` to `returned`.
IdleGap GapWithCall(Ns call, Ns returned, const char* name) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");  // the device's latency is 5
  b.Api(call, returned, name, 1);
  b.Kernel(200, 210, "second", 1);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  for (const IdleGap& gap : timeline.gaps)
    if (gap.time == Interval{100, 200}) return gap;
  ADD_FAILURE() << "no such gap";
  return {};
}

TEST(Idle, ALaunchThatLoadsItsModuleIsTheHosts) {
  const IdleGap gap = GapWithCall(110, 190, "cudaLaunchKernel");
  EXPECT_EQ(At(gap.charged, Bucket::kLaunch), 10 + 75);
  EXPECT_EQ(At(gap.charged, Bucket::kLaunchLatency), 5);
  EXPECT_EQ(At(gap.charged, Bucket::kDependency), 10);
  EXPECT_EQ(gap.starved_ns, 10) << "starvation ends with the call's start";
}

TEST(Idle, ACopyThatStagesPageableMemoryIsACopy) {
  const IdleGap gap = GapWithCall(60, 250, "cudaMemcpy");
  EXPECT_EQ(At(gap.charged, Bucket::kIdleCopy), 100);
  EXPECT_EQ(gap.starved_ns, 0);
}

// A gap from 100 to 200, before a launch at 190 by the thread that launched before.
Ledger GapWith(const std::function<void(TraceBuilder&)>& draw) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  draw(b);
  b.Launch(190, 200, 210, "second");
  const Context context = test::ContextOf(b.trace);
  return ComputeTimelines(context).at(0).gaps.at(0).charged;
}

TEST(Idle, EveryCauseByHand) {
  const std::vector<std::pair<Bucket, std::function<void(TraceBuilder&)>>> causes = {
      {Bucket::kIdleSync, [](TraceBuilder& b) { b.Api(60, 150, "cudaStreamSynchronize", 0); }},
      {Bucket::kIdleCopy, [](TraceBuilder& b) { b.Api(60, 190, "cudaMemcpy", 0); }},
      {Bucket::kAllocation, [](TraceBuilder& b) { b.Api(90, 190, "cudaMalloc", 0); }},
      {Bucket::kCompilation, [](TraceBuilder& b) { b.Api(90, 190, "cuModuleLoadData", 0); }},
      {Bucket::kCompilation, [](TraceBuilder& b) { b.Range(90, 190, "KernelExecutor::compileFusion"); }},
      {Bucket::kProfiler, [](TraceBuilder& b) { b.Overhead(90, 190, "CUPTI buffer flush"); }},
      {Bucket::kInput, [](TraceBuilder& b) { b.Range(90, 190, "enumerate(DataLoader)#__next__"); }},
      {Bucket::kIdleCommunication, [](TraceBuilder& b) { b.Mpi(90, 190, "MPI_Allreduce"); }},
      {Bucket::kIdleCommunication, [](TraceBuilder& b) { b.Range(90, 190, "gloo:all_reduce"); }},
      {Bucket::kCheckpoint, [](TraceBuilder& b) { b.Range(90, 190, "save_checkpoint"); }},
      {Bucket::kGarbageCollection, [](TraceBuilder& b) { b.Range(90, 190, "gc.collect"); }},
      {Bucket::kOs, [](TraceBuilder& b) { b.Os(90, 190, "pthread_cond_wait"); }},
      {Bucket::kLaunch, [](TraceBuilder&) {}},
  };
  for (const auto& [bucket, draw] : causes) {
    const Ledger charged = GapWith(draw);
    EXPECT_EQ(At(charged, bucket), 90) << BucketName(bucket);
    EXPECT_EQ(At(charged, Bucket::kLaunchLatency), 5) << BucketName(bucket);
    EXPECT_EQ(At(charged, Bucket::kDependency), 5) << BucketName(bucket);
  }
}

// TensorFlow takes a batch in a thread of its own: the threads that launch have nothing that says so.
TEST(Idle, WaitsForABatchInAnotherThread) {
  TraceBuilder b;
  const uint32_t other = b.AddThread(0, 43);
  b.Launch(0, 5, 100, "first");
  b.Range(1'000, 9'000'000, "IteratorGetNextOp::DoCompute", other);
  b.Range(2'000, 8'999'000, "Iterator::Prefetch", other);
  b.Api(5'000'000, 5'000'100, "cudaEventQuery", 0);
  b.Launch(9'500'000, 9'500'010, 9'600'000, "second");
  // The next batch is taken while the step is launched.
  b.Range(9'600'000, 12'000'000, "IteratorGetNextOp::DoCompute", other);
  for (Ns i = 0; i < 20; ++i)
    b.Launch(9'700'000 + i * 100'000, 9'700'010 + i * 100'000, 9'750'000 + i * 100'000, "third");
  const Context context = test::ContextOf(b.trace);
  const std::vector<GpuTimeline> timelines = ComputeTimelines(context);
  EXPECT_EQ(At(timelines.at(0).gaps.at(0).charged, Bucket::kInput), 8'999'000 - 100);
  EXPECT_EQ(At(timelines.at(0).ledger, Bucket::kInput), 8'999'000 - 100);
  EXPECT_EQ(ComputeIdleGaps(context, timelines).at(0).host_activity, "IteratorGetNextOp::DoCompute");
}

// cuBLAS begins with cudaFree(nullptr), within which CUDA loads its code; a program that frees often waits
// for that.
TEST(Idle, ACallThatDoesNothingForLongIsSetUp) {
  const auto gap = [](const char* name, int calls, Ns length) {
    TraceBuilder b;
    b.Launch(0, 5, 100, "first");
    for (int i = 0; i < calls; ++i) b.Api(1'000 + i * 20'000'000, 1'000 + i * 20'000'000 + length, name, -1);
    b.Launch(200'000'000, 200'000'010, 200'000'020, "second");
    const Context context = test::ContextOf(b.trace);
    return ComputeTimelines(context).at(0).gaps.at(0).charged;
  };
  EXPECT_EQ(At(gap("cudaFree", 2, 3'000'000), Bucket::kCompilation), 6'000'000);
  EXPECT_EQ(At(gap("cudaFree_v3020", 1, 3'000'000), Bucket::kCompilation), 3'000'000);
  EXPECT_EQ(At(gap("cudaStreamCreateWithFlags", 8, 3'000'000), Bucket::kCompilation), 24'000'000);
  EXPECT_EQ(At(gap("cudaFree", 5, 3'000'000), Bucket::kAllocation), 15'000'000);
  EXPECT_EQ(At(gap("cudaFree", 2, 900'000), Bucket::kAllocation), 1'800'000);
  EXPECT_EQ(At(gap("cudaMalloc", 1, 3'000'000), Bucket::kAllocation), 3'000'000);
}

TEST(Idle, TheFirstAllocationOfAPoolCreatesIt) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Api(1'000, 9'001'000, "cudaMallocAsync_v11020", -1);
  b.Api(20'000'000, 22'000'000, "cudaMallocAsync_v11020", -1);
  b.Launch(200'000'000, 200'000'010, 200'000'020, "second");
  const auto charged = ComputeTimelines(test::ContextOf(b.trace)).at(0).gaps.at(0).charged;
  EXPECT_EQ(At(charged, Bucket::kCompilation), 9'000'000);
  EXPECT_EQ(At(charged, Bucket::kAllocation), 2'000'000) << "it asks the driver for more";
}

TEST(Idle, AFreeOfATenthOfASecondIsSetUpAmongOthers) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  for (int i = 0; i < 8; ++i) b.Api(1'000 + i * 1'000'000, 11'000 + i * 1'000'000, "cudaFree", -1);
  b.Api(20'000'000, 140'000'000, "cudaFree", -1);
  b.Launch(200'000'000, 200'000'010, 200'000'020, "second");
  const Context context = test::ContextOf(b.trace);
  const auto charged = ComputeTimelines(context).at(0).gaps.at(0).charged;
  EXPECT_EQ(At(charged, Bucket::kCompilation), 120'000'000);
  EXPECT_EQ(At(charged, Bucket::kAllocation), 80'000);
}

TEST(Idle, WhatAPageThatMigratesToTheHostEndsIsTheHosts) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Copy(150'100, 150'200, 4096, CopyDirection::kUnifiedDeviceToHost, MemoryKind::kManaged,
         MemoryKind::kManaged, 0);
  b.Copy(150'300, 150'400, 4096, CopyDirection::kUnifiedHostToDevice, MemoryKind::kManaged,
         MemoryKind::kManaged, 0);
  const Ledger ledger = ComputeTimelines(test::ContextOf(b.trace)).at(0).ledger;
  EXPECT_EQ(At(ledger, Bucket::kHost), 150'000);
  EXPECT_EQ(At(ledger, Bucket::kUnknown), 100) << "the GPU's own fault";
}

TEST(Idle, PagesThatWereAskedForBeforehandAreWaitedFor) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Api(150, 400, "cudaMemPrefetchAsync_v8000", -1);
  for (const Ns start : {200, 300, 600})
    b.Copy(start, start + 50, 4096, CopyDirection::kUnifiedHostToDevice, MemoryKind::kManaged,
           MemoryKind::kManaged, 0);
  const Ledger ledger = ComputeTimelines(test::ContextOf(b.trace)).at(0).ledger;
  EXPECT_EQ(At(ledger, Bucket::kIdleCopy), 50 + 50 + 250);
  EXPECT_EQ(At(ledger, Bucket::kHost), 50) << "before the call";
}

TEST(Idle, TheCallOfACopyThatDoesNotBlockIsALaunch) {
  for (const MemoryKind memory : {MemoryKind::kPinned, MemoryKind::kPageable, MemoryKind::kUnknown}) {
    TraceBuilder b;
    b.Launch(0, 5, 100, "first");
    b.Api(110, 180, "cudaMemcpyAsync_v3020", 7);
    b.Copy(190, 200, 4096, CopyDirection::kHostToDevice, memory, MemoryKind::kDevice, 7);
    const Ledger ledger = ComputeTimelines(test::ContextOf(b.trace)).at(0).ledger;
    EXPECT_EQ(At(ledger, Bucket::kIdleCopy), memory == MemoryKind::kPinned ? 0 : 65);
    EXPECT_EQ(At(ledger, Bucket::kLaunch), memory == MemoryKind::kPinned ? 75 : 10);
  }
}

// Its call stages the memory, whichever GPU gets it: this one waits as long.
TEST(Idle, ACopyThatBlocksTheHostForAnotherGpuIsACopy) {
  for (const MemoryKind memory : {MemoryKind::kPinned, MemoryKind::kPageable}) {
    const Ledger charged = GapWith([&](TraceBuilder& b) {
      b.Api(110, 180, "cudaMemcpyAsync_v3020", 7);
      b.Copy(120, 175, 4096, CopyDirection::kHostToDevice, memory, MemoryKind::kDevice, 7, b.AddDevice(1));
    });
    EXPECT_EQ(At(charged, Bucket::kIdleCopy), memory == MemoryKind::kPageable ? 70 : 0);
  }
}

// The call of a copy waits for what is queued before it; that another GPU waits meanwhile is none of the
// copy's.
TEST(Idle, WhatACopyWaitsForOnAnotherGpuIsNotTheCopys) {
  const auto charged = [](const char* name, Ns kernel_ends, MemoryKind memory) {
    return GapWith([&](TraceBuilder& b) {
      const uint32_t other = b.AddDevice(1);
      b.Launch(102, 108, kernel_ends, "other", 0, 0, other);
      b.Api(110, 180, name, 7);
      b.Copy(150, 175, 4096, CopyDirection::kDeviceToHost, MemoryKind::kDevice, memory, 7, other);
    });
  };
  for (const char* name : {"cudaMemcpy", "cudaMemcpyAsync_v3020"}) {
    const Ledger behind = charged(name, 145, MemoryKind::kPageable);
    EXPECT_EQ(At(behind, Bucket::kIdleSync), 35) << name;
    EXPECT_EQ(At(behind, Bucket::kIdleCopy), 35) << "what stages it is its own";
    const Ledger alone = charged(name, 109, MemoryKind::kPageable);
    EXPECT_EQ(At(alone, Bucket::kIdleSync), 0);
    EXPECT_EQ(At(alone, Bucket::kIdleCopy), 70);
  }
  const Ledger pinned = charged("cudaMemcpyAsync_v3020", 145, MemoryKind::kPinned);
  EXPECT_EQ(At(pinned, Bucket::kIdleSync) + At(pinned, Bucket::kIdleCopy), 0);
}

TEST(Idle, ACopyWhoseCallReturnsBeforeTheKernelsEndWaitsForNone) {
  const Ledger charged = GapWith([&](TraceBuilder& b) {
    const uint32_t other = b.AddDevice(1);
    b.Launch(102, 108, 185, "other", 0, 0, other);
    b.Api(110, 180, "cudaMemcpyAsync_v3020", 7);
    b.Copy(186, 188, 4096, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, 7,
           other);
  });
  EXPECT_EQ(At(charged, Bucket::kIdleCopy), 70) << "it is staged at once, and copied behind the kernels";
}

TEST(Idle, WhatPrecedesAnotherPrefetchIsTheHosts) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  b.Api(10, 20, "cudaMemPrefetchAsync_v8000", -1);
  b.Api(900'000, 900'100, "cudaMemPrefetchAsync_v8000", -1);
  b.Copy(1'000'000, 1'000'100, 4096, CopyDirection::kUnifiedHostToDevice, MemoryKind::kManaged,
         MemoryKind::kManaged, 0);
  const Ledger ledger = ComputeTimelines(test::ContextOf(b.trace)).at(0).ledger;
  EXPECT_EQ(At(ledger, Bucket::kHost), 900'000 - 100);
  EXPECT_EQ(At(ledger, Bucket::kIdleCopy), 100'000);
}

TEST(Idle, TheMoreSpecificActivityWins) {
  // A read inside the data loader is the loader's; a wait inside of an allocation is the allocation's.
  const Ledger charged = GapWith([](TraceBuilder& b) {
    b.Range(100, 150, "DataLoader");
    b.Os(110, 160, "read");
  });
  EXPECT_EQ(At(charged, Bucket::kInput), 50);
  EXPECT_EQ(At(charged, Bucket::kOs), 10);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 30);
}

TEST(Idle, AWaitThatFindsTheGpuIdleLetsNothingRunDry) {
  const Ledger charged = GapWith([](TraceBuilder& b) { b.Api(110, 120, "cudaStreamSynchronize", 0); });
  EXPECT_EQ(At(charged, Bucket::kIdleSync), 10);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 80);
}

constexpr Ns kUs = 1000;

// A gap from 1 to 2 ms, before a launch at 1.99 ms; `launches` kernels run before it, one each 10 us.
Ledger LongGap(const std::function<void(TraceBuilder&)>& draw, int launches = 1) {
  TraceBuilder b;
  for (int i = 0; i < launches; ++i)
    b.Launch(10 * kUs * i, 10 * kUs * i + 5 * kUs, 10 * kUs * i + 8 * kUs, "k");
  b.Launch(900 * kUs, 905 * kUs, 1000 * kUs, "k");
  draw(b);
  b.Launch(1990 * kUs, 1995 * kUs, 2100 * kUs, "k");
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  for (const IdleGap& gap : timeline.gaps)
    if (gap.time.start == 1000 * kUs) return gap.charged;
  ADD_FAILURE() << "no such gap";
  return {};
}

TEST(Idle, OneLaunchDoesNotTakeAMillisecond) {
  const Ledger charged = LongGap([](TraceBuilder&) {});
  EXPECT_EQ(At(charged, Bucket::kLaunch), 50 * kUs);
  EXPECT_EQ(At(charged, Bucket::kHost), 940 * kUs);
}

TEST(Idle, DispatchCostsWhatItMostlyCostsTheThread) {
  // A launch each 10 us, of which the call takes 6: eight times the rest at least is not dispatch.
  const Ledger charged = LongGap(
      [](TraceBuilder& b) {
        b.trace.api_calls.end.assign(b.trace.api_calls.end.size(), 0);
        for (size_t i = 0; i < b.trace.api_calls.size(); ++i)
          b.trace.api_calls.end[i] = b.trace.api_calls.start[i] + kUs;
      },
      60);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 72 * kUs);
}

TEST(Idle, LaunchesForAnotherGpuCountInTheGap) {
  const Ledger charged = LongGap([](TraceBuilder& b) {
    const uint32_t second = b.AddDevice(1);
    for (int i = 0; i < 3; ++i)
      b.Launch((1100 + 100 * i) * kUs, (1105 + 100 * i) * kUs, (1150 + 100 * i) * kUs, "k", 0, 0, second);
  });
  EXPECT_EQ(At(charged, Bucket::kLaunch), 4 * 50 * kUs);
}

TEST(Idle, AWaitOwnsOfTheHostsTimeAfterItWhatItWaited) {
  const Ledger charged =
      LongGap([](TraceBuilder& b) { b.Api(910 * kUs, 1002 * kUs, "cudaStreamSynchronize", 0); });
  EXPECT_EQ(At(charged, Bucket::kIdleSync), (2 + 92) * kUs);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 50 * kUs);
  EXPECT_EQ(At(charged, Bucket::kHost), (990 - 2 - 92 - 50) * kUs);
}

TEST(Idle, WhatLeadsUpToLoadingCodeIsCompilation) {
  // The file that it is in is read, too.
  const Ledger charged = LongGap([](TraceBuilder& b) {
    b.Api(1100 * kUs, 1110 * kUs, "cudaMalloc", 0);
    b.Os(1150 * kUs, 1300 * kUs, "read");
    b.Api(1800 * kUs, 1900 * kUs, "cuModuleLoadData", 0);
  });
  EXPECT_EQ(At(charged, Bucket::kCompilation), 790 * kUs);
  EXPECT_EQ(At(charged, Bucket::kAllocation), 10 * kUs);
  EXPECT_EQ(At(charged, Bucket::kOs), 0);
}

TEST(Idle, WritingLaunchesIntoAGraphIsCompilation) {
  const auto charged = [](const char* end) {
    return LongGap([end](TraceBuilder& b) {
      b.Api(1100 * kUs, 1101 * kUs, "cudaStreamBeginCapture", 0);
      b.Api(1300 * kUs, 1310 * kUs, "cudaLaunchKernel", 7);
      b.Api(1590 * kUs, 1600 * kUs, end, 0);
    });
  };
  EXPECT_EQ(At(charged("cudaStreamEndCapture"), Bucket::kCompilation), 500 * kUs);
  EXPECT_EQ(At(charged("cudaStreamIsCapturing"), Bucket::kCompilation), 0) << "it goes on";
}

TEST(Idle, OnlyARangeShowsThatCompilingTakesLong) {
  for (const bool in_range : {false, true}) {
    TraceBuilder b;
    b.Launch(0, 5 * kUs, 1000 * kUs, "k");
    if (in_range) b.Range(2000 * kUs, 200'000 * kUs, "matmul");
    b.Api(100'000 * kUs, 100'100 * kUs, "cuLinkCreate_v2", 0);
    b.Launch(100'100 * kUs, 100'110 * kUs, 200'000 * kUs, "jit");
    const Context context = test::ContextOf(b.trace);
    const IdleGap gap = ComputeTimelines(context).at(0).gaps.at(0);
    EXPECT_EQ(At(gap.charged, Bucket::kCompilation), (in_range ? 98'000 : 10'000) * kUs + 100 * kUs);
  }
}

// Ten products, of which the first starts the library that has their kernels.
TEST(Idle, TheFirstCallOfAnOperatorStartsItsLibrary) {
  for (const bool is_known : {false, true}) {
    TraceBuilder b;
    b.Launch(0, 5 * kUs, 1000 * kUs, is_known ? "gemm" : "copy");
    b.Range(1000 * kUs, 101'010 * kUs, "aten::mm");
    b.Launch(101'000 * kUs, 101'010 * kUs, 102'000 * kUs, "gemm");
    for (int i = 0; i < 9; ++i) {
      const Ns at = (103'000 + i * 1000) * kUs;
      b.Range(at, at + 20 * kUs, "aten::mm");
      b.Launch(at + 10 * kUs, at + 15 * kUs, at + 900 * kUs, "gemm");
    }
    const Context context = test::ContextOf(b.trace);
    const IdleGap gap = ComputeTimelines(context).at(0).gaps.at(0);
    EXPECT_EQ(At(gap.charged, is_known ? Bucket::kHost : Bucket::kCompilation) / 1'000'000,
              is_known ? 99 : 100)
        << "a kernel that ran before is there";
  }
}

TEST(Idle, TwoColdLaunchesAreNoLatency) {
  TraceBuilder b;
  b.Api(0, 17'600 * kUs, "cudaLaunchKernel", 1);
  b.Kernel(17'500 * kUs, 17'600 * kUs, "a", 1);
  b.Api(18'000 * kUs, 35'600 * kUs, "cudaLaunchKernel", 2);
  b.Kernel(35'500 * kUs, 35'600 * kUs, "b", 2);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(timeline.min_latency_ns, 100 * kUs);
  EXPECT_EQ(At(timeline.ledger, Bucket::kLaunchLatency), 100 * kUs);
  EXPECT_EQ(At(timeline.ledger, Bucket::kCompilation), 17'400 * kUs);
}

TEST(Idle, TheFirstLaunchOfAKernelLoadsIt) {
  for (const bool first : {false, true}) {
    TraceBuilder b;
    b.Launch(0, 5 * kUs, 100 * kUs, "a");
    b.Api(100 * kUs, 600 * kUs, "cudaLaunchKernel", 7);
    b.Kernel(590 * kUs, 700 * kUs, first ? "b" : "a", 7);
    const Context context = test::ContextOf(b.trace);
    const IdleGap gap = ComputeTimelines(context).at(0).gaps.at(0);
    EXPECT_EQ(At(gap.charged, first ? Bucket::kCompilation : Bucket::kLaunch), 485 * kUs);
  }
}

TEST(Idle, TheThreadThatHandsOverIsAsked) {
  // The main thread reads a value, then starts the backward pass on a worker, which had been asleep.
  TraceBuilder b;
  const uint32_t worker = b.AddThread(0, 43);
  b.Launch(0, 5, 100, "forward");
  b.Os(0, 180, "pthread_cond_wait", worker);
  b.Api(60, 130, "cudaStreamSynchronize", 0);
  b.Range(170, 195, "backward", worker);
  b.Launch(190, 200, 210, "gradient", worker);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  const IdleGap& gap = timeline.gaps.at(0);
  EXPECT_EQ(At(gap.charged, Bucket::kIdleSync), 70) << "until the worker begins";
  EXPECT_EQ(At(gap.charged, Bucket::kOs), 10) << "the worker's own, from its range on";
  EXPECT_EQ(At(gap.charged, Bucket::kLaunch), 10);
  EXPECT_EQ(gap.handed_over, 170);
}

TEST(Idle, ARuntimesDispatchIsLaunching) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "a");
  b.Range(500'000, 1'500'000, "PjRtCApiLoadedExecutable::Execute", 0);
  b.Launch(1'400'000, 1'450'000, 1'500'000, "b");
  const Context context = test::ContextOf(b.trace);
  const IdleGap gap = ComputeTimelines(context).at(0).gaps.at(0);
  EXPECT_EQ(At(gap.charged, Bucket::kHost), 499'900 - 50'000) << "but for the cost of a launch";
  EXPECT_GE(At(gap.charged, Bucket::kLaunch), 900'000);
}

TEST(Idle, AWorkersTimeBetweenTasksIsThatOfTheProgram) {
  // The main thread makes a batch; a worker of the runtime has ended one task early in the gap, and copies
  // the batch in its next one.
  TraceBuilder b;
  const uint32_t worker = b.AddThread(0, 43);
  b.trace.threads[worker].is_worker = true;
  b.Launch(0, 5, 100, "step");
  b.Range(90, 120, "D2H Dispatch", worker);
  b.Api(105, 115, "jax.block_until_ready", 0);
  b.Range(900, 995, "H2D Dispatch", worker);
  b.Launch(950, 990, 1000, "copied", worker);
  const Context context = test::ContextOf(b.trace);
  const IdleGap gap = ComputeTimelines(context).at(0).gaps.at(0);
  EXPECT_EQ(gap.before, 0u);
  EXPECT_EQ(gap.handed_over, 900);
  EXPECT_EQ(At(gap.charged, Bucket::kIdleSync), 10) << "the main thread's";
}

TEST(Idle, WhatNothingEndsDoesNotHideStarvation) {
  TraceBuilder b;
  const uint32_t second = b.AddDevice(1);
  b.Launch(0, 5, 100, "a");
  b.Launch(190, 195, 200, "b");
  b.Launch(200, 205, 5000, "c", 0, 0, second);  // goes on without the first GPU
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(At(timeline.ledger, Bucket::kUnknown), 4800);
  EXPECT_TRUE(timeline.has_launches);
  EXPECT_EQ(At(timeline.ledger, Bucket::kLaunch), 90);
}

TEST(Idle, TooManyUnknownLaunchesHideStarvation) {
  for (const Ns known : {390, 410}) {  // of gaps of 100 and `known` ns
    TraceBuilder b;
    b.Launch(0, 5, 100, "a");
    b.Kernel(200, 210, "launch not recorded", 0);
    b.Launch(210 + known - 5, 210 + known, 1000, "b");
    const Context context = test::ContextOf(b.trace);
    const GpuTimeline timeline = ComputeTimelines(context).at(0);
    EXPECT_EQ(At(timeline.ledger, Bucket::kUnknown), 100);
    EXPECT_EQ(timeline.has_launches, known > 400) << known;
  }
}

// A gap of 20 ms before the kernel "Conv2D" of TensorFlow's timeline, which holds no calls.
GpuTimeline GapWithoutCalls(const char* format, std::string_view range, Ns start, Ns end) {
  constexpr Ns kMs = 1'000'000;
  TraceBuilder b;
  b.trace.format = format;
  b.Kernel(0, kMs, "MatMul", 0);
  b.Range(start * kMs, end * kMs, range);
  b.Kernel(21 * kMs, 22 * kMs, "Conv2D", 0);
  const Context context = test::ContextOf(b.trace);
  return ComputeTimelines(context).at(0);
}

TEST(Idle, AnOperatorThatLastsAsLongExplainsAGapWithoutCalls) {
  const GpuTimeline first_use = GapWithoutCalls("timeline", "Conv2D", 2, 22);
  EXPECT_EQ(At(first_use.ledger, Bucket::kCompilation), 19'000'000);
  EXPECT_EQ(At(first_use.ledger, Bucket::kUnknown), 1'000'000);
  EXPECT_TRUE(first_use.captured[static_cast<size_t>(Bucket::kCompilation)]);
  EXPECT_FALSE(first_use.captured[static_cast<size_t>(Bucket::kInput)]);
  for (const char* input : {"IteratorGetNext", "QueueDequeueManyV2", "ReaderReadV2"})
    EXPECT_EQ(At(GapWithoutCalls("timeline", input, 1, 21).ledger, Bucket::kInput), 20'000'000) << input;
}

TEST(Idle, AnOperatorThatOnlyTheHostComputesIsItsWork) {
  const GpuTimeline timeline = GapWithoutCalls("timeline", "LookupTableFindV2", 1, 21);
  EXPECT_EQ(At(timeline.ledger, Bucket::kHost), 20'000'000);
  EXPECT_EQ(At(timeline.ledger, Bucket::kUnknown), 0);
  EXPECT_EQ(At(GapWithoutCalls("timeline", "Unique", 3, 21).ledger, Bucket::kUnknown), 2'000'000);
}

TEST(Idle, OtherOperatorsLeaveAGapWithoutCallsUnexplained) {
  const auto unknown = [](const GpuTimeline& t) { return At(t.ledger, Bucket::kUnknown); };
  EXPECT_EQ(unknown(GapWithoutCalls("timeline", "Conv2D", 14, 21)), 20'000'000) << "covers too little";
  EXPECT_EQ(unknown(GapWithoutCalls("timeline", "NcclAllReduce", 1, 21)), 20'000'000) << "says no cause";
  EXPECT_EQ(unknown(GapWithoutCalls("kineto", "Conv2D", 1, 21)), 20'000'000) << "may launch elsewhere";
}

}  // namespace
}  // namespace dladvisor
