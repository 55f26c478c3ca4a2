// SPDX-License-Identifier: Apache-2.0
// DLProf's resource usage breakdown, against a reference that decides every nanosecond by itself.
#include "src/analysis/timeline/resource_usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<ResourceUsageRow> UsageOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeResourceUsage(context, ComputeTimelines(context));
}

TEST(ResourceUsage, EndsWhereTheProgramUnloadsItsCode) {
  TraceBuilder b;
  b.Api(0, 10, "cudaLaunchKernel", 1);
  b.Kernel(10, 60, "relu", 1);
  b.Api(60, 70, "cudaMemGetInfo", 2);
  b.Api(70, 1000, "cuModuleUnload", 3);
  const std::vector<ResourceUsageRow> usage = UsageOf(b);
  EXPECT_EQ(usage.at(1).ns, 50);
  EXPECT_EQ(usage.at(5).ns, 20) << "of the CPU";
}

TEST(ResourceUsage, AgreesWithDecidingEveryNanosecond) {
  std::mt19937 random(14);
  for (int round = 0; round < 100; ++round) {
    TraceBuilder b;
    const uint32_t worker = b.AddThread(0, 43);
    std::array<std::vector<Interval>, 6> drawn;
    std::vector<Ns> starts(30);
    for (Ns& start : starts) start = static_cast<Ns>(random() % 300);
    std::sort(starts.begin(), starts.end());
    b.Api(0, 1, "cudaInit", 0);
    for (int i = 0; i < 30; ++i) {
      const Ns start = starts[static_cast<size_t>(i)], end = start + 1 + static_cast<Ns>(random() % 12);
      const size_t category = i < 6 ? static_cast<size_t>(i + round) % 6 : random() % 6;
      const uint32_t thread = random() % 2 ? worker : 0;
      drawn[category].push_back({start, end});
      switch (category) {
        case 0:
        case 1:
          b.Kernel(start, end, category == 0 ? test::kGemm : "relu", 0);
          break;
        case 2:
          b.Set(start, end, 0);
          break;
        case 3:
          b.Range(start, end, "DataLoader", thread);
          break;
        case 4:
          b.Os(start, end, "read", thread);
          break;
        default:
          b.Api(start, end, "cudaGetDevice", 0, thread);
      }
    }
    // Calls of the operating system are not activity: keep them within it.
    b.Api(399, 400, "cudaExit", 0);
    drawn[5].push_back({0, 1});
    drawn[5].push_back({399, 400});
    std::array<int64_t, 7> expected{};
    for (Ns n = 0; n < 400; ++n) {
      size_t category = 0;
      const auto runs = [&](const Interval& i) { return i.start <= n && n < i.end; };
      while (category < 6 && std::none_of(drawn[category].begin(), drawn[category].end(), runs)) ++category;
      ++expected[category];
    }
    const auto rows = UsageOf(b);
    ASSERT_EQ(rows.size(), 7u);
    double share = 0;
    for (size_t i = 0; i < 7; ++i) {
      ASSERT_EQ(rows[i].ns, expected[i]) << rows[i].category << ", round " << round;
      EXPECT_EQ(rows[i].position, static_cast<int64_t>(i) + 1);
      share += rows[i].share.value();
    }
    EXPECT_NEAR(share, 1, 1e-9);
  }
}

TEST(ResourceUsage, WhatWasNotCapturedIsUnknown) {
  TraceBuilder b;
  b.Launch(0, 10, 100, "relu");
  const auto rows = UsageOf(b);
  EXPECT_EQ(rows[1].ns, 90);
  EXPECT_FALSE(rows[3].ns.has_value()) << "no ranges, no data loader";
  EXPECT_FALSE(rows[4].ns.has_value()) << "no OS calls, no I/O";
  EXPECT_EQ(rows[5].ns, 2);
  EXPECT_EQ(rows[6].ns, 8);
}

TEST(ResourceUsage, LoadingThatNothingNamesIsUnknown) {
  TraceBuilder b;
  b.Range(0, 50, "forward");
  b.Launch(0, 60, 100, "relu");
  EXPECT_FALSE(UsageOf(b)[3].ns.has_value());
  b.Range(50, 55, "get_batch");
  EXPECT_EQ(UsageOf(b)[3].ns, 5);
}

TEST(ResourceUsage, WaitingIsNoInputOrOutput) {
  TraceBuilder b;
  b.Api(0, 1, "cudaInit", 0);
  b.Launch(80, 90, 100, "relu");
  for (const char* call : {"poll", "pthread_cond_wait", "sem_wait", "usleep", "ioctl", "mmap"})
    b.Os(10, 60, call);
  EXPECT_EQ(UsageOf(b)[4].ns, 0);
  b.Os(20, 30, "pread64");
  EXPECT_EQ(UsageOf(b)[4].ns, 10);
}

TEST(ResourceUsage, IsTheMeanOverGpusOfTheirProcesses) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  b.Range(0, 100, "get_batch", 0);
  b.Launch(100, 110, 150, "relu", 0, 0, 0);
  b.Launch(100, 110, 200, "relu", 1, other, device);
  const auto rows = UsageOf(b);
  EXPECT_EQ(rows[1].ns, (40 + 90) / 2);
  EXPECT_EQ(rows[3].ns, 100 / 2) << "only the first process loads data";
  EXPECT_DOUBLE_EQ(rows[3].share.value(), 100.0 / 400);
}

// What a DLProf op does between the functions that it calls is the op's own work.
TEST(ResourceUsage, CallsOfMarkedOpsAreHostWork) {
  TraceBuilder b;
  b.Range(0, 100, "step");
  b.Range(10, 60, "{'funcStack': '/<module>/relu'}");
  b.Range(20, 50, "{'mod': 'torch', 'op': 'relu', 'args': []}");
  b.Range(30, 40, "aten::relu");
  b.Launch(32, 100, 120, "relu");
  const auto rows = UsageOf(b);
  EXPECT_EQ(rows[3].ns, 0) << "markers would name a loader";
  EXPECT_EQ(rows[5].ns, 30);
  EXPECT_EQ(rows[6].ns, 70);
}

TEST(ResourceUsage, WithoutGpuWorkThereIsNone) {
  TraceBuilder b;
  b.Range(0, 100, "get_batch");
  EXPECT_TRUE(UsageOf(b).empty());
}

}  // namespace
}  // namespace dladvisor
