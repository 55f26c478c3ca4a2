// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/fleet/load_profiles.h"
#include "src/gate/render/annotations.h"
#include "src/gate/render/junit.h"
#include "src/gate/render/sarif.h"
#include "src/gate/render/wording.h"
#include "tests/gate/facts.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

// A run of steps around `mean`, in ms, that vary by 1 %.
GateRun RunAt(double mean, int count = 20) {
  std::vector<int64_t> steps;
  for (int i = 0; i < count; ++i)
    steps.push_back(static_cast<int64_t>(mean * 1e6 * (1 + 0.01 * ((i * 7) % 5 - 2))));
  const test::Facts facts = test::RunOf(steps);
  Database database = facts.Build();
  return SummarizeRun("run", EmptyKnowledge(), database, {});
}

GateRun At(GateRun run, int64_t minute, const std::string& host = "node1") {
  run.start_utc_ns = minute * 60'000'000'000;
  run.host = host;
  return run;
}

GateRun WithFinding(GateRun run, Severity severity, double saves) {
  Finding finding;
  finding.rule = "data-loading";
  finding.title = "The GPU waits for data";
  finding.severity = severity;
  finding.outcome = Outcome::kFired;
  finding.problem = "It waits.";
  finding.recommendation = {"Load in workers."};
  finding.saves = SavingClaim{"compute/other", saves, saves, saves};
  run.findings.push_back(finding);
  return run;
}

GatePolicy Policy(const std::string& text) {
  Problems problems;
  const auto yaml = YamlFile::Parse("dladvisor.yaml", text, problems);
  GatePolicy policy = ReadGatePolicy(*yaml, yaml->root(), problems);
  EXPECT_TRUE(problems.empty());
  return policy;
}

GateResult Judge(const std::vector<GateRun>& baseline, const std::vector<GateRun>& candidate,
                 const GatePolicy& policy = {}) {
  return JudgeRuns(ToSides(baseline, candidate), EmptyKnowledge(), policy, {});
}

TEST(Judge, ARunAgainstItselfPasses) {
  const GateResult result = Judge({RunAt(100)}, {RunAt(100)});
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.headline, HasSubstr("No regression."));
}

TEST(Judge, OneRunASideFailsOnlyBeyondTheFloor) {
  EXPECT_EQ(Judge({RunAt(100)}, {RunAt(130)}).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Judge({RunAt(100)}, {RunAt(130)}).exit_status, 0);
  EXPECT_EQ(Judge({RunAt(100)}, {RunAt(180)}).exit_status, 1);
  const GatePolicy declared = Policy("metrics: {step.time: {run_to_run: 5 %}}");
  EXPECT_EQ(Judge({RunAt(100)}, {RunAt(130)}, declared).exit_status, 1);
  EXPECT_EQ(Judge({RunAt(130)}, {RunAt(100)}, declared).verdict, Verdict::kImproved);
}

TEST(Judge, RepeatsInOneJobTellTheNoise) {
  const auto side = [](std::initializer_list<double> means, int64_t minute,
                       const std::string& host = "node1") {
    std::vector<GateRun> runs;
    for (const double mean : means)
      runs.push_back(At(RunAt(mean), minute + 5 * static_cast<int64_t>(runs.size()), host));
    return runs;
  };
  EXPECT_EQ(Judge(side({100, 101, 99}, 0), side({110, 111, 109}, 20)).exit_status, 1);
  EXPECT_EQ(Judge(side({100, 120, 90}, 0), side({110, 95, 125}, 20)).exit_status, 0);
  // Days later, or elsewhere, they are another job.
  EXPECT_EQ(Judge(side({100, 101, 99}, 0), side({110, 111, 109}, 3000)).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Judge(side({100, 101, 99}, 0), side({110, 111, 109}, 20, "node2")).verdict,
            Verdict::kInconclusive);
  // Nor is it known to be the same without times.
  EXPECT_EQ(Judge({RunAt(100), RunAt(101), RunAt(99)}, {RunAt(110), RunAt(111), RunAt(109)}).verdict,
            Verdict::kInconclusive);
}

TEST(Judge, OneRecordingGivenThriceIsOneRun) {
  const GateResult result = Judge({RunAt(100), RunAt(100), RunAt(100)}, {RunAt(110), RunAt(110), RunAt(110)});
  EXPECT_EQ(result.baseline.runs.size(), 1u);
  EXPECT_EQ(result.candidate.runs.size(), 1u);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.notes,
              testing::Contains("run is the same recording as run, and both count as one run."));
}

