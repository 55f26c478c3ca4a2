// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/setting.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Setting, OnlyWhatIsKnownToMatter) {
  TraceBuilder b;
  b.trace.environment = {{"CUDA_LAUNCH_BLOCKING", "1"}, {"WANDB_API_KEY", "secret"}, {"NCCL_DEBUG", "INFO"}};
  const auto rows = ComputeSettings(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(rows[0].value, "1");
  EXPECT_EQ(rows[1].name, "NCCL_DEBUG");
}

}  // namespace
}  // namespace dladvisor
