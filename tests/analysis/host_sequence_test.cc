// SPDX-License-Identifier: Apache-2.0
// Sequences that grow in programs without a GPU, by the rows of linear layers.
#include <gtest/gtest.h>

#include <string>

#include "engine/store/database.h"
#include "tests/analysis/operators_builder.h"

namespace dladvisor {
namespace {

using SequenceRows = std::vector<std::vector<Value>>;

SequenceRows SequencesOf(const test::OperatorsBuilder& b) {
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  return database.Query("SELECT added, first_rows, last_rows, steps, growing, weights FROM host_sequence")
      .rows;
}

// Two layers of two linear operators each, and one for the last position alone.
template <class Rows>
test::OperatorsBuilder Generate(int steps, const Rows& rows) {
  test::OperatorsBuilder b;
  b.trace.devices.clear();
  Ns now = 0;
  const auto linear = [&](int m, int n, int k) {
    b.Operator(now, now + 10, "aten::linear",
               "[[1, " + std::to_string(m) + ", " + std::to_string(k) + "], [" + std::to_string(n) + ", " +
                   std::to_string(k) + "], []]");
    now += 20;
  };
  for (int step = 0; step < steps; ++step) {
    for (int layer = 0; layer < 2; ++layer) {
      linear(rows(step), 6144, 2048);
      linear(rows(step), 2048, 6144);
    }
    linear(1, 4096, 2048);
  }
  return b;
}

TEST(HostSequence, GrowsByAPositionAStepWithoutACache) {
  EXPECT_EQ(SequencesOf(Generate(12, [](int step) { return 1024 + step; })),
            (SequenceRows{{int64_t{1}, int64_t{1024}, int64_t{1035}, int64_t{12}, int64_t{2}, int64_t{3}}}));
}

TEST(HostSequence, WithACacheNothingGrows) {
  EXPECT_TRUE(SequencesOf(Generate(12, [](int step) { return step == 0 ? 1024 : 1; })).empty());
}

// Sizes come from profiles, which may hold anything: their product need not fit.
TEST(HostSequence, RowsThatNoNumberHoldsAreNone) {
  test::OperatorsBuilder b;
  b.trace.devices.clear();
  for (int step = 0; step < 12; ++step)
    b.Operator(20 * step, 20 * step + 10, "aten::linear",
               "[[999999999999999999, 99999" + std::to_string(1000 + step) + ", 16], [32, 16], []]");
  EXPECT_TRUE(SequencesOf(b).empty());
}

TEST(HostSequence, ProgramsOnAGpuAreToldByTheirProducts) {
  test::OperatorsBuilder gpu;
  for (int step = 0; step < 12; ++step)
    gpu.Call("aten::linear", "[[1, " + std::to_string(1024 + step) + ", 2048], [6144, 2048], []]", "", 10);
  EXPECT_TRUE(SequencesOf(gpu).empty());
}

}  // namespace
}  // namespace dladvisor