TEST(Judge, APassOnAssumedNoiseSaysSo) {
  const GateResult single = Judge({RunAt(100)}, {RunAt(101)});
  EXPECT_EQ(single.verdict, Verdict::kPass);
  EXPECT_THAT(single.headline,
              HasSubstr("But little was tested: runs are assumed to differ by up to 50.0 %"));
  EXPECT_THAT(single.next_step, HasSubstr("run_to_run"));
  EXPECT_GE(single.metrics.at(0).low.value(), -1);
  const GateResult declared =
      Judge({RunAt(100)}, {RunAt(101)}, Policy("metrics: {step.time: {run_to_run: 5 %}}"));
  EXPECT_EQ(declared.headline.find("assumed"), std::string::npos);
}

TEST(Judge, WhatIsIncompleteOrUnreadableIsSaidOfItsSide) {
  GateRun cut = RunAt(100);
  cut.is_incomplete = true;
  GateResult result = Judge({RunAt(100)}, {cut});
  EXPECT_THAT(result.headline, testing::StartsWith("run is incomplete, the end is missing"));
  RefuseUnreadable({"b.json: is cut off"}, result.candidate, result);
  EXPECT_EQ(SideText(result.candidate),
            "1 run, 20 steady steps, 1 incomplete, and 1 file that cannot be read");
}

TEST(Judge, AWaiverLetsPassUntilItsDay) {
  const std::string text =
      "waivers: [{rule: data-loading, reason: new storage, until: 2026-06-01}, {metric: step.time, reason: "
      "larger model, until: 2026-05-01}]";
  GatePolicy policy = Policy(text);
  const GateRun broken = WithFinding(RunAt(180), Severity::kError, 0);
  policy.today = "2026-05-01";
  GateResult result = Judge({RunAt(100)}, {broken}, policy);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.metrics.at(0).not_gated, "waived until 2026-05-01: larger model");
  EXPECT_THAT(result.notes, testing::Contains("There is a waiver of data-loading, and no such rule."));
  policy.today = "2026-05-02";
  result = Judge({RunAt(100)}, {broken}, policy);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.headline, HasSubstr("Step time regressed"));
  EXPECT_THAT(result.notes,
              testing::Contains("The waiver of step.time expired on 2026-05-01 (larger model)."));
  policy.today = "2026-06-02";
  EXPECT_EQ(Judge({RunAt(100)}, {WithFinding(RunAt(100), Severity::kError, 0)}, policy).exit_status, 1);
}

TEST(Judge, ErrorsOfBothSidesFailUnlessNewOnesAlone) {
  const GateRun broken = WithFinding(RunAt(100), Severity::kError, 0);
  EXPECT_EQ(Judge({broken}, {broken}).exit_status, 1);
  EXPECT_EQ(Judge({broken}, {broken}, Policy("error_rules: new")).exit_status, 0);
  EXPECT_EQ(Judge({RunAt(100)}, {broken}, Policy("error_rules: new")).exit_status, 1);
}

TEST(Judge, ReportingFailsNothingAndSaysWhatWould) {
  EXPECT_TRUE(Policy("mode: report").reports_only);
  GateResult result = Judge({RunAt(100)}, {RunAt(180)});
  ReportOnly(result);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.verdict, Verdict::kRegressed);
  EXPECT_THAT(result.headline,
              testing::StartsWith("This is reported, and fails nothing yet: Step time regressed"));
  EXPECT_EQ(RenderGateJUnit(result).find("<failure"), std::string::npos);
  EXPECT_THAT(RenderGateJUnit(result), HasSubstr("nothing fails; `mode: gate` makes it fail"));
  EXPECT_EQ(RenderGateSarif(result, "").find("\"level\": \"error\""), std::string::npos);
  EXPECT_THAT(RenderGateSarif(result, ""), HasSubstr("nothing fails; `mode: gate` makes it fail"));
  EXPECT_EQ(RenderGateAnnotations(result, "").find("::error"), std::string::npos);
  GateResult passed = Judge({RunAt(100)}, {RunAt(100)});
  ReportOnly(passed);
  EXPECT_EQ(passed.headline.find("reported"), std::string::npos);
  GateResult unreadable = Judge({RunAt(100)}, {RunAt(100)});
  RefuseUnreadable({"b.json: is cut off"}, unreadable.candidate, unreadable);
  ReportOnly(unreadable);
  EXPECT_EQ(unreadable.exit_status, 0);
  EXPECT_EQ(unreadable.verdict, Verdict::kNotComparable);
  EXPECT_THAT(unreadable.headline, HasSubstr("fails nothing yet: 1 of the files cannot be read"));
}

