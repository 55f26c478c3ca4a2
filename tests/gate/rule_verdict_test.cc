// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/rule_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/model/message.h"
#include "src/fleet/load_profiles.h"
#include "src/gate/render/sarif.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;
using testing::SizeIs;

Finding Fired(const std::string& rule, int64_t device, Severity severity = Severity::kWarning) {
  Finding finding;
  finding.rule = rule;
  finding.title = rule;
  finding.severity = severity;
  finding.outcome = Outcome::kFired;
  finding.subject = {{"device", device, Unit::kNone}};
  finding.problem = RenderMessage("{{GPU device}} waits.", finding.subject);
  finding.saves = SavingClaim{"idle/input", 10.0 * static_cast<double>(device), 20, 20};
  return finding;
}

GateRun RunWith(std::vector<Finding> findings) {
  GateRun run;
  run.findings = std::move(findings);
  return run;
}

std::vector<RuleVerdict> JudgeFindings(std::vector<GateRun> baseline, std::vector<GateRun> candidate,
                                       const GatePolicy& policy = {},
                                       const std::set<std::string>& longer = {"idle/input"}) {
  return JudgeRules(baseline, candidate, EmptyKnowledge(), policy, longer);
}

TEST(RuleVerdict, TellsNewStillAndGoneFindings) {
  const auto verdicts = JudgeFindings({RunWith({Fired("still", 0), Fired("gone", 0)})},
                                      {RunWith({Fired("still", 0), Fired("new", 0)})});
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].rule, "new");
  EXPECT_EQ(verdicts[0].change, RuleVerdict::Change::kNew);
  EXPECT_EQ(verdicts[1].change, RuleVerdict::Change::kStill);
  EXPECT_EQ(verdicts[2].change, RuleVerdict::Change::kGone);
  for (const RuleVerdict& verdict : verdicts) EXPECT_EQ(verdict.verdict, Verdict::kPass);
}

