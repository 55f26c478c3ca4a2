// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/json_summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/model/finding_id.h"
#include "tests/report/fixture.h"
#include "tests/support/files.h"
#include "tests/support/json_schema.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;

json Summary(const Advice& advice, size_t most_bytes = kMostSummaryBytes) {
  FakeRun run = TypicalRun();
  const Database database = run.Build();
  const std::string text = RenderJsonSummary(BuildReport(database, advice, kOptions), most_bytes);
  EXPECT_LT(text.size(), most_bytes);
  return json::parse(text);
}

// As many findings on operators with names that are as long as those of templates can be.
Advice ManyFindings(size_t count) {
  Advice advice = TypicalAdvice();
  for (size_t i = 0; i < count; ++i) {
    Finding finding = MakeFinding(fmt::format("rule-{}", i), Severity::kInfo, Outcome::kFired);
    finding.subject = {{"op", std::string(5000, 'x') + std::to_string(i)}};
    finding.problem = kHostileName + std::string(5000, '"');
    finding.evidence.columns = {{"name", Unit::kText}};
    for (int row = 0; row < 50; ++row) finding.evidence.rows.push_back({Value(std::string(5000, '\x01'))});
    advice.findings.push_back(finding);
    finding.outcome = Outcome::kUnknown;
    finding.rule = fmt::format("unknown-{}-{}", i, std::string(200, 'u'));
    advice.findings.push_back(finding);
  }
  return advice;
}

TEST(JsonSummary, HoldsFindingsWithWhatTheyRestOn) {
  const Advice advice = TypicalAdvice();
  const json summary = Summary(advice);
  EXPECT_EQ(summary["schema_version"], 1);
  EXPECT_NE(summary["headline"].get<std::string>().find("9.00 ms of 12.0 ms per step are lost"),
            std::string::npos);
  ASSERT_EQ(summary["findings"].size(), 2U);
  const json& first = summary["findings"][0];
  EXPECT_EQ(summary["first"], first["ids"][0]);
  EXPECT_EQ(first["depth"], 0);
  EXPECT_EQ(summary["findings"][1]["depth"], 1);
  EXPECT_FALSE(first["problem"].get<std::string>().empty());
  EXPECT_FALSE(first["saves"].is_null());
  EXPECT_EQ(summary["findings_left_out"], 0);
  ASSERT_EQ(summary["undecided"].size(), 2U);
  EXPECT_FALSE(summary.contains("tables"));
}

TEST(JsonSummary, IsShortWhateverTheProfile) {
  for (const size_t count : {10U, 1000U}) {
    const json summary = Summary(ManyFindings(count));
    EXPECT_GE(summary["findings"].size(), 2U);
    EXPECT_EQ(summary["findings"].size() + summary["findings_left_out"].get<size_t>(), count + 2);
    EXPECT_EQ(summary["undecided"].size() + summary["undecided_left_out"].get<size_t>(), count + 2);
  }
  Summary(ManyFindings(100), 12'000);
}

// As large as everything in a profile can make it at once.
TEST(JsonSummary, NeverDropsTheFirstFinding) {
  Advice advice;
  Finding finding = MakeFinding("rule", Severity::kWarning, Outcome::kFired);
  finding.subject = {{"op", std::string(5000, '\x01')}};
  finding.problem = finding.error = std::string(5000, '\x01');
  finding.recommendation.assign(20, std::string(5000, '\x01'));
  finding.why.resize(1);
  for (int i = 0; i < 20; ++i) {
    finding.why[0].facts.push_back({fmt::format("fact_{}", i), std::string(5000, '\x01')});
    finding.evidence.columns.push_back({fmt::format("column_{}", i), Unit::kText});
  }
  finding.evidence.rows.assign(50, std::vector<Value>(20, std::string(5000, '\x01')));
  advice.findings.push_back(finding);
  for (const size_t most : {kMostSummaryBytes, size_t{12'000}}) {
    const json summary = Summary(advice, most);
    ASSERT_EQ(summary["findings"].size(), 1U);
    EXPECT_EQ(summary["findings"][0]["rule"], "rule");
    EXPECT_NE(summary["findings"][0]["problem"], "");
    EXPECT_EQ(summary["findings_left_out"], 0);
  }
}

TEST(JsonSummary, FindingsCanBeReadInParts) {
  const FakeRun run = TypicalRun();
  const Advice advice = ManyFindings(60);
  FakeRun copy = run;
  const Database database = copy.Build();
  const ReportModel model = BuildReport(database, advice, kOptions);
  std::set<std::string> ids;
  size_t parts = 0;
  for (size_t left_out = 1; left_out > 0; ++parts) {
    const json summary = json::parse(RenderJsonSummary(model, kMostSummaryBytes, ids.size()));
    left_out = summary["findings_left_out"];
    ASSERT_FALSE(summary["findings"].empty());
    for (const json& finding : summary["findings"]) EXPECT_TRUE(ids.insert(finding["ids"][0]).second);
  }
  EXPECT_EQ(ids.size(), 62U);
  EXPECT_GT(parts, 2U);
}

TEST(JsonSummary, KeepsToTheSchema) {
  if (PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  const ScratchDir folder;
  FakeRun run = TypicalRun();
  const Database database = run.Build();
  size_t files = 0;
  const Advice typical = TypicalAdvice(), many = ManyFindings(20), none;
  for (const Advice* advice : {&typical, &many, &none})
    WriteFile(folder.path() / fmt::format("{}.json", files++),
              RenderJsonSummary(BuildReport(database, *advice, kOptions)));
  EXPECT_EQ(SchemaErrors(SourceDir() / "docs/schemas/summary.schema.json", folder.path()), "");
}

TEST(JsonReport, KeepsToTheSchema) {
  if (PythonWithJsonschema().empty()) GTEST_SKIP() << "python3-jsonschema is not installed";
  const ScratchDir folder;
  WriteFile(folder.path() / "typical.json", Render(TypicalRun(), TypicalAdvice(), ReportFormat::kJson));
  WriteFile(folder.path() / "many.json", Render(TypicalRun(), ManyFindings(3), ReportFormat::kJson));
  WriteFile(folder.path() / "empty.json", Render({}, ReportFormat::kJson));
  EXPECT_EQ(SchemaErrors(SourceDir() / "docs/schemas/report.schema.json", folder.path()), "");
}

}  // namespace
}  // namespace dladvisor::test
