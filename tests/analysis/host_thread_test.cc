// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/host_thread.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(HostThread, CountsMovesBetweenCpus) {
  TraceBuilder b;
  const uint32_t other = b.AddThread(0, 77);
  b.Launch(0, 10, 20, "a");
  b.Launch(500, 510, 520, "b", other);
  b.Launch(900, 910, 1000, "c");
  b.Run(0, 100, 1);
  b.Run(200, 300, 2);
  b.Run(400, 500, 2);
  b.Run(600, 700, 1);
  const auto rows = ComputeHostThreads(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].thread, 42);
  EXPECT_EQ(rows[0].launches, 2);
  EXPECT_EQ(rows[0].cpus, 2);
  EXPECT_EQ(rows[0].migrations, 2);
  EXPECT_EQ(rows[0].running_ns, 400);
  EXPECT_DOUBLE_EQ(rows[0].running_share.value(), 400.0 / 700);
  EXPECT_FALSE(rows[1].cpus.has_value()) << "of this thread no switch was recorded";
}

}  // namespace
}  // namespace dladvisor
