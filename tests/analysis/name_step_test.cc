// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, calls and ranges by name and step.
#include <gtest/gtest.h>

#include "engine/store/database.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

using Rows = std::vector<std::vector<Value>>;

TEST(NameStep, CountsWhatBeginsInEachStep) {
  test::TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    const Ns t = 1000 * step;
    b.Range(t, t + 900, "ProfilerStep#" + std::to_string(step));
    for (int k = 0; k < 4; ++k)
      b.Launch(t + 100 * k + 10, t + 100 * k + 20, t + 100 * k + 30 + 10 * k, "gemm");
    b.Launch(t + 500, t + 510, t + 511, "relu");
  }
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  EXPECT_EQ(
      database
          .Query("SELECT name, step, calls, total_ns, median_ns, p90_ns, max_ns FROM name_step WHERE kind = "
                 "'kernel' AND step = 2")
          .rows,
      (Rows{{"gemm", int64_t{2}, int64_t{4}, int64_t{100}, 25.0, 37.0, int64_t{40}},
            {"relu", int64_t{2}, int64_t{1}, int64_t{1}, 1.0, 1.0, int64_t{1}}}));
  EXPECT_EQ(database.Query("SELECT name, calls FROM name_step WHERE kind = 'call' AND step = 1").rows,
            (Rows{{"cudaLaunchKernel", int64_t{5}}}));
  EXPECT_EQ(database.Query("SELECT DISTINCT name FROM name_step WHERE kind = 'range'").rows,
            (Rows{{"ProfilerStep#"}}));
}

TEST(NameStep, KeepsTheNamesWithTheMostTime) {
  test::TraceBuilder b;
  for (int step = 0; step < 3; ++step) {
    const Ns t = 100'000 * step;
    b.Range(t, t + 90'000, "ProfilerStep#" + std::to_string(step));
    for (int k = 0; k < 30; ++k)
      b.Launch(t + 1000 * k + 10, t + 1000 * k + 20, t + 1000 * k + 30 + k, "kernel" + std::to_string(k));
  }
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  EXPECT_EQ(
      database.Query("SELECT count(DISTINCT name), min(max_ns) FROM name_step WHERE kind = 'kernel'").rows,
      (Rows{{int64_t{20}, int64_t{20}}}));
}

}  // namespace
}  // namespace dladvisor
