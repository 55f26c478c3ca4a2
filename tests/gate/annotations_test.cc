// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/gate/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(GateAnnotations, AreErrorsAndWarnings) {
  EXPECT_THAT(
      Lines(RenderGateAnnotations(RegressedGate())),
      ElementsAre(StartsWith("::error title=Step time regressed (+23.1 %25)::The step takes"),
                  StartsWith("::error file=training/data.py,line=87,title=The GPU waits for input data"),
                  StartsWith("::warning title=Peak memory over its budget::"),
                  StartsWith("::warning title=GPU utilisation inconclusive"),
                  StartsWith("::warning title=Step time%3A trend regressed"),
                  StartsWith("::warning file=rules/tensor-cores/mixed-precision-off.yaml,line=1,title=Tensor "
                             "cores are not used")));
  EXPECT_THAT(RenderGateAnnotations(PassedGate()), IsEmpty());
  EXPECT_THAT(RenderGateAnnotations(NotComparableGate()), StartsWith("::error title=Not comparable::"));
}

TEST(GateAnnotations, StandAtThePolicyWhereNoFileOfTheProgramIsKnown) {
  GateResult result = RegressedGate();
  result.policy_file = "ci/dladvisor.yaml";
  for (RuleVerdict& rule : result.rules) rule.rule_file = "built-in/x.yaml";
  const std::vector<std::string> lines = Lines(RenderGateAnnotations(result));
  EXPECT_THAT(lines[0], StartsWith("::error file=ci/dladvisor.yaml,line=1,title=Step time regressed"));
  EXPECT_THAT(lines[1], StartsWith("::error file=training/data.py,line=87,"));
  EXPECT_THAT(lines[5], StartsWith("::warning file=ci/dladvisor.yaml,line=1,title=Tensor cores"));
}

TEST(GateAnnotations, NameTheCauseFirst) {
  EXPECT_THAT(Lines(RenderGateAnnotations(RegressedGate()))[0],
              HasSubstr("%0AStep time regressed by 23.1 %25"));
}

TEST(GateAnnotations, SayOfABudgetOnceThatItIsMissed) {
  GateResult result = RegressedGate();
  result.metrics[0].max = 150e6;
  result.metrics[0].why = "It is 202 ms, over the budget of 150 ms.";
  result.headline = "Step time: it is 202 ms, over the budget of 150 ms.";
  EXPECT_EQ(Lines(RenderGateAnnotations(result))[0],
            "::error title=Step time over its budget::It is 202 ms, over the budget of 150 ms.");
}

TEST(GateAnnotations, EscapeProperties) {
  GateResult result = RegressedGate();
  result.rules[0].title = "a,b:c%d";
  result.rules[0].source_file = "x,y.py";
  EXPECT_THAT(RenderGateAnnotations(result),
              HasSubstr("file=x%2Cy.py,line=87,title=a%2Cb%3Ac%25d [data-loading]::"));
}

TEST(GateAnnotations, AreOneLineEachWhateverNamesHold) {
  for (const std::string& line : Lines(RenderGateAnnotations(HostileGate())))
    EXPECT_TRUE(line.starts_with("::error ") || line.starts_with("::warning ")) << line;
}

TEST(GateAnnotations, AreTenOfAKind) {
  size_t errors = 0, warnings = 0;
  const std::vector<std::string> lines = Lines(RenderGateAnnotations(HugeGate()));
  for (const std::string& line : lines) ++(line.starts_with("::error ") ? errors : warnings);
  EXPECT_EQ(errors, 10U);
  EXPECT_EQ(warnings, 10U);
  EXPECT_THAT(lines[9], HasSubstr(" more::GitHub shows ten annotations"));
}

}  // namespace
}  // namespace dladvisor::test
