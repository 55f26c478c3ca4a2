// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/memory/memory_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(MemoryCurve, KeepsTheExtremesOfManyEvents) {
  TraceBuilder b;
  for (int64_t i = 0; i < 50'000; ++i) {
    b.Tensor(i * 10, 1, i == 12'345 ? 900 : i == 34'567 ? 3 : 100 + i % 50, 1000);
    if (i == 20'000) b.Tensor(i * 10, 1, 700, 1000);
  }
  // A pause, through which the last value holds.
  b.Tensor(1'000'000, 1, 120, 1000);
  const auto rows = ComputeMemoryCurve(b.trace);
  EXPECT_LE(rows.size(), 800u);
  EXPECT_GE(rows.size(), 300u);
  const auto has = [&](Ns when, int64_t allocated) {
    return std::ranges::any_of(rows, [&](const MemoryPointRow& row) {
      return row.start_ns == when && row.allocated_bytes == allocated && row.reserved_bytes == 1000;
    });
  };
  EXPECT_TRUE(has(123'450, 900));
  EXPECT_TRUE(has(345'670, 3));
  EXPECT_TRUE(has(200'000, 700)) << "two events at one time";
  EXPECT_TRUE(has(499'990, 149));
  EXPECT_EQ(rows.back().start_ns, 1'000'000);
  EXPECT_EQ(rows.back().allocated_bytes, 120);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].point, static_cast<int64_t>(i));
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &MemoryPointRow::start_ns));
}

TEST(MemoryCurve, SharesItsPointsAmongGpus) {
  TraceBuilder b;
  std::vector<uint32_t> devices = {0};
  for (int64_t i = 1; i < 8; ++i) devices.push_back(b.AddDevice(i));
  for (int64_t i = 0; i < 30'000; ++i) {
    b.Tensor(i, 1, i * 7919 % 1000, 1000);
    b.trace.memory_events.device.back() = devices[static_cast<size_t>(i % 8)];
  }
  const auto rows = ComputeMemoryCurve(b.trace);
  EXPECT_LE(rows.size(), 800u);
  EXPECT_EQ(rows.back().device, b.trace.devices.back().ordinal);
}

TEST(MemoryCurve, LeavesOutTheHostAndWhatIsNotKnown) {
  TraceBuilder b;
  EXPECT_TRUE(ComputeMemoryCurve(b.trace).empty());
  b.Tensor(10, 1, 5);
  b.Tensor(20, 1);
  b.Tensor(30, 1, 7, 9);
  b.trace.memory_events.device.back() = kNoIndex;
  const auto rows = ComputeMemoryCurve(b.trace);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].allocated_bytes, 5);
  EXPECT_EQ(rows[0].reserved_bytes, std::nullopt);
}

}  // namespace
}  // namespace dladvisor
