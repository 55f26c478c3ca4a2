// SPDX-License-Identifier: Apache-2.0
// Which call launched which operation, and what calls do to the thread that makes them.
#include "src/analysis/context/launch_join.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Launches, OfACallInsideACallTheOuterCounts) {
  TraceBuilder b;
  b.Api(10, 20, "cudaLaunchKernel_v7000", 7);
  b.Api(12, 18, "cuLaunchKernel", 7);
  b.Kernel(30, 40, "k", 7);
  EXPECT_EQ(FindLaunches(b.trace).kernel, (std::vector<uint32_t>{0}));
}

TEST(Launches, WithoutACallOrWithoutAnIdThereIsNone) {
  TraceBuilder b;
  b.Api(1, 2, "cudaGetDevice", 0);
  b.Api(3, 4, "cudaGetDevice", kNoCorrelation);
  b.Api(5, 6, "cudaLaunchKernel", 9, kNoIndex);
  b.Kernel(10, 11, "k", 0);
  b.Kernel(12, 13, "k", kNoCorrelation);
  b.Kernel(14, 15, "k", 9);
  b.Kernel(16, 17, "k", 9, kNoIndex);
  b.Set(18, 19, 1234);
  const Launches launches = FindLaunches(b.trace);
  EXPECT_EQ(launches.kernel, (std::vector<uint32_t>(4, kNoIndex)));
  EXPECT_EQ(launches.set, (std::vector<uint32_t>{kNoIndex}));
}

TEST(Launches, AgreeWithANestedLoop) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    TraceBuilder b;
    const uint32_t other = b.AddProcess(43);
    const uint32_t worker = b.AddThread(0, 99);
    const uint32_t threads[] = {0, b.trace.threads.size() > 1 ? 1u : 0u, worker};
    for (Ns t = 0; t < 60; ++t)
      b.Api(t, t + 1, "cudaLaunchKernel", static_cast<int64_t>(random() % 40), threads[random() % 3]);
    for (Ns t = 0; t < 80; ++t) {
      const uint32_t process = random() % 2 ? other : 0;
      b.Kernel(100 + t, 101 + t, "k", static_cast<int64_t>(random() % 50), process);
    }
    const Launches launches = FindLaunches(b.trace);
    const ApiCalls& calls = b.trace.api_calls;
    for (size_t k = 0; k < b.trace.kernels.size(); ++k) {
      uint32_t expected = kNoIndex;
      for (uint32_t i = 0; i < calls.size() && expected == kNoIndex; ++i)
        if (b.trace.kernels.correlation[k] > 0 && calls.correlation[i] == b.trace.kernels.correlation[k] &&
            b.trace.threads[calls.thread[i]].process == b.trace.kernels.process[k])
          expected = i;
      ASSERT_EQ(launches.kernel[k], expected) << "kernel " << k;
    }
  }
}

