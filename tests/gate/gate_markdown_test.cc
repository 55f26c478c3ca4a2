// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gate/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(GateMarkdown, StartsWithTheVerdictInOneLine) {
  EXPECT_THAT(RenderGateMarkdown(RegressedGate()),
              StartsWith("**❌ Gate failed:** Step time regressed by 23.1 %"));
  EXPECT_THAT(RenderGateMarkdown(PassedGate()), StartsWith("**✅ Gate passed:** "));
  EXPECT_THAT(RenderGateMarkdown(ImprovedGate()), StartsWith("**🟢 Gate passed, improved:** "));
  EXPECT_THAT(RenderGateMarkdown(InconclusiveGate()), StartsWith("**⚠️ Gate passed, inconclusive:** "));
  EXPECT_THAT(RenderGateMarkdown(NotComparableGate()), StartsWith("**⛔ Not comparable:** "));
}

TEST(GateMarkdown, HasTablesAndFoldsDetails) {
  const std::string text = RenderGateMarkdown(RegressedGate());
  EXPECT_THAT(
      text, HasSubstr("| Step time | 164 ms | 202 ms | +23.1 % | +21.0 to +25.2 % | +4.1 % | ❌ regressed |"));
  EXPECT_THAT(text, HasSubstr("| ⚠️ over its budget (warning) |"));
  EXPECT_THAT(text, HasSubstr("| ⚠️ warning | mixed-precision-off |"));
  EXPECT_THAT(text, HasSubstr("| idle/input | 3.10 ms | 41.3 ms | +38.2 ms |"));
  EXPECT_THAT(text, HasSubstr("<details open><summary>New findings (1)</summary>"));
  EXPECT_THAT(text, HasSubstr("<details open><summary>Findings on both sides (1)</summary>"));
}

TEST(GateMarkdown, WhatPassesIsNoWarning) {
  GateResult result = PassedGate();
  for (MetricVerdict& metric : result.metrics) metric.level = Level::kWarn;  // as in reporting mode
  EXPECT_THAT(RenderGateMarkdown(result), testing::Not(HasSubstr("(warning)")));
}

TEST(GateMarkdown, FitsIntoACommentAndSaysWhatIsLeftOut) {
  const std::string text = RenderGateMarkdown(HugeGate());
  EXPECT_LE(text.size(), kMaxCommentSize);
  EXPECT_THAT(text, HasSubstr("more."));
  EXPECT_THAT(text, HasSubstr("New findings (3001)"));
}

TEST(GateMarkdown, EscapesWhatProfilesHold) {
  const std::string text = RenderGateMarkdown(HostileGate());
  for (const char* raw : {"<img", "[x](http", "@user", "://evil", "</script"})
    EXPECT_EQ(text.find(raw), std::string::npos) << raw;
}

}  // namespace
}  // namespace dladvisor::test
