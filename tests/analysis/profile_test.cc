// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/profile.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Profile, TellsOperatorsWithGradientsOnFromTheirBackwardPass) {
  TraceBuilder b;
  for (const Ns start : {0, 100, 200, 300}) test::AddRange(b, start, start + 50, "aten::linear");
  b.Launch(20, 200, 250, test::kGemm);
  EXPECT_FALSE(ComputeProfile(test::ContextOf(b.trace)).gradient_calls.has_value());
  for (const int64_t number : {0, -1, 7, 7}) b.trace.ranges.sequence.push_back(number);
  for (const int64_t thread : {0, 0, 0, 1}) b.trace.ranges.forward_thread.push_back(thread);
  const ProfileRow row = ComputeProfile(test::ContextOf(b.trace));
  EXPECT_EQ(row.gradient_calls, 2);
  EXPECT_EQ(row.backward_calls, 1);
}

}  // namespace
}  // namespace dladvisor
