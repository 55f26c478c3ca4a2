// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/json_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Json, FiguresEqualWhatTheirQueriesGive) {
  FakeRun run = TypicalRun();
  const Database db = run.Build();
  const Advice advice = TypicalAdvice();
  const json report = json::parse(RenderReport(BuildReport(db, advice, kOptions), ReportFormat::kJson));
  EXPECT_EQ(report["schema_version"], 1);
  size_t known = 0;
  for (const json& figure : report["figures"]) {
    const ResultSet result = db.Query(figure["sql"].get<std::string>());
    const Value value = result.rows.empty() ? Value() : result.rows[0][0];
    EXPECT_EQ(figure["value"].is_null(), IsNull(value)) << figure;
    EXPECT_EQ(figure["value"].is_null(), !figure["unknown_because"].get<std::string>().empty()) << figure;
    if (const auto number = AsNumber(value)) {
      EXPECT_EQ(figure["value"].get<double>(), *number) << figure;
      ++known;
    }
  }
  EXPECT_GE(known, 14u);
  for (const json& table : report["tables"])
    EXPECT_EQ(table["rows"].size(), db.Query(table["sql"].get<std::string>()).rows.size()) << table["id"];
}

TEST(Json, FindingsNestAndCountAsTheAdviceDoes) {
  const json report = json::parse(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kJson));
  ASSERT_EQ(report["findings"].size(), 4u);
  const json& first = report["findings"][0];
  EXPECT_EQ(first["rule"], "cpu-launch-starvation");
  EXPECT_EQ(first["saves"], (json{{"low_ns", 1.5e6}, {"high_ns", 5e6}, {"bucket", "idle/launch"}}));
  EXPECT_EQ(first["subject"], (json{{"rank", 0}, {"device", 0}}));
  EXPECT_EQ(first["why"][0]["facts"][0]["value"], 0.625);
  ASSERT_EQ(first["children"].size(), 1u);
  EXPECT_EQ(first["children"][0]["rule"], "gpu-underutilized");
  EXPECT_EQ(report["findings"][1]["outcome"], "unknown");
  EXPECT_EQ(report["findings"][1]["capture"], (json{"--cuda-memory-usage=true", "--trace=nvtx"}));
  EXPECT_EQ(report["findings"][3]["suppressed_by"], "capture-distorted");
  EXPECT_EQ(report["outcomes"].size(), 6u);
  EXPECT_EQ(report["coverage"], (json{{"rules", 6}, {"decided", 4}, {"without_subject", 1}}));
}

TEST(Json, TellsSubjectsThatLackTheSameOnce) {
  Advice advice;
  for (int64_t rank = 0; rank < 256; ++rank) {
    Finding finding = MakeFinding("memory", Severity::kWarning, Outcome::kUnknown);
    finding.subject = {{"rank", rank, Unit::kNone}};
    finding.missing = {rank == 7 ? "gpu.name" : "memory.peak_bytes"};
    advice.findings.push_back(finding);
  }
  const json findings = json::parse(Render(TypicalRun(), advice, ReportFormat::kJson))["findings"];
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0]["alike"], 255);
  EXPECT_EQ(findings[1]["subject"], (json{{"rank", 7}}));
  EXPECT_EQ(findings[1]["alike"], 1);
}

TEST(Json, NeverHoldsNumbersThatAreNone) {
  Advice advice = TypicalAdvice();
  advice.findings[0].saves->low_ns = std::nan("");
  advice.findings[0].saves->high_ns = HUGE_VAL;
  FakeRun run = TypicalRun();
  run.Give("op_type", {{{"rank", int64_t{0}}, {"op_type", "x\xfe"}, {"gpu_ns", int64_t{1}}}});
  const std::string text = Render(run, advice, ReportFormat::kJson);
  const json report = json::parse(text);
  EXPECT_TRUE(report["findings"][0]["saves"]["high_ns"].is_null());
  EXPECT_THAT(text, HasSubstr("x\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace dladvisor::test
