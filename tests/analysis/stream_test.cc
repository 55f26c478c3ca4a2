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

}  // namespace
}  // namespace dladvisor