TEST(RuleVerdict, AnErrorFailsAlsoWhereItIsNotNew) {
  const auto verdicts = JudgeFindings({RunWith({Fired("rule", 0, Severity::kError)})},
                                      {RunWith({Fired("rule", 0, Severity::kError)})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(verdicts[0].level, Level::kError);
}

TEST(RuleVerdict, NewFindingsFailWhereTheProjectSaysSo) {
  GatePolicy policy;
  policy.new_findings = Level::kError;
  const auto verdicts = JudgeFindings({RunWith({})}, {RunWith({Fired("new", 0)})}, policy);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
}

TEST(RuleVerdict, ANewFindingFailsWhereItIsSure) {
  GatePolicy policy;
  policy.new_findings = Level::kError;
  const auto judged = [&](size_t before, size_t after, const std::set<std::string>& longer, size_t jobs = 0) {
    const auto runs = [&](size_t count, bool fires, size_t first_job) {
      std::vector<GateRun> side(count,
                                RunWith(fires ? std::vector{Fired("new", 0)} : std::vector<Finding>()));
      for (size_t i = 0; i < count && jobs > 0; ++i) side[i].job = first_job + i % jobs;
      return side;
    };
    return JudgeFindings(runs(before, false, 0), runs(after, true, jobs == 1 ? 0 : jobs), policy, longer)
        .at(0);
  };
  // By its number of runs: one that fires in half of all would do so in 1 of 64 gates of three, 1 of 256 of
  // four.
  EXPECT_EQ(judged(3, 3, {}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged(3, 3, {}).level, Level::kWarn);
  EXPECT_EQ(judged(4, 4, {}).verdict, Verdict::kRegressed);
  // Runs of two jobs a side are two draws of what jobs have in common, unless both sides have the same job.
  EXPECT_EQ(judged(4, 4, {}, 2).verdict, Verdict::kInconclusive);
  EXPECT_THAT(judged(4, 4, {}, 2).doubt,
              HasSubstr("fires in 4 of 4 runs of the candidate and in 0 of 4 runs of the baseline"));
  EXPECT_EQ(judged(4, 4, {}, 1).verdict, Verdict::kRegressed);
  // By the time that it claims.
  EXPECT_EQ(judged(1, 1, {"idle/launch"}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(judged(1, 1, {"idle/input"}).verdict, Verdict::kRegressed);
  EXPECT_EQ(judged(1, 1, {"idle/input/first"}).verdict, Verdict::kRegressed);
  policy.fail_on_inconclusive = true;
  EXPECT_EQ(judged(1, 1, {}).verdict, Verdict::kRegressed);
}

TEST(RuleVerdict, AFindingOfARunOfTheBaselineIsNotSurelyNew) {
  GatePolicy policy;
  policy.new_findings = Level::kError;
  const GateRun with = RunWith({Fired("new", 0)}), without = RunWith({});
  const std::vector<GateRun> all(5, with), none(5, without);
  std::vector<GateRun> one = none, most = all;
  one[4] = with;
  most[4] = without;
  EXPECT_EQ(JudgeFindings(none, all, policy, {}).at(0).verdict, Verdict::kRegressed);
  EXPECT_EQ(JudgeFindings(one, all, policy, {}).at(0).verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgeFindings(none, most, policy, {}).at(0).verdict, Verdict::kInconclusive);
}

// What a project calls an error fails by one run.
TEST(RuleVerdict, ANewErrorNeedsNoFurtherEvidence) {
  GatePolicy policy;
  policy.fails_on_new_errors_alone = true;
  const auto verdicts =
      JudgeFindings({RunWith({})}, {RunWith({Fired("rule", 0, Severity::kError)})}, policy, {});
  EXPECT_EQ(verdicts.at(0).verdict, Verdict::kRegressed);
  EXPECT_EQ(verdicts.at(0).level, Level::kError);
}

// Where errors fail that are new alone, one that a run of the baseline had is not, nor one that it could not
// see.
TEST(RuleVerdict, AnErrorThatIsNotKnownToBeNewWarns) {
  GatePolicy policy;
  policy.fails_on_new_errors_alone = true;
  const GateRun with = RunWith({Fired("rule", 0, Severity::kError)}), without = RunWith({});
  const auto flapping = JudgeFindings({with, without, without}, {with, with, without}, policy, {});
  EXPECT_EQ(flapping.at(0).level, Level::kWarn);
  EXPECT_THAT(flapping.at(0).doubt, testing::HasSubstr("in 2 of 3 runs of the candidate and in 1 of 3 runs"));
  GateRun blind = RunWith({});
  blind.undecided[{"rule", ""}] = "it reads kernel";
  EXPECT_EQ(JudgeFindings({blind}, {with}, policy, {}).at(0).level, Level::kWarn);
  policy.fails_on_new_errors_alone = false;
  EXPECT_EQ(JudgeFindings({blind}, {with}, policy, {}).at(0).level, Level::kError);
}

TEST(RuleVerdict, AFindingOfOneRunOfThreeIsNone) {
  const GateRun with = RunWith({Fired("odd", 0)}), without = RunWith({});
  EXPECT_TRUE(JudgeFindings({without}, {with, without, without}).empty());
  EXPECT_EQ(JudgeFindings({without}, {with, with, without}).size(), 1u);
}

TEST(RuleVerdict, OneFindingOfSeveralGpusIsOne) {
  const auto verdicts =
      JudgeFindings({RunWith({})}, {RunWith({Fired("new", 0), Fired("new", 1), Fired("new", 2)})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_THAT(verdicts[0].problem, HasSubstr("0–2"));
}

Finding CausedByAnother(Finding finding) {
  finding.caused_by = 0;
  return finding;
}

GatePolicy FailOnNewFindings() {
  GatePolicy policy;
  policy.new_findings = Level::kError;
  return policy;
}

TEST(RuleVerdict, AFindingThatFailsIsNotHiddenByOneThatDoesNot) {
  const auto verdicts = JudgeFindings(
      {RunWith({})}, {RunWith({CausedByAnother(Fired("new", 0)), Fired("new", 1), Fired("new", 2)})},
      FailOnNewFindings());
  ASSERT_THAT(verdicts, SizeIs(2));
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(verdicts[0].level, Level::kError);
  EXPECT_THAT(verdicts[0].problem, HasSubstr("1–2"));
  EXPECT_EQ(verdicts[1].verdict, Verdict::kPass);
}

TEST(RuleVerdict, AFindingIsCausedByAnotherWhereItIsSoInMostRuns) {
  const GateRun root = RunWith({Fired("new", 0)}), caused = RunWith({CausedByAnother(Fired("new", 0))});
  const auto verdict = [&](std::vector<GateRun> candidate) {
    const auto verdicts = JudgeFindings({RunWith({})}, std::move(candidate), FailOnNewFindings());
    EXPECT_THAT(verdicts, SizeIs(1));
    return verdicts.at(0).verdict;
  };
  EXPECT_EQ(verdict({caused, root, root}), Verdict::kRegressed);
  EXPECT_EQ(verdict({root, caused, caused}), Verdict::kPass);
}

Finding WithKernel(Finding finding, const std::string& kernel) {
  finding.subject.push_back({"kernel", kernel, Unit::kText});
  return finding;
}

TEST(RuleVerdict, FindingsOfDifferentKernelsAreNotOne) {
  // Their text differs in a number only.
  Finding narrow = WithKernel(Fired("new", 0), "gemm<64>"), wide = WithKernel(Fired("new", 0), "gemm<128>");
  narrow.problem = "gemm<64> takes long.";
  wide.problem = "gemm<128> takes long.";
  EXPECT_THAT(JudgeFindings({RunWith({})}, {RunWith({narrow, wide})}), SizeIs(2));
}

TEST(RuleVerdict, AnErrorHasEverySubjectOnWhichItFires) {
  const auto error = [](const std::string& kernel) {
    Finding finding = WithKernel(Fired("rule", 0, Severity::kError), kernel);
    finding.problem = kernel + " takes long.";
    return finding;
  };
  const auto verdicts = JudgeFindings({RunWith({})}, {RunWith({error("gemm"), error("softmax")})});
  ASSERT_THAT(verdicts, SizeIs(2));
  for (const RuleVerdict& verdict : verdicts) EXPECT_EQ(verdict.verdict, Verdict::kRegressed);
  EXPECT_THAT(verdicts[0].problem.text + verdicts[1].problem.text, HasSubstr("softmax"));
}

// The fingerprints of the results of a gate whose candidate has these findings.
std::vector<std::string> Fingerprints(std::vector<Finding> findings) {
  GateResult result;
  result.rules = JudgeFindings({RunWith({})}, {RunWith(std::move(findings))});
  std::vector<std::string> fingerprints;
  const auto sarif = nlohmann::json::parse(RenderGateSarif(result));
  for (const auto& found : sarif["runs"][0]["results"])
    fingerprints.push_back(found["partialFingerprints"].dump());
  return fingerprints;
}

TEST(RuleVerdict, AResultOfSarifIsTheSameOnWhicheverGpuItIsFound) {
  const auto on_first =
      Fingerprints({WithKernel(Fired("new", 0), "gemm"), WithKernel(Fired("new", 1), "gemm")});
  ASSERT_THAT(on_first, SizeIs(1));
  EXPECT_EQ(Fingerprints({WithKernel(Fired("new", 1), "gemm")}), on_first);
  EXPECT_NE(Fingerprints({WithKernel(Fired("new", 1), "softmax")}), on_first);
  EXPECT_EQ(Fingerprints({WithKernel(Fired("new", 0, Severity::kError), "gemm")}), on_first);
  // Words of its own do not make another result.
  Finding other = WithKernel(Fired("new", 1), "gemm");
  other.problem = "GPU 1 waits for data.";
  EXPECT_EQ(Fingerprints({WithKernel(Fired("new", 0), "gemm"), other}), on_first);
}

TEST(RuleVerdict, WhatTheBaselineCouldNotSeeIsNotNew) {
  GateRun blind = RunWith({});
  blind.undecided[{"new", ""}] = "it reads kernel";
  EXPECT_EQ(JudgeFindings({blind}, {RunWith({Fired("new", 0)})})[0].change, RuleVerdict::Change::kVisible);
  GateRun one = RunWith({});
  one.undecided[{"new", R"({"device":1})"}] = "";
  EXPECT_EQ(JudgeFindings({one}, {RunWith({Fired("new", 1)})})[0].change, RuleVerdict::Change::kVisible);
  EXPECT_EQ(JudgeFindings({one}, {RunWith({Fired("new", 0)})})[0].change, RuleVerdict::Change::kNew);
}

TEST(RuleVerdict, TakesTheSourceLineFromTheEvidence) {
  Finding finding = Fired("new", 0);
  finding.evidence.rows = {{Value(std::string("torch/nn.py"))},
                           {Value(std::string("src/train.py(45): load"))}};
  const auto verdicts = JudgeFindings({RunWith({})}, {RunWith({finding})});
  EXPECT_EQ(verdicts[0].source_file, "src/train.py");
  EXPECT_EQ(verdicts[0].source_line, 45);
  EXPECT_EQ(SourceLineIn("model.cu:12").second, 12);
  EXPECT_EQ(SourceLineIn("File \"a/b.py\", line 7").second, 0);  // no form that profilers write
}

TEST(RuleVerdict, AnErrorFailsOnWhateverItFires) {
  const GateRun on_first = RunWith({Fired("rule", 0, Severity::kError)});
  const GateRun on_second = RunWith({Fired("rule", 1, Severity::kError)});
  const auto verdicts = JudgeFindings({RunWith({})}, {on_first, on_second, RunWith({})});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(JudgeFindings({RunWith({})}, {on_first, RunWith({})}).size(), 1u);
  EXPECT_TRUE(JudgeFindings({RunWith({})}, {on_first, RunWith({}), RunWith({})}).empty());
}

TEST(RuleVerdict, AFindingThatMovesToAnotherGpuIsNeitherNewNorGone) {
  const auto verdicts = JudgeFindings({RunWith({Fired("slow", 0)})}, {RunWith({Fired("slow", 3)})});
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].change, RuleVerdict::Change::kStill);
}

// An error of which two runs do not tell.
TEST(RuleVerdict, AnErrorThatIsNotEvaluatedIsNotPassed) {
  KnowledgeBase knowledge = EmptyKnowledge();
  const RuleFile file = {"team/checked.yaml",
                         "id: checked\ntitle: Something is checked\nseverity: error\nfor: gpu\n"
                         "when: [gpu_utilization < 0.5]\nproblem: It is idle.\nrecommendation: [Do more.]\n"};
  knowledge.AddLayer({&file, 1});
  GateRun unknown = RunWith({});
  unknown.undecided[{"checked", R"({"device":0})"}] = "the profile does not have gpu.gpu_utilization";
  unknown.undecided[{"checked", R"({"device":1})"}] = "the profile does not have gpu.gpu_utilization";
  const std::vector<GateRun> baseline = {RunWith({})}, candidate = {unknown, RunWith({})};
  GatePolicy policy;
  const auto warned = JudgeRules(baseline, candidate, knowledge, policy);
  ASSERT_THAT(warned, SizeIs(1));
  EXPECT_EQ(warned[0].change, RuleVerdict::Change::kNotEvaluated);
  EXPECT_EQ(warned[0].level, Level::kWarn);
  EXPECT_EQ(warned[0].verdict, Verdict::kInconclusive);
  EXPECT_THAT(warned[0].subjects, SizeIs(2));
  EXPECT_THAT(warned[0].problem, HasSubstr("does not have gpu.gpu_utilization"));
  policy.fail_on_unknown = true;
  EXPECT_EQ(JudgeRules(baseline, candidate, knowledge, policy)[0].verdict, Verdict::kRegressed);
  // Where it fires in a run all the same, it is judged.
  unknown.findings = {Fired("checked", 1, Severity::kError)};
  const auto fired = JudgeRules(baseline, std::vector{unknown}, knowledge, policy);
  ASSERT_THAT(fired, SizeIs(1));
  EXPECT_EQ(fired[0].change, RuleVerdict::Change::kNew);
}

}  // namespace
}  // namespace dladvisor
