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

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Two GPUs that wait alike, each with a symptom, and one finding of another kind.
Advice AlikeAdvice() {
  Advice advice = TypicalAdvice();
  Finding other = advice.findings[0], symptom = advice.findings[1];
  advice.findings[0].causes = {1};
  advice.findings[1].subject = advice.findings[0].subject;
  other.subject[1].value = int64_t{1};
  other.problem = "GPU 1 is idle 70.1 % of the step; in 80.0 % of that time no kernel had been launched.\n";
  other.saves = SavingClaim{"idle/launch", 1.5e6, 6e6, 8e6};
  other.causes = {advice.findings.size() + 1};
  symptom.subject = other.subject;
  symptom.problem = "GPU 1 computes 25.0 % of the time.";
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
    EXPECT_THAT(report, HasSubstr("1.50 ms – 6.00 ms per step"));
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
  for (const auto& [rule, severity, high] : {std::tuple{"small", Severity::kWarning, 3e6},
                                             {"none", Severity::kError, 0.0},
                                             {"large", Severity::kInfo, 5e6}}) {
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
  // What the headline begins with comes first, an error that saves nothing last.
  EXPECT_EQ(order, (std::vector<std::string>{"small", "large", "none"}));
}

TEST(Findings, MergeNumbersButNotWords) {
  EXPECT_EQ(
      MergeTexts({"On GPU 0 of rank 0 sm80_4x4 takes 900 µs", "On GPU 3 of rank 1 sm80_4x4 takes 1.20 ms",
                  "On GPU 1 of rank 0 sm80_4x4 takes 1.00 ms"}),
      "On each of GPUs 0–1, 3 of ranks 0–1 sm80_4x4 takes 900 µs – 1.20 ms");
  EXPECT_EQ(MergeTexts({"GPU 0 of rank 0", "GPU 0 of rank 1"}), "GPU 0 of each of ranks 0–1");
  EXPECT_EQ(MergeTexts({"takes 5.0 %, 1,234 calls."}), "takes 5.0 %, 1,234 calls.");
  EXPECT_EQ(WithoutNumbers("v1.2 of cuda12 took 3.5 s, 20 %"), "v1.2 of cuda12 took #, #");
}

TEST(Findings, SayTheirSubjectOnce) {
  Advice advice = TypicalAdvice();
  const FakeRun run = TypicalRun();
  advice.findings[0].problem = "rank 0 waits.";
  advice.findings[0].subject.push_back({"op", "mm", Unit::kText});
  advice.findings[1].problem = "mm waits.";
  advice.findings[1].subject = {{"op", "mm", Unit::kText}};
  const std::string text = Render(run, advice, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("rank 0 waits. (op mm)\n"));
  EXPECT_THAT(text, HasSubstr("mm waits.\n"));
}

}  // namespace
}  // namespace dladvisor::test
