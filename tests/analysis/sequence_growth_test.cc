// SPDX-License-Identifier: Apache-2.0
// Sequences that grow, by the grids of kernels.
#include <gtest/gtest.h>

#include "engine/store/database.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

using Rows = std::vector<std::vector<Value>>;

Rows GrowthOf(const test::TraceBuilder& b) {
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  return database.Query("SELECT steps, kernels, growing_kernels, first_positions FROM sequence_growth").rows;
}

// Steps of three element-wise kernels and a product. `grid(step, kernel)` gives the blocks of each.
template <class Grid>
test::TraceBuilder Decode(int steps, const Grid& grid) {
  test::TraceBuilder b;
  for (int step = 0; step < steps; ++step) {
    const Ns t = 10'000 * step;
    b.Range(t, t + 9000, "ProfilerStep#" + std::to_string(step));
    for (int k = 0; k < 3; ++k) {
      b.Launch(t + 100 * k + 10, t + 1000 * k + 20, t + 1000 * k + 30, "vectorized_elementwise_kernel");
      b.trace.kernels.grid.Set(b.trace.kernels.size() - 1, grid(step, k));
    }
    b.Launch(t + 500, t + 5000, t + 8000, "ampere_sgemm_128x64_tn");
    b.trace.kernels.grid.Set(b.trace.kernels.size() - 1, 512);
  }
  return b;
}

TEST(SequenceGrowth, CountsThePositionsOfTheFirstStep) {
  // 2048 elements a position, 512 of them or 1536 in a block: 4 blocks more a step, or 1 and 2 in turn.
  const auto b = Decode(10, [](int step, int k) {
    const int elements = 2048 * (1024 + step), in_block = k == 2 ? 1536 : 512;
    return (elements + in_block - 1) / in_block;
  });
  EXPECT_EQ(GrowthOf(b), (Rows{{int64_t{10}, int64_t{3}, int64_t{3}, int64_t{1024}}}));
}

TEST(SequenceGrowth, WhatGrowsOtherwiseDoesNotCount) {
  // With a cache the scores alone grow; the rest works on one position.
  const auto scores = Decode(10, [](int step, int k) { return k == 0 ? 4 * (1024 + step) : 16; });
  EXPECT_EQ(GrowthOf(scores), (Rows{{int64_t{10}, int64_t{3}, int64_t{1}, int64_t{1024}}}));
  const auto doubling = Decode(6, [](int step, int) { return 64 << step; });
  EXPECT_TRUE(GrowthOf(doubling).empty());
  const auto same = Decode(10, [](int, int) { return 4096; });
  EXPECT_TRUE(GrowthOf(same).empty());
}

}  // namespace
}  // namespace dladvisor
