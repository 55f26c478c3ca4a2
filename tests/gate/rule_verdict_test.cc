#include "src/gate/rule_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/fleet/profile.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

Finding Fired(const std::string& rule, int64_t device, Severity severity = Severity::kWarning) {
  Finding finding;
  finding.rule = rule;
  finding.title = rule;
  finding.severity = severity;
  finding.outcome = Outcome::kFired;
  finding.subject = {{"device", device, Unit::kNone}};
  finding.problem = "GPU " + std::to_string(device) + " waits.";
  finding.saves = SavingClaim{"idle/input", 10.0 * static_cast<double>(device), 20, 20};
  return finding;
}

GateRun RunWith(std::vector<Finding> findings) {
  GateRun run;
  run.findings = std::move(findings);
  return run;
}

std::vector<RuleVerdict> Judge(std::vector<GateRun> baseline, std::vector<GateRun> candidate,
                               const GatePolicy& policy = {}) {
  return JudgeRules(baseline, candidate, EmptyKnowledge(), policy);
}

TEST(RuleVerdict, TellsNewStillAndGoneFindings) {
  const auto verdicts = Judge({RunWith({Fired("still", 0), Fired("gone", 0)})},
                              {RunWith({Fired("still", 0), Fired("new", 0)})});
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].rule, "new");
  EXPECT_EQ(verdicts[0].change, RuleVerdict::Change::kNew);
  EXPECT_EQ(verdicts[1].change, RuleVerdict::Change::kStill);
  EXPECT_EQ(verdicts[2].change, RuleVerdict::Change::kGone);
  for (const RuleVerdict& verdict : verdicts) EXPECT_EQ(verdict.verdict, Verdict::kPass);
}

TEST(RuleVerdict, AnErrorFailsAlsoWhereItIsNotNew) {
  const auto verdicts =
      Judge({RunWith({Fired("rule", 0, Severity::kError)})}, {RunWith({Fired("rule", 0, Severity::kError)})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(verdicts[0].level, Level::kError);
}

TEST(RuleVerdict, NewFindingsFailWhereTheProjectSaysSo) {
  GatePolicy policy;
  policy.new_findings = Level::kError;
  const auto verdicts = Judge({RunWith({})}, {RunWith({Fired("new", 0)})}, policy);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
}

TEST(RuleVerdict, AFindingOfOneRunOfThreeIsNone) {
  const GateRun with = RunWith({Fired("odd", 0)}), without = RunWith({});
  EXPECT_TRUE(Judge({without}, {with, without, without}).empty());
  EXPECT_EQ(Judge({without}, {with, with, without}).size(), 1u);
}

TEST(RuleVerdict, OneFindingOfSeveralGpusIsOne) {
  const auto verdicts = Judge({RunWith({})}, {RunWith({Fired("new", 0), Fired("new", 1), Fired("new", 2)})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_THAT(verdicts[0].problem, HasSubstr("0–2"));
}

TEST(RuleVerdict, WhatTheBaselineCouldNotSeeIsNotNew) {
  GateRun blind = RunWith({});
  blind.blind.insert("new");
  EXPECT_EQ(Judge({blind}, {RunWith({Fired("new", 0)})})[0].change, RuleVerdict::Change::kStill);
}

TEST(RuleVerdict, TakesTheSourceLineFromTheEvidence) {
  Finding finding = Fired("new", 0);
  finding.evidence.rows = {{Value(std::string("torch/nn.py"))},
                           {Value(std::string("src/train.py(45): load"))}};
  const auto verdicts = Judge({RunWith({})}, {RunWith({finding})});
  EXPECT_EQ(verdicts[0].source_file, "src/train.py");
  EXPECT_EQ(verdicts[0].source_line, 45);
  EXPECT_EQ(SourceLineIn("model.cu:12").second, 12);
  EXPECT_EQ(SourceLineIn("File \"a/b.py\", line 7").second, 0);  // no form that profilers write
}

TEST(RuleVerdict, AnErrorFailsOnWhateverItFires) {
  const GateRun on_first = RunWith({Fired("rule", 0, Severity::kError)});
  const GateRun on_second = RunWith({Fired("rule", 1, Severity::kError)});
  const auto verdicts = Judge({RunWith({})}, {on_first, on_second, RunWith({})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(Judge({RunWith({})}, {on_first, RunWith({})}).size(), 1u);
  EXPECT_TRUE(Judge({RunWith({})}, {on_first, RunWith({}), RunWith({})}).empty());
}

}  // namespace
}  // namespace dladvisor
