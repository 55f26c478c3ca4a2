#include "src/analysis/collective.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Collective, ExposedIsWithoutComputation) {
  TraceBuilder b;
  b.Kernel(0, 100, "gemm", 0);
  for (const Ns start : {50, 200, 400}) {
    b.Kernel(start, start + 100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 0);
    b.trace.kernels.stream.Set(b.trace.kernels.size() - 1, 20);
  }
  b.Kernel(600, 1000, "ncclDevKernel_Broadcast_RING_LL(args)", 0);
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeCollectives(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].collective, "AllReduce");
  EXPECT_EQ(rows[0].calls, 3);
  EXPECT_EQ(rows[0].window_ns, 300);
  EXPECT_EQ(rows[0].exposed_ns, 250);
  EXPECT_EQ(rows[0].compute_stream_ns, 0);
  EXPECT_EQ(rows[0].median_ns, 100);
  EXPECT_EQ(rows[1].collective, "Broadcast");
  EXPECT_EQ(rows[1].compute_stream_ns, 400);
  EXPECT_EQ(rows[1].max_ns, 400);
}

}  // namespace
}  // namespace dladvisor
