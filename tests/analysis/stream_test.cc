// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/stream.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Stream, OverlapIsTimeBesideAnotherStream) {
  TraceBuilder b;
  b.Kernel(0, 100, "a", 0);
  b.Kernel(50, 80, "b", 0);
  b.trace.kernels.stream.Set(b.trace.kernels.size() - 1, 13);
  b.Copy(90, 120, 8, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.trace.copies.stream.Set(b.trace.copies.size() - 1, 14);
  b.trace.streams = {{0, 0}, {7, 13}, {StreamKind::kDefault, StreamKind::kNonBlocking}};
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeStreams(context);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].kind, "default");
  EXPECT_EQ(rows[0].busy_ns, 100);
  EXPECT_EQ(rows[0].overlap_ns, 30 + 10);
  EXPECT_EQ(rows[1].kind, "non-blocking");
  EXPECT_EQ(rows[1].overlap_ns, 30);
  EXPECT_EQ(rows[2].kind, "unknown");
  EXPECT_EQ(rows[2].copies, 1);
  EXPECT_EQ(rows[2].overlap_ns, 10);
}

TEST(Stream, StretchesAreKernelsInARow) {
  TraceBuilder b;
  for (int i = 0; i < 8; ++i) {
    b.Kernel(100 * i, 100 * i + 50, "k", 0);
    b.trace.kernels.stream.Set(b.trace.kernels.size() - 1, i < 3 || i == 7 ? 13 : 14);
  }
  b.Copy(450, 460, 8, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  b.trace.copies.stream.Set(b.trace.copies.size() - 1, 15);
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeStreams(context);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].stretches, 2);
  EXPECT_EQ(rows[1].stretches, 1) << "a copy elsewhere begins no other";
  EXPECT_EQ(rows[2].stretches, 0);
}

}  // namespace
}  // namespace dladvisor
