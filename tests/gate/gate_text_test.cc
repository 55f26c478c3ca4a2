// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "src/render/escape.h"
#include "tests/gate/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(GateText, StartsWithTheVerdict) {
  EXPECT_THAT(RenderGateText(RegressedGate(), {}), StartsWith("Gate failed: Step time regressed"));
  EXPECT_THAT(RenderGateText(PassedGate(), {}), StartsWith("Gate passed: Step time is the same"));
  EXPECT_THAT(RenderGateText(ImprovedGate(), {}), StartsWith("Gate passed, improved: "));
  EXPECT_THAT(RenderGateText(InconclusiveGate(), {}), StartsWith("Gate passed, inconclusive: "));
  EXPECT_THAT(RenderGateText(NotComparableGate(), {}), StartsWith("Not comparable: "));
}

TEST(GateText, IsShortWhereTheGatePassed) {
  EXPECT_LE(Lines(RenderGateText(PassedGate(), {})).size(), 10U);
  EXPECT_LE(Lines(RenderGateText(ImprovedGate(), {})).size(), 10U);
}

TEST(GateText, FitsTheTerminal) {
  for (const GateResult& result : {RegressedGate(), InconclusiveGate(), NotComparableGate(), HostileGate()})
    for (const std::string& line : Lines(RenderGateText(result, {}))) EXPECT_LE(Columns(line), 100U) << line;
}

TEST(GateText, ShowsValuesChangeIntervalAndTheLeastChange) {
  const std::string text = RenderGateText(RegressedGate(), {});
  for (const char* part : {"164 ms", "202 ms", "+23.1 %", "+21.0 to +25.2 %", "+4.1 %", "regressed"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(GateText, ShowsWhatExplainsIt) {
  const std::string text = RenderGateText(RegressedGate(), {});
  for (const char* part :
       {"idle/input", "+38.2 ms", "train_step/forward/attention", "New Findings (1)", "Gone Findings (1)",
        "NVIDIA driver: 535.104.05 → 550.54.14", "→ See rule data-loading"})
    EXPECT_THAT(text, HasSubstr(part));
}

// As annotations do.
TEST(GateText, ShowsWhatWarnsOnBothSides) {
  const std::string failed = RenderGateText(RegressedGate(), {});
  EXPECT_THAT(failed, HasSubstr("Findings of Both Sides that Warn (1)"));
  EXPECT_THAT(failed, HasSubstr("warns, warning  [mixed-precision-off]"));
  EXPECT_THAT(failed, Not(HasSubstr("on both sides")));
  GateResult passed = PassedGate();
  EXPECT_THAT(RenderGateText(passed, {}), Not(HasSubstr("[mixed-precision-off]")));
  passed.rules[0].level = Level::kWarn;
  EXPECT_THAT(RenderGateText(passed, {}), HasSubstr("warns, warning  [mixed-precision-off]"));
}

TEST(GateText, SaysThatABudgetIsMissed) {
  EXPECT_THAT(RenderGateText(RegressedGate(), {}), HasSubstr("over its budget"));
}

TEST(GateText, HasColourOnlyWhereAsked) {
  EXPECT_THAT(RenderGateText(RegressedGate(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderGateText(RegressedGate(), {.color = true}), HasSubstr("\x1b[1;31m"));
}

TEST(GateText, NamesWhatPreventsTheComparison) {
  const std::string text = RenderGateText(NotComparableGate(), {});
  EXPECT_THAT(text, HasSubstr("Model of the GPUs: NVIDIA RTX A6000 → NVIDIA H100 80GB HBM3  [gpu.model]"));
  EXPECT_THAT(text, HasSubstr("→ Take a baseline on this machine"));
}

TEST(GateText, NoNameBecomesAWorkflowCommand) {
  GateResult result = RegressedGate();
  result.notes = {"::error::pwned", "##[error]pwned"};
  std::istringstream lines(RenderGateText(result, {}));
  for (std::string line; std::getline(lines, line);) {
    const size_t start = std::min(line.find_first_not_of(' '), line.size());
    EXPECT_NE(line.compare(start, 2, "::"), 0) << line;
    EXPECT_NE(line.compare(start, 2, "##"), 0) << line;
  }
}

}  // namespace
}  // namespace dladvisor::test