TEST(Judge, SmallStepsFailTheBudgetOfTheLastMerges) {
  std::vector<HistoryRun> history;
  for (int i = 0; i < 16; ++i) {
    const double steps = 100 * std::pow(1.08, std::max(0, i - 2) / 14.0);  // 8 % in small steps
    history.push_back(
        ToHistory(RunAt(steps + 0.1 * ((i * 5) % 7 - 3)), Verdict::kPass, "c" + std::to_string(i), i + 1));
  }
  const auto judge = [&](const std::string& policy) {
    return JudgeRuns(ToSides({RunAt(108)}, {RunAt(108)}), EmptyKnowledge(), Policy(policy), history);
  };
  const GateResult over = judge("{trend: off, metrics: {step.time: {merges: 15, creep: 5 %}}}");
  EXPECT_EQ(over.exit_status, 1);
  EXPECT_THAT(over.headline, HasSubstr("Since c2 the step time became"));
  EXPECT_THAT(over.headline, HasSubstr("over the budget of 5 % for 15 runs; the creep began at c"));
  EXPECT_EQ(judge("{trend: off, metrics: {step.time: {merges: 15, creep: 10 %}}}").exit_status, 0);
  EXPECT_EQ(judge("{trend: off}").exit_status, 0);
}

TEST(Judge, InconclusiveFailsWhereTheProjectSaysSo) {
  const GateResult result = Judge({RunAt(100)}, {RunAt(130)}, Policy("on_inconclusive: fail"));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.headline, HasSubstr("inconclusive"));
}

// A finding near its threshold comes and goes with the noise.
TEST(Judge, AFindingExplainsAChangeAndDoesNotProveIt) {
  const GateRun found = WithFinding(RunAt(130), Severity::kWarning, 25e6);
  const GateResult result = Judge({RunAt(100)}, {found});
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.metrics.at(0).noise, Judge({RunAt(100)}, {RunAt(130)}).metrics.at(0).noise);
  EXPECT_THAT(result.headline, HasSubstr("If it is not noise: compute/other takes 30.0 ms more per step; new "
                                         "finding: The GPU waits for data (data-loading)."));
  const GateResult failed = Judge({RunAt(100)}, {WithFinding(RunAt(180), Severity::kWarning, 60e6)});
  EXPECT_EQ(failed.exit_status, 1);
  EXPECT_THAT(failed.headline, HasSubstr("new finding: The GPU waits for data (data-loading)"));
  EXPECT_EQ(failed.next_step, "Load in workers.");
}

TEST(Judge, AChangeToTheBetterIsNotExplainedByWhatGrew) {
  const GateResult result = Judge({RunAt(130, 3)}, {RunAt(100, 3)});
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.headline, HasSubstr("If it is not noise: compute/other takes 30.0 ms less per step."));
}

TEST(Judge, ARuleThatIsAnErrorFails) {
  const GateResult result = Judge({RunAt(100)}, {WithFinding(RunAt(100), Severity::kError, 0)});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.headline, HasSubstr("data-loading"));
}

TEST(Judge, BudgetsHoldWithoutRegardToTheBaseline) {
  const GateResult over = Judge({RunAt(500)}, {RunAt(500)}, Policy("metrics: {step.time: {max: 450 ms}}"));
  EXPECT_EQ(over.exit_status, 1);
  EXPECT_THAT(over.headline, HasSubstr("over the budget of 450 ms"));
  EXPECT_EQ(Judge({RunAt(400)}, {RunAt(400)}, Policy("metrics: {step.time: {max: 450 ms}}")).exit_status, 0);
}

TEST(Judge, WhatIsNotGatedIsSaidWithItsReason) {
  const GateResult result =
      Judge({RunAt(500)}, {RunAt(501)},
            Policy("metrics: {step.time: {max: 450 ms, gated: false, reason: new model}}"));
  EXPECT_EQ(result.exit_status, 0);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_THAT(result.notes[0], HasSubstr("new model"));
}

TEST(Judge, OtherHardwareIsNoPass) {
  GateRun other = RunAt(100);
  other.traits.values["gpu.model"] = "NVIDIA H100";
  const GateResult result = Judge({RunAt(100)}, {other});
  EXPECT_EQ(result.verdict, Verdict::kNotComparable);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.headline,
              HasSubstr("model of the GPUs (baseline: NVIDIA A100-SXM4-80GB; candidate: NVIDIA H100)"));
  EXPECT_EQ(result.metrics.at(0).verdict, Verdict::kNotComparable);
  EXPECT_TRUE(result.explanation.empty());
  EXPECT_EQ(Judge({RunAt(100)}, {other}, Policy("allow: [gpu.model]")).exit_status, 0);
}

