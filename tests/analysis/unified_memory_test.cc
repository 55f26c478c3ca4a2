// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/memory/unified_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(UnifiedMemory, FaultsAndMigrationsOfTheWindow) {
  TraceBuilder b;
  b.Kernel(0, 1000, "k", 0);
  b.Copy(100, 150, 4096, CopyDirection::kUnifiedHostToDevice, MemoryKind::kManaged, MemoryKind::kManaged, 0);
  b.Copy(140, 160, 1024, CopyDirection::kUnifiedDeviceToHost, MemoryKind::kManaged, MemoryKind::kManaged, 0);
  b.trace.page_faults = {{90, 120, 5000}, {130, 140, 5001}, {0, 0, 0}, {0, 0, 0}, {5, 6, 7}};
  const auto rows = ComputeUnifiedMemory(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].gpu_faults, 11);
  EXPECT_EQ(rows[0].gpu_fault_ns, 50);
  EXPECT_FALSE(rows[0].cpu_faults.has_value());
  EXPECT_EQ(rows[0].migrations, 2);
  EXPECT_EQ(rows[0].to_device_bytes, 4096);
  EXPECT_EQ(rows[0].to_host_bytes, 1024);
  EXPECT_EQ(rows[0].migration_ns, 60);
}

TEST(UnifiedMemory, TimeInWhichTheHostGoesThroughPages) {
  constexpr Ns kMs = 1'000'000;
  TraceBuilder b;
  const auto migrate = [&](Ns start, Ns end, CopyDirection direction) {
    b.Copy(start * kMs, end * kMs, 4096, direction, MemoryKind::kManaged, MemoryKind::kManaged, 0);
  };
  b.Kernel(0, 10 * kMs, "k", 0);
  migrate(12, 13, CopyDirection::kUnifiedDeviceToHost);  // the pause before it belongs to the kernel
  migrate(15, 16, CopyDirection::kUnifiedDeviceToHost);
  migrate(19, 20, CopyDirection::kUnifiedDeviceToHost);
  migrate(50, 51, CopyDirection::kUnifiedDeviceToHost);  // too long after the last
  migrate(53, 54, CopyDirection::kUnifiedHostToDevice);
  b.Kernel(60 * kMs, 61 * kMs, "k", 0);
  const auto rows = ComputeUnifiedMemory(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].host_access_ns, 5 * kMs);
}

TEST(UnifiedMemory, OfThatTimeWhatDoesNotGrowWithThePagesIsWaitingForThem) {
  constexpr Ns kUs = 1000;
  const auto row_of = [&](const auto& pause_after) {
    TraceBuilder b;
    b.Kernel(0, 10 * kUs, "k", 0);
    Ns now = 20 * kUs;
    for (int i = 0; i < 20; ++i) {
      const int64_t bytes = int64_t{65'536} << (i % 4);
      b.Copy(now, now + kUs, bytes, CopyDirection::kUnifiedDeviceToHost, MemoryKind::kManaged,
             MemoryKind::kManaged, 0);
      now += kUs + pause_after(bytes, i);
    }
    return ComputeUnifiedMemory(test::ContextOf(b.trace)).at(0);
  };
  const auto working = row_of([](int64_t bytes, int) { return 10 * kUs + 2 * bytes; });
  ASSERT_TRUE(working.host_fault_ns);
  EXPECT_NEAR(static_cast<double>(*working.host_fault_ns), 19 * 10 * kUs, kUs);
  EXPECT_GT(working.host_access_ns, 5000 * kUs);
  EXPECT_FALSE(row_of([](int64_t, int i) { return (20 + i % 3) * kUs; }).host_fault_ns)
      << "of any page alike";
}

TEST(UnifiedMemory, TimeInWhichKernelsWaitForPages) {
  constexpr Ns kUs = 1000;
  TraceBuilder b;
  const auto migrate = [&](Ns start, Ns end, CopyDirection direction) {
    b.Copy(start * kUs, end * kUs, 4096, direction, MemoryKind::kManaged, MemoryKind::kManaged, 0);
  };
  b.Kernel(100 * kUs, 2000 * kUs, "k", 0);
  migrate(90, 110, CopyDirection::kUnifiedHostToDevice);  // the kernel begins within it
  migrate(150, 160, CopyDirection::kUnifiedHostToDevice);
  migrate(200, 210, CopyDirection::kUnifiedDeviceToHost);  // evicted: the next comes too late for a fault
  migrate(900, 950, CopyDirection::kUnifiedHostToDevice);
  migrate(2100, 2200, CopyDirection::kUnifiedHostToDevice);  // no kernel waits for it
  const auto rows = ComputeUnifiedMemory(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kernel_wait_ns, 60 * kUs + 50 * kUs);
  EXPECT_EQ(rows[0].arriving_ns, 10 * kUs + 10 * kUs + 50 * kUs) << "without the pauses between";
}

TEST(UnifiedMemory, WhatAKernelTakesLongerWithAPageIsAWaitForIt) {
  constexpr Ns kUs = 1000;
  const auto waits = [](Ns length, const char* other) {
    TraceBuilder b;
    b.Kernel(0, 2 * kUs, other, 0);
    b.Kernel(100 * kUs, (100 + length) * kUs, "flag", 0);
    b.Copy((99 + length) * kUs, (100 + length) * kUs, 4096, CopyDirection::kUnifiedHostToDevice,
           MemoryKind::kManaged, MemoryKind::kManaged, 0);
    return ComputeUnifiedMemory(test::ContextOf(b.trace)).at(0).kernel_wait_ns;
  };
  EXPECT_EQ(waits(450, "flag"), 449 * kUs);
  EXPECT_EQ(waits(4, "flag"), 1 * kUs) << "as the work may";
  EXPECT_EQ(waits(450, "other"), 1 * kUs) << "of another nothing is known";
}

TEST(UnifiedMemory, NoRowWithoutAny) {
  TraceBuilder b;
  b.Kernel(0, 1000, "k", 0);
  EXPECT_TRUE(ComputeUnifiedMemory(test::ContextOf(b.trace)).empty());
}

}  // namespace
}  // namespace dladvisor
