// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "engine/model/message.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// As the engine renders it.
RenderedMessage Says(const std::string& words, std::vector<NamedValue> values) {
  return RenderMessage(words, values);
}

RenderedMessage Idles(int64_t gpu, double share) {
  return Says(
      "{{GPU device}} is idle {{share}} of the step; in 80.0 % of that time no kernel had been launched.",
      {{"device", gpu, Unit::kNone}, {"share", share, Unit::kRatio}});
}

RenderedMessage Computes(int64_t gpu, double share) {
  return Says("{{GPU device}} computes {{share}} of the time.",
              {{"device", gpu, Unit::kNone}, {"share", share, Unit::kRatio}});
}

// Two GPUs that wait alike, each with a symptom, and one finding of another kind.
Advice AlikeAdvice() {
  Advice advice = TypicalAdvice();
  advice.findings[0].problem = Idles(0, 0.625);
  advice.findings[1].problem = Computes(0, 0.281);
  Finding other = advice.findings[0], symptom = advice.findings[1];
  advice.findings[0].causes = {1};
  advice.findings[1].subject = advice.findings[0].subject;
  other.subject[1].value = int64_t{1};
  other.problem = Idles(1, 0.701);
  other.saves = SavingClaim{"idle/launch", 2.5e6, 6e6, 8e6};
  other.causes = {advice.findings.size() + 1};
  symptom.subject = other.subject;
  symptom.problem = Computes(1, 0.25);
  symptom.caused_by = advice.findings.size();
  advice.findings.push_back(other);
  advice.findings.push_back(symptom);
  return advice;
}

TEST(Findings, OfSeveralGpusAreOneEntry) {
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText}) {
    std::string report = Render(TypicalRun(), AlikeAdvice(), format);
    std::erase(report, '\\');
    RE2::GlobalReplace(&report, R"(\s+)", " ");
    EXPECT_EQ(Count(report, "Each of GPUs 0–1 is idle 62.5 – 70.1 % of the step; in 80.0 % of that time"), 1u)
        << report;
    EXPECT_EQ(Count(report, "Each of GPUs 0–1 computes 25.0 – 28.1 % of the time."), 1u);
    // The entry and the first line: surely saved is what the least of them saves.
    EXPECT_EQ(Count(report, "– 6.00 ms per step"), Count(report, "1.50 ms – 6.00 ms per step")) << report;
    EXPECT_GE(Count(report, "1.50 ms – 6.00 ms per step"), 2u) << report;
  }
  const json report = json::parse(Render(TypicalRun(), AlikeAdvice(), ReportFormat::kJson));
  size_t fired = 0;
  for (const json& finding : report["findings"]) fired += finding["outcome"] == "fired";
  EXPECT_EQ(fired, 2u);
}

TEST(Findings, OfOtherOpsOrTextsAreEntriesOfTheirOwn) {
  Advice advice = AlikeAdvice();
  Finding& other = advice.findings[advice.findings.size() - 2];
  other.problem = "GPU 1 is idle for ever.";
  std::string text = Render(TypicalRun(), advice, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("GPU 1 is idle for ever."));
  EXPECT_THAT(text, HasSubstr("GPU 0 is idle 62.5 %"));
  advice = AlikeAdvice();
  for (const size_t i : {size_t{0}, advice.findings.size() - 2})
    advice.findings[i].subject.push_back({"op", i == 0 ? "mm" : "add", Unit::kText});
  text = Render(TypicalRun(), advice, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("(op mm)"));
  EXPECT_THAT(text, HasSubstr("(op add)"));
}