TEST(Launches, NamesWithoutVersionAndStreamMode) {
  const std::pair<const char*, const char*> names[] = {
      {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
      {"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
      {"cudaMemcpyAsync_v3020_ptsz", "cudaMemcpyAsync"},
      {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync"},
      {"cuLaunchKernel", "cuLaunchKernel"},
      {"my_vector", "my_vector"},
      {"my_v", "my_v"},
      {"my_v7x", "my_v7x"},
      {"", ""},
  };
  for (const auto& [name, base] : names) EXPECT_EQ(ApiBaseName(name), base) << name;
}

TEST(Launches, WhatCallsDoToTheirThread) {
  const std::pair<const char*, ApiKind> calls[] = {
      {"cudaDeviceSynchronize_v3020", ApiKind::kSync},
      {"cudaStreamSynchronize_ptsz_v7000", ApiKind::kSync},
      {"cudaEventSynchronize_v3020", ApiKind::kSync},
      {"cuCtxSynchronize", ApiKind::kSync},
      {"cuStreamSynchronize", ApiKind::kSync},
      {"cudaStreamWaitEvent_v3020", ApiKind::kOther},
      {"cudaEventQuery_v3020", ApiKind::kOther},
      {"cudaStreamIsCapturing_v10000", ApiKind::kOther},
      {"cudaMemcpy_v3020", ApiKind::kCopy},
      {"cudaMemcpy2D_v3020", ApiKind::kCopy},
      {"cudaMemcpyToSymbol_v3020", ApiKind::kCopy},
      {"cuMemcpyDtoH_v2", ApiKind::kCopy},
      {"cudaMemcpyAsync_v3020", ApiKind::kAsyncCopy},
      {"cuMemcpyHtoDAsync_v2", ApiKind::kAsyncCopy},
      {"cudaMemsetAsync_v3020", ApiKind::kOther},
      {"cudaLaunchKernel_v7000", ApiKind::kLaunch},
      {"cudaLaunchKernelExC_v11060", ApiKind::kLaunch},
      {"cuLaunchKernelEx", ApiKind::kLaunch},
      {"cudaLaunchCooperativeKernel_v9000", ApiKind::kLaunch},
      {"cudaGraphLaunch_v10000", ApiKind::kLaunch},
      {"cuGraphLaunch", ApiKind::kLaunch},
      {"cudaMalloc_v3020", ApiKind::kAllocation},
      {"cudaMallocHost_v3020", ApiKind::kAllocation},
      {"cudaFree_v3020", ApiKind::kAllocation},
      {"cudaFreeAsync_v11020", ApiKind::kAllocation},
      {"cudaHostAlloc_v3020", ApiKind::kAllocation},
      {"cudaHostRegister_v4000", ApiKind::kAllocation},
      {"cuMemHostRegister_v2", ApiKind::kAllocation},
      {"cuMemHostUnregister", ApiKind::kAllocation},
      {"cuMemAlloc_v2", ApiKind::kAllocation},
      {"cuMemAllocHost_v2", ApiKind::kAllocation},
      {"cuMemGetInfo_v2", ApiKind::kOther},
      {"cudaGetLastError_v3020", ApiKind::kOther},
      {"urEnqueueKernelLaunch", ApiKind::kLaunch},
      {"urEnqueueKernelLaunchCustomExp", ApiKind::kLaunch},
      {"urEnqueueCooperativeKernelLaunchExp", ApiKind::kLaunch},
      {"piEnqueueKernelLaunch", ApiKind::kLaunch},
      {"piextEnqueueKernelLaunchCustom", ApiKind::kLaunch},
      {"zeCommandListAppendLaunchKernel", ApiKind::kLaunch},
      {"urQueueFinish", ApiKind::kSync},
      {"urEventWait", ApiKind::kSync},
      {"piEventsWait", ApiKind::kSync},
      {"zeCommandListHostSynchronize", ApiKind::kSync},
      {"urEnqueueUSMMemcpy", ApiKind::kAsyncCopy},
      {"piextUSMEnqueueMemcpy", ApiKind::kAsyncCopy},
      {"urUSMDeviceAlloc", ApiKind::kAllocation},
      {"zeMemAllocDevice", ApiKind::kAllocation},
      {"urProgramBuild", ApiKind::kLoading},
      {"piProgramCreate", ApiKind::kLoading},
      {"piPlatformsGet", ApiKind::kOther},
      {"urQueueFlush", ApiKind::kOther},
  };
  for (const auto& [name, kind] : calls) EXPECT_EQ(ClassifyApi(name), kind) << name;
}

TEST(Launches, KindsAreByNameId) {
  TraceBuilder b;
  b.Api(0, 1, "cudaMalloc", 0);
  b.Api(1, 2, "cudaDeviceSynchronize", 0);
  b.Range(0, 1, "cudaFree");  // a range's name, not a call's
  const std::vector<ApiKind> kinds = ClassifyApis(b.trace);
  EXPECT_EQ(kinds[b.trace.api_calls.name[0]], ApiKind::kAllocation);
  EXPECT_EQ(kinds[b.trace.api_calls.name[1]], ApiKind::kSync);
  EXPECT_EQ(kinds[b.trace.ranges.name[0]], ApiKind::kOther);
}

}  // namespace
}  // namespace dladvisor
