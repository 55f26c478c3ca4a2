// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/copy_kind.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr auto kToDevice = CopyDirection::kHostToDevice, kToHost = CopyDirection::kDeviceToHost;
constexpr auto kPageable = MemoryKind::kPageable, kPinned = MemoryKind::kPinned,
               kOnDevice = MemoryKind::kDevice;

std::map<std::string, CopyKindRow> CopyKindsOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  std::map<std::string, CopyKindRow> rows;
  for (const CopyKindRow& row : ComputeCopyKinds(context, ComputeTimelines(context)))
    EXPECT_TRUE(
        rows.emplace(row.direction + " " + row.source + " " + row.destination + " " + row.blocking, row)
            .second)
        << "key columns are unique";
  return rows;
}

TEST(CopyKind, SumsByKind) {
  TraceBuilder b;
  b.Api(0, 5, "cudaMemcpyAsync_v3020", 1);
  b.Api(6, 8, "cudaMemcpyAsync_v3020", 2);
  b.Api(10, 50, "cudaMemcpy_v3020", 3);
  b.Copy(10, 30, 1000, kToDevice, kPinned, kOnDevice, 1);
  b.Copy(20, 50, 70'000, kToDevice, kPinned, kOnDevice, 2);
  b.Copy(60, 100, 400, kToHost, kOnDevice, kPageable, 3);
  b.Copy(200, 200, 0, kToHost, kOnDevice, kPageable, 0);
  const auto rows = CopyKindsOf(b);
  ASSERT_EQ(rows.size(), 3u);
  const CopyKindRow& pinned = rows.at("host-to-device pinned device async");
  EXPECT_EQ(pinned.copies, 2);
  EXPECT_EQ(pinned.bytes, 71'000);
  EXPECT_EQ(pinned.total_ns, 50);
  EXPECT_EQ(pinned.window_ns, 40) << "they overlap by 10";
  EXPECT_DOUBLE_EQ(pinned.avg_ns, 25);
  EXPECT_DOUBLE_EQ(pinned.bytes_per_s.value(), 71'000 / 50e-9);
  EXPECT_EQ(pinned.small_copies, 1);
  EXPECT_EQ(pinned.pageable_async, 0);
  EXPECT_EQ(rows.at("device-to-host device pageable blocking").total_ns, 40);
  const CopyKindRow& unknown = rows.at("device-to-host device pageable unknown");
  EXPECT_EQ(unknown.copies, 1);
  EXPECT_FALSE(unknown.bytes_per_s.has_value()) << "no time, no bandwidth";
}

// Of large copies: what small ones take is mostly their start.
TEST(CopyKind, BestRateIsOfALargeCopy) {
  TraceBuilder b;
  b.Copy(0, 1'000, 8 << 20, kToDevice, kPinned, kOnDevice, 0);
  b.Copy(2'000, 2'500, 8 << 20, kToDevice, kPinned, kOnDevice, 0);
  b.Copy(3'000, 3'001, 1 << 20, kToDevice, kPinned, kOnDevice, 0);
  b.Copy(4'000, 4'100, 1 << 20, kToHost, kOnDevice, kPinned, 0);
  const auto rows = CopyKindsOf(b);
  EXPECT_DOUBLE_EQ(rows.at("host-to-device pinned device unknown").best_bytes_per_s.value(),
                   (8 << 20) / 500e-9);
  EXPECT_FALSE(rows.at("device-to-host device pinned unknown").best_bytes_per_s);
}

TEST(CopyKind, BlockingFollowsCudasRules) {
  TraceBuilder b;
  Ns t = 0;
  const auto copy = [&](const char* call, int64_t bytes, CopyDirection direction, MemoryKind from,
                        MemoryKind to) {
    t += 10;
    b.Api(t, t + 2, call, t);
    b.Copy(t + 3, t + 5, bytes, direction, from, to, t);
  };
  copy("cudaMemcpy", 65536, kToDevice, kPageable, kOnDevice);
  copy("cudaMemcpy", 65537, kToDevice, kPageable, kOnDevice);
  copy("cudaMemcpy", 1, kToHost, kOnDevice, kPinned);
  copy("cudaMemcpy", 1 << 20, CopyDirection::kDeviceToDevice, kOnDevice, kOnDevice);
  copy("cudaMemcpyAsync", 1 << 20, kToDevice, kPageable, kOnDevice);
  copy("cudaGraphLaunch", 1 << 20, kToDevice, kPinned, kOnDevice);
  const auto rows = CopyKindsOf(b);
  EXPECT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows.at("host-to-device pageable device blocking").bytes, 65537);
  const CopyKindRow& pageable = rows.at("host-to-device pageable device async");
  EXPECT_EQ(pageable.bytes, 65536 + (1 << 20));
  EXPECT_EQ(pageable.pageable_async, 1) << "the call of the small one waits, if for less";
  EXPECT_EQ(rows.count("device-to-host device pinned blocking"), 1u);
  EXPECT_EQ(rows.count("device-to-device device device async"), 1u);
  EXPECT_EQ(rows.count("host-to-device pinned device async"), 1u);
}

TEST(CopyKind, ACopyWhoseSizeIsNotRecordedIsNoSmallOne) {
  TraceBuilder b;
  b.Api(0, 5, "hipMemcpy", 1);
  b.Copy(10, 30, 0, kToDevice, MemoryKind::kUnknown, kOnDevice, 1);
  b.Copy(40, 60, 0, kToHost, kOnDevice, MemoryKind::kUnknown, 0);
  const auto rows = CopyKindsOf(b);
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [key, row] : rows) {
    EXPECT_EQ(row.small_copies, 0);
    EXPECT_EQ(row.window_small_copies, 0);
    EXPECT_EQ(row.scalar_copies, 0);
    EXPECT_FALSE(row.bytes_per_s.has_value());
    EXPECT_EQ(row.blocking, "unknown");
  }
}

TEST(CopyKind, ExposedCopiesInStreamsThatCompute) {
  TraceBuilder b;
  b.Kernel(0, 100, "k", 0);
  b.Copy(90, 150, 4, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned, 0);
  b.Copy(200, 250, 1 << 20, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned, 0);
  b.trace.copies.stream.Set(b.trace.copies.size() - 1, 20);
  b.Kernel(300, 310, "k", 0);
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeCopyKinds(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].window_copies, 2);
  EXPECT_EQ(rows[0].exposed_ns, 50 + 50);
  EXPECT_EQ(rows[0].compute_stream_ns, 50);
  EXPECT_EQ(rows[0].scalar_copies, 1);
  EXPECT_FALSE(rows[0].copies_per_step.has_value());
}

}  // namespace
}  // namespace dladvisor
