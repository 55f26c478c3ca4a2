// SPDX-License-Identifier: Apache-2.0
// Data that is sent to the GPU piece by piece, on drawn traces.
#include "src/analysis/host/copy_run.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// A copy and then `kernels` kernels of 100 ns; 10 us from one copy to the next.
void Piece(TraceBuilder& b, Ns t, int64_t bytes, int kernels, Ns length = 100) {
  b.Copy(t, t + 500, bytes, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 0);
  for (int k = 0; k < kernels; ++k) b.Kernel(t + 1000 + k * length, t + 1000 + (k + 1) * length, "fill", 0);
}

std::vector<CopyRunRow> RunsOf(const TraceBuilder& b) { return ComputeCopyRuns(test::ContextOf(b.trace)); }

TEST(CopyRun, RowsOneByOne) {
  TraceBuilder b;
  for (int i = 0; i < 120; ++i) Piece(b, i * 10'000, 1024, 1);
  const auto rows = RunsOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].runs, 1);
  EXPECT_EQ(rows[0].copies, 120);
  EXPECT_EQ(rows[0].bytes, 120 * 1024);
  EXPECT_EQ(rows[0].ns, 119 * 10'000 + 500);
  EXPECT_EQ(rows[0].gpu_ns, 120 * 500 + 119 * 100);
}

TEST(CopyRun, LargerOnesBetweenSmallOnes) {
  TraceBuilder mixed, large;
  for (int i = 0; i < 400; ++i) {
    Piece(mixed, i * 10'000, i % 4 == 0 ? 128 * 1024 : 1024, 0);
    Piece(large, i * 10'000, i % 5 == 0 ? 1024 : 128 * 1024, 0);
  }
  ASSERT_EQ(RunsOf(mixed).size(), 1u);
  EXPECT_EQ(RunsOf(mixed)[0].copies, 400);
  EXPECT_EQ(RunsOf(mixed)[0].median_bytes, 1024);
  EXPECT_TRUE(RunsOf(large).empty());
}

TEST(CopyRun, NotWhatALoopNeeds) {
  TraceBuilder many, busy, far, scalars, few, read;
  for (int i = 0; i < 120; ++i) {
    Piece(many, i * 10'000, 1024, 3);
    Piece(busy, i * 10'000, 1024, 1, 3000);
    Piece(far, i * 2'000'000, 1024, 1);
    Piece(scalars, i * 10'000, 8, 1);
    Piece(few, i < 99 ? i * 10'000 : 1'000'000'000 + i * 2'000'000, 1024, 1);
    Piece(read, i * 10'000, 1024, 1);
    read.Copy(i * 10'000 + 3000, i * 10'000 + 3500, 64, CopyDirection::kDeviceToHost, MemoryKind::kDevice,
              MemoryKind::kPinned, 0);
  }
  for (const TraceBuilder* b : {&many, &busy, &far, &scalars, &few, &read}) EXPECT_TRUE(RunsOf(*b).empty());
}

}  // namespace
}  // namespace dladvisor
