// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/mpi_name.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(MpiName, SumsByFunction) {
  TraceBuilder b;
  b.Launch(0, 10, 1000, "k");
  b.Mpi(100, 200, "MPI_Allreduce");
  b.trace.mpi_calls.bytes.back() = 64;
  b.Mpi(300, 350, "MPI_Allreduce");
  b.Mpi(400, 401, "MPI_Wait");
  const auto rows = ComputeMpiNames(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "MPI_Allreduce");
  EXPECT_EQ(rows[0].rank, 0);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].window_ns, 150);
  EXPECT_EQ(rows[0].bytes, 64);
  EXPECT_FALSE(rows[1].bytes.has_value());
}

}  // namespace
}  // namespace dladvisor
