// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/junit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/gate/render/xml.h"
#include "tests/gate/fixture.h"
#include "tests/support/files.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The element of a test case of this name.
std::string CaseOf(const std::string& xml, const std::string& name) {
  const size_t at = xml.find("name=\"" + name + "\"");
  return at == std::string::npos ? "" : xml.substr(at, xml.find("</testcase>", at) - at);
}

TEST(JUnit, KeepsToTheSchema) {
  if (test::Run("command -v xmllint").status != 0) GTEST_SKIP() << "xmllint is not installed";
  const ScratchDir scratch;
  GateResult empty;
  empty.metrics.emplace_back().level = Level::kError;
  empty.metrics[0].title = "x";
  for (const GateResult& result : {RegressedGate(), PassedGate(), ImprovedGate(), InconclusiveGate(),
                                   NotComparableGate(), HostileGate(), HugeGate(), empty}) {
    WriteFile(scratch.path() / "gate.xml", RenderGateJUnit(result));
    const RunResult run = test::Run(fmt::format("xmllint --noout --schema '{}' '{}'",
                                                (SourceDir() / "tests/gate/schemas/junit.xsd").string(),
                                                (scratch.path() / "gate.xml").string()));
    EXPECT_EQ(run.status, 0) << run.err.substr(0, 2000);
  }
}

TEST(JUnit, FailsWhatRegressedAtLevelError) {
  const std::string xml = RenderGateJUnit(RegressedGate());
  const std::string step = CaseOf(xml, "Step time [step.time]");
  EXPECT_THAT(step, HasSubstr("time=\"0.202100\""));
  EXPECT_THAT(step, HasSubstr("<failure type=\"regressed\" message=\"The step takes 37.9 ms longer"));
  // GitLab shows the body alone.
  EXPECT_THAT(step, HasSubstr(">regressed: The step takes 37.9 ms longer"));
  EXPECT_THAT(step, HasSubstr("idle/input: 3.10 ms -&gt; 41.3 ms, +38.2 ms"));
  EXPECT_THAT(CaseOf(xml, "data-loading"), HasSubstr("<failure type=\"error\""));
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"dladvisor gate\" tests=\"10\" failures=\"2\" errors=\"0\""));
}

TEST(JUnit, OnlyTellsWhatWarns) {
  const std::string xml = RenderGateJUnit(RegressedGate());
  EXPECT_THAT(CaseOf(xml, "Peak memory [memory.peak]"),
              HasSubstr("<system-out>over its budget: Peak memory is over"));
  EXPECT_THAT(CaseOf(xml, "mixed-precision-off"), HasSubstr("<system-out>still: 61 ops"));
  EXPECT_THAT(CaseOf(xml, "pageable-copies"), HasSubstr("<system-out>gone (rank 0, device 0): 312 copies"));
  EXPECT_THAT(CaseOf(xml, "GPU utilisation [gpu.utilization]"), HasSubstr("<skipped type=\"inconclusive\""));
  EXPECT_THAT(CaseOf(xml, "Loss at step 100 [training.loss]"), HasSubstr("<skipped type=\"not comparable\""));
}

TEST(JUnit, SkipsTheInconclusiveUnlessItFailsTheGate) {
  GateResult result = InconclusiveGate();
  EXPECT_THAT(CaseOf(RenderGateJUnit(result), "Step time [step.time]"), HasSubstr("<skipped"));
  result.exit_status = 1;
  EXPECT_THAT(CaseOf(RenderGateJUnit(result), "Step time [step.time]"), HasSubstr("<failure"));
}

TEST(JUnit, IsAnErrorWhereTheSidesCannotBeCompared) {
  const std::string xml = RenderGateJUnit(NotComparableGate());
  EXPECT_THAT(xml, HasSubstr("errors=\"1\""));
  EXPECT_THAT(CaseOf(xml, "Baseline and candidate can be compared"),
              HasSubstr("<error type=\"not comparable\" message=\"The runs are of different GPUs"));
}

TEST(JUnit, LeavesOutWhatIsOff) {
  GateResult result = RegressedGate();
  result.metrics[0].level = Level::kOff;
  result.rules[0].level = Level::kOff;
  const std::string xml = RenderGateJUnit(result);
  EXPECT_THAT(xml, Not(HasSubstr("step.time]\" time=\"0.2")));
  EXPECT_THAT(xml, Not(HasSubstr("data-loading")));
}

TEST(Xml, EscapesMarkupAndCharactersThatItForbids) {
  EXPECT_EQ(EscapeXml("<a b=\"'&\">\x01\xEF\xBF\xBF"), "&lt;a b=&quot;&#39;&amp;&quot;&gt;␁\uFFFD");
}

}  // namespace
}  // namespace dladvisor::test
