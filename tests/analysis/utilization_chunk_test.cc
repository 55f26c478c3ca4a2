// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/utilization_chunk.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(UtilizationChunk, AgreesWithCountingEveryNanosecond) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder b;
    std::vector<Interval> times;
    Ns at = 0;
    for (int i = 0; i < 40; ++i) {
      at += static_cast<Ns>(random() % 20);
      times.push_back({at, at + 1 + static_cast<Ns>(random() % 30)});
      b.Kernel(times.back().start, times.back().end, "k", 0);
    }
    b.Overhead(10, 25, "flush");
    const auto rows = ComputeUtilizationChunks(test::ContextOf(b.trace));
    ASSERT_EQ(rows.size(), 30u);
    EXPECT_EQ(rows.front().start_ns, times.front().start);
    for (const UtilizationChunkRow& row : rows) {
      double once = 0, summed = 0;
      for (Ns n = row.start_ns; n < row.end_ns; ++n) {
        int running = 0;
        for (const Interval& time : times) running += time.start <= n && n < time.end;
        once += running > 0;
        summed += running + (10 <= n && n < 25);
      }
      const auto length = static_cast<double>(row.end_ns - row.start_ns);
      EXPECT_NEAR(row.use_share, once / length, 1e-9);
      EXPECT_NEAR(row.summed_share, summed / length, 1e-9);
    }
  }
}

}  // namespace
}  // namespace dladvisor
