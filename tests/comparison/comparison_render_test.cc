// SPDX-License-Identifier: Apache-2.0
// What all formats of a comparison have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/base/text.h"
#include "src/comparison/render/comparison_html.h"
#include "src/comparison/render/comparison_json.h"
#include "src/comparison/render/comparison_markdown.h"
#include "src/comparison/render/comparison_text.h"
#include "tests/support/plain_spaces.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "<script>alert(1)</script>|`x`\x1b[31m\xff";

RunsCompared Comparison(const std::string& name = "gemm") {
  RunsCompared compared;
  compared.before = {"before.sqlite", 1, 10, 100e6, 1e6};
  compared.after = {"after.sqlite", 1, 10, 65e6, 1e6};
  compared.change = -0.35;
  compared.headline = "B takes 35.0 % less time per step: 65.0 ms instead of 100 ms.";
  compared.reasons = {"Data loading takes 45.0 ms less per step."};
  compared.ledger = {{"idle/input", 60e6, 15e6}, {"compute/tensor", 30e6, 40e6}};
  compared.kernels = {{name, name + "2", 0, 2, "matrix", MatchedBy::kOperator, WorkAmount{2, 30e6, {}},
                       WorkAmount{2, 40e6, {}}},
                      {"", "copy", 0, 0, "", MatchedBy::kNothing, std::nullopt, WorkAmount{1, 5e6, {}}}};
  FindingChange gone;
  gone.finding.rule = "data-loading";
  gone.finding.title = "The GPU waits for data";
  gone.finding.problem = "The GPU waits 60.0 ms per step for data.";
  gone.finding.change = RuleVerdict::Change::kGone;
  gone.finding.subjects = {R"({"rank":0})"};
  compared.findings = {gone};
  compared.figures = {{"MFU", Unit::kRatio, 0.31, 0.42}};
  compared.differences = {{"driver", "Driver", name, "550", false, ""}};
  return compared;
}

struct Format {
  const char* name;
  std::string (*render)(const RunsCompared&);
};

class EveryComparisonFormat : public testing::TestWithParam<Format> {};

TEST_P(EveryComparisonFormat, SaysWhatChangedAndWhy) {
  const std::string text = test::PlainSpaces(GetParam().render(Comparison()));
  for (const char* part : {"35.0 % less time per step", "Data loading takes 45.0 ms less", "gemm", "gemm2",
                           "data-loading", "before.sqlite", "550", "MFU"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(ComparisonText, FillsTheLinesOfTheTerminal) {
  RunsCompared compared = Comparison();
  compared.headline = "B takes less time: " + std::string(40, 'a') + " " + std::string(40, 'b');
  const auto first_line = [&](size_t width) {
    const std::string text = RenderComparisonText(compared, "dladvisor", {.width = width});
    return text.substr(0, text.find('\n')).size();
  };
  EXPECT_LE(first_line(60), 60U);
  EXPECT_GT(first_line(140), 80U);
}

TEST(ComparisonText, GivesLongNamesALineOfTheirOwnAndNoBlanksAtTheEnd) {
  const std::string first = "/model/layers/attention/" + std::string(40, 'q') + "/first",
                    second = "/model/layers/attention/" + std::string(40, 'q') + "/second";
  RunsCompared compared = Comparison();
  compared.operators = {
      {first, first, 0, 0, "mm", MatchedBy::kName, WorkAmount{2, 30e6, {}}, WorkAmount{2, 40e6, {}}},
      {second, "", 0, 0, "mm", MatchedBy::kNothing, WorkAmount{2, 30e6, {}}, std::nullopt}};
  const std::string text = RenderComparisonText(compared, "dladvisor", {});
  EXPECT_THAT(text, HasSubstr(first));
  EXPECT_THAT(text, HasSubstr(second));
  EXPECT_THAT(text, HasSubstr("+11.0 percentage points"));
  EXPECT_THAT(text, Not(testing::ContainsRegex(" \n")));
}

TEST_P(EveryComparisonFormat, SurvivesAnEmptyOne) {
  EXPECT_NO_THROW(GetParam().render({}));
  RunsCompared compared;
  compared.ledger.emplace_back();
  compared.kernels.emplace_back();
  compared.findings.emplace_back();
  compared.differences.emplace_back();
  EXPECT_NO_THROW(GetParam().render(compared));
}

TEST_P(EveryComparisonFormat, MakesHostileNamesHarmless) {
  const std::string text = GetParam().render(Comparison(kHostile));
  EXPECT_EQ(ValidUtf8(text), text);
  EXPECT_THAT(text, Not(HasSubstr("\x1b[31m")));
  const std::string_view format = GetParam().name;
  if (format == "Html" || format == "Markdown") {
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    , EveryComparisonFormat,
    testing::Values(
        Format{"Text", [](const RunsCompared& c) { return RenderComparisonText(c, "dladvisor", {}); }},
        Format{"Markdown", [](const RunsCompared& c) { return RenderComparisonMarkdown(c, "dladvisor"); }},
        Format{"Html", [](const RunsCompared& c) { return RenderComparisonHtml(c, "dladvisor"); }},
        Format{"Json", [](const RunsCompared& c) { return RenderComparisonJson(c, "dladvisor"); }}),
    [](const auto& format) { return std::string(format.param.name); });

TEST(ComparisonJson, HoldsTimesAsNumbersAndWhatASideLacksAsNull) {
  RunsCompared compared = Comparison();
  compared.change = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(RenderComparisonJson(compared, "dladvisor"));
  EXPECT_TRUE(json["change"].is_null());
  EXPECT_EQ(json["unit"], "step");
  EXPECT_EQ(json["kernels"][0]["matched_by"], "operator");
  EXPECT_TRUE(json["kernels"][1]["before"].is_null());
  EXPECT_EQ(json["kernels"][1]["after"]["ns"], 5e6);
  EXPECT_EQ(json["findings"][0]["change"], "gone");
}

TEST(ComparisonHtml, TellsKernelsAndOperatorsApartThatDifferInTheMiddle) {
  RunsCompared compared = Comparison();
  const auto name = [](const char* middle) {
    return "/model/" + std::string(400, 'q') + middle + std::string(400, 'z');
  };
  for (auto* rows : {&compared.operators, &compared.kernels})
    *rows = {{name("first"), name("first"), 0, 0, "", MatchedBy::kName, WorkAmount{1, 9e6, {}},
              WorkAmount{1, 2e6, {}}},
             {name("second"), name("second"), 0, 0, "", MatchedBy::kName, WorkAmount{1, 8e6, {}},
              WorkAmount{1, 3e6, {}}}};
  const std::string html = RenderComparisonHtml(compared, "dladvisor");
  static const RE2 cell(
      R"((?s)<th scope="row" class="name">(?:<details><summary[^>]*>(.*?)</summary>|<span>(.*?)</span>))");
  std::multiset<std::string> cells;
  re2::StringPiece rest(html);
  for (std::string folded, plain; RE2::FindAndConsume(&rest, cell, &folded, &plain);)
    cells.insert(folded + plain);
  EXPECT_GE(cells.size(), 4u);
  for (const std::string& each : cells) EXPECT_EQ(cells.count(each), 1u) << each;
}

TEST(ComparisonHtml, NeedsNoScriptAndNoRequest) {
  const std::string page = RenderComparisonHtml(Comparison(), "dladvisor");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

}  // namespace
}  // namespace dladvisor
