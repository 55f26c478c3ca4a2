// SPDX-License-Identifier: Apache-2.0
// Steps of inference servers by what they do, by the ranges of their engines.
#include "src/analysis/summary/serving_mode.h"

#include <gtest/gtest.h>

#include <string_view>

#include "src/analysis/context/serving_step.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(ServingMode, RangesOfEnginesAreRead) {
  struct Case {
    std::string_view range, mode;
    int64_t requests;
    std::optional<int64_t> tokens;
  };
  for (const Case& c : {Case{"step[EXTEND bs=15 toks=15360]", "prefill", 15, 15360},
                        {"step[DECODE bs=32]", "decode", 32, 32},
                        {"step[MIXED bs=3 toks=90]", "mixed", 3, 90},
                        {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
                         "decode", 32, 32},
                        {"execute_context_2(512)_generation_0(0)", "prefill", 2, std::nullopt},
                        {"execute_context_2(512)_generation_30(30)", "mixed", 32, std::nullopt}}) {
    const auto step = ParseServingStep(c.range);
    ASSERT_TRUE(step) << c.range;
    EXPECT_EQ(step->mode, c.mode) << c.range;
    EXPECT_EQ(step->requests, c.requests) << c.range;
    EXPECT_EQ(step->tokens, c.tokens) << c.range;
  }
  for (const std::string_view other : {"step[x]", "execute_model", "forward"})
    EXPECT_FALSE(ParseServingStep(other));
}

TEST(ServingMode, MeansByMode) {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    const Ns t = 1000 * i;
    b.Range(t, t + 900,
            i == 0   ? "step[EXTEND bs=1 toks=500]"
            : i == 1 ? "step[DECODE bs=8]"
                     : "step[DECODE bs=5]");
    b.Launch(t + 10, t + 20, t + 800, "gemm");
  }
  const auto rows = ComputeServingModes(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].mode, "decode");
  EXPECT_EQ(rows[0].steps, 3);
  EXPECT_DOUBLE_EQ(rows[0].requests, 6);
  EXPECT_DOUBLE_EQ(rows[0].tokens.value(), 6);
  EXPECT_EQ(rows[1].mode, "prefill");
  EXPECT_DOUBLE_EQ(rows[1].tokens.value(), 500);
}

}  // namespace
}  // namespace dladvisor
