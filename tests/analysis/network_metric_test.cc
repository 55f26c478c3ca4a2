// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/counters/network_metric.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(NetworkMetric, MeanAndMostByAdapter) {
  TraceBuilder b;
  const NameId adapter = b.trace.names.Intern("mlx5_0"), sent = b.trace.names.Intern("IB: Bytes sent");
  b.trace.network_metrics = {{1, 2}, {adapter, adapter}, {sent, sent}, {10, 30}};
  const auto rows = ComputeNetworkMetrics(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].adapter, "mlx5_0");
  EXPECT_EQ(rows[0].avg, 20);
  EXPECT_EQ(rows[0].max, 30);
}

}  // namespace
}  // namespace dladvisor