TEST(Judge, WithoutStepsNothingPasses) {
  const test::Facts facts = test::RunOf({});
  Database database = facts.Build();
  const GateRun none = SummarizeRun("run", EmptyKnowledge(), database, {});
  EXPECT_EQ(Judge({none}, {none}).exit_status, 2);
  EXPECT_EQ(Judge({RunAt(100)}, {none}).exit_status, 2);
  EXPECT_THAT(Judge({RunAt(100)}, {none}).headline, HasSubstr("--step-range"));
}

TEST(Judge, AListedMetricThatNoRunTellsIsNoPass) {
  const GateResult result =
      Judge({RunAt(100)}, {RunAt(100)}, Policy("metrics: {gpu.utilization: {min: 85 %}}"));
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.headline, HasSubstr("GPU utilization"));
}

TEST(Judge, ARegressionFailsWhateverElseIsMissing) {
  const GatePolicy policy = Policy(
      "metrics: {gpu.utilization: {min: 85 %}, run.mfu: {min: 40 %}, memory.peak: {max: 30 GiB}, "
      "step.time: {run_to_run: 5 %}}");
  const GateResult failed = Judge({RunAt(100)}, {RunAt(180)}, policy);
  EXPECT_EQ(failed.exit_status, 1);
  EXPECT_THAT(failed.headline, HasSubstr("Step time regressed by 80.0 %"));
  ASSERT_EQ(failed.notes.size(), 3u);
  EXPECT_THAT(failed.notes[1], HasSubstr("MFU cannot be compared, either. No run has it."));
  EXPECT_EQ(Judge({RunAt(100)}, {WithFinding(RunAt(100), Severity::kError, 0)}, policy).exit_status, 1);
  const GateResult missing = Judge({RunAt(100)}, {RunAt(100)}, policy);
  EXPECT_EQ(missing.exit_status, 2);
  EXPECT_THAT(missing.headline, HasSubstr("GPU utilization, MFU, Peak memory cannot be compared."));
  EXPECT_THAT(missing.next_step,
              HasSubstr("{gpu.utilization: explain, run.mfu: explain, memory.peak: explain}"));
}

TEST(Judge, ABudgetThatOnlyTheCandidateTellsIsKeptOrNot) {
  GateRun run = RunAt(100);
  RunMean mfu;
  mfu.mean = 0.2;
  mfu.steps = 1;
  mfu.independent_steps = 1;
  run.measurements.push_back({"run.mfu", mfu});
  EXPECT_EQ(Judge({RunAt(100)}, {run}, Policy("metrics: {run.mfu: {min: 40 %}}")).exit_status, 1);
  EXPECT_EQ(Judge({RunAt(100)}, {run}, Policy("metrics: {run.mfu: {min: 10 %}}")).exit_status, 2);
}

TEST(Judge, TheHistoryTellsTheNoiseOfOneRunASide) {
  std::vector<HistoryRun> history;
  for (int i = 0; i < 12; ++i)
    history.push_back(ToHistory(RunAt(100 + 0.5 * ((i * 5) % 7 - 3)), Verdict::kPass, "", i));
  const GateResult result = JudgeRuns(ToSides({RunAt(100)}, {RunAt(112)}), EmptyKnowledge(), {}, history);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.metrics.at(0).noise, HasSubstr("12"));
  for (HistoryRun& run : history) run.setting = "another machine";
  EXPECT_EQ(JudgeRuns(ToSides({RunAt(100)}, {RunAt(112)}), EmptyKnowledge(), {}, history).verdict,
            Verdict::kInconclusive);
}

TEST(Judge, SomeUnreadableRunsAreNoPass) {
  GateResult result = Judge({RunAt(100)}, {RunAt(100)});
  RefuseUnreadable({"b.json: is cut off"}, result.candidate, result);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.notes, testing::Contains("b.json: is cut off"));
  // A rank that is missing makes the sides differ, and is no difference to allow.
  GateRun fewer = RunAt(100);
  fewer.traits.values["world_size"] = "7";
  GateRun all = RunAt(100);
  all.traits.values["world_size"] = "8";
  GateResult other = Judge({all}, {fewer});
  EXPECT_THAT(other.next_step, HasSubstr("allow"));
  RefuseUnreadable({"rank7.json: is cut off"}, other.candidate, other);
  EXPECT_EQ(other.next_step.find("allow"), std::string::npos);
  EXPECT_THAT(other.headline, HasSubstr("1 of the files cannot be read"));
}

}  // namespace
}  // namespace dladvisor