TEST(Findings, ComeInOrderOfWhatTheySave) {
  Advice advice;
  for (const auto& [rule, severity, high] : {std::tuple{"small", Severity::kError, 3e6},
                                             {"none", Severity::kError, 0.0},
                                             {"note", Severity::kInfo, 6e6},
                                             {"large", Severity::kWarning, 5e6}}) {
    Finding finding = MakeFinding(rule, severity, Outcome::kFired);
    finding.recommendation = {"Do it."};
    if (high > 0) finding.saves = SavingClaim{"idle/launch", 0, high, high};
    advice.findings.push_back(finding);
  }
  FakeRun run = TypicalRun();
  const Database db = run.Build();
  std::vector<std::string> order;
  for (const FindingGroup& group : GroupFindings(BuildReport(db, advice, kOptions)))
    order.push_back(advice.findings[group.findings[0]].rule);
  // The headline begins with the largest that is no note; whatever else saves most comes next, an error that
  // saves nothing last.
  EXPECT_EQ(order, (std::vector<std::string>{"large", "note", "small", "none"}));
}

TEST(Findings, OnTheProgramComeBeforeNotesOnItsCapture) {
  Advice advice;
  for (const char* rule : {"a-capture-note", "on-the-program"}) {
    advice.findings.push_back(MakeFinding(rule, Severity::kInfo, Outcome::kFired));
    RuleSummary& summary = advice.rules.emplace_back();
    summary.id = rule;
    summary.category = *rule == 'a' ? "capture" : "compute";
  }
  advice.findings.push_back(MakeFinding("warning", Severity::kWarning, Outcome::kFired));
  FakeRun run = TypicalRun();
  const Database db = run.Build();
  std::vector<std::string> order;
  for (const FindingGroup& group : GroupFindings(BuildReport(db, advice, kOptions)))
    order.push_back(advice.findings[group.findings[0]].rule);
  EXPECT_EQ(order, (std::vector<std::string>{"warning", "on-the-program", "a-capture-note"}));
}

TEST(Findings, SayWhatTheySaveAloneWhereOthersSaveMostOfIt) {
  const auto saving = [](double high, double alone) {
    Advice advice;
    Finding finding = MakeFinding("rule", Severity::kWarning, Outcome::kFired);
    finding.saves = SavingClaim{"idle/launch", 0, high, alone, alone};
    advice.findings.push_back(finding);
    FakeRun run = TypicalRun();
    const Database db = run.Build();
    return GroupFindings(BuildReport(db, advice, kOptions))[0].saving;
  };
  EXPECT_EQ(saving(5e6, 6e6), "up to 5.00 ms per step");
  EXPECT_EQ(saving(5e6, 355e6), "up to 5.00 ms per step beside the others, up to 355 ms alone");
  EXPECT_EQ(saving(0, 355e6), "nothing beside the others, up to 355 ms alone");
}

TEST(Findings, SayWhatWorkSavesAsLongAsTheGpuWaits) {
  const auto saving = [](double high, double limit) {
    Advice advice;
    Finding finding = MakeFinding("rule", Severity::kWarning, Outcome::kFired);
    finding.saves = SavingClaim{"compute/other", 0, high, high, high, limit, limit};
    advice.findings.push_back(finding);
    FakeRun run = TypicalRun();
    const Database db = run.Build();
    return GroupFindings(BuildReport(db, advice, kOptions))[0].saving;
  };
  EXPECT_EQ(saving(5e6, 4e6), "up to 5.00 ms per step");
  EXPECT_EQ(saving(5e6, 1e6), "up to 1.00 ms now, up to 5.00 ms per step without idle time");
  EXPECT_EQ(saving(5e6, 0), "next to nothing now, up to 5.00 ms per step without idle time");
}

TEST(Findings, SayTheirSubjectOnce) {
  Advice advice = TypicalAdvice();
  const FakeRun run = TypicalRun();
  advice.findings[0].problem = Says("{{rank rank}} waits.", {{"rank", int64_t{0}, Unit::kNone}});
  advice.findings[0].subject.push_back({"op", "mm", Unit::kText});
  advice.findings[1].problem = Says("{{name}} waits.", {{"name", std::string("mm"), Unit::kText}});
  advice.findings[1].subject = {{"op", "mm", Unit::kText}};
  const std::string text = Render(run, advice, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("rank 0 waits. (op mm)\n"));
  EXPECT_THAT(text, HasSubstr("mm waits.\n"));
}

}  // namespace
}  // namespace dladvisor::test
