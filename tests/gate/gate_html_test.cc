// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/gate_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "src/gate/render/trend_chart.h"
#include "tests/gate/fixture.h"
#include "tests/support/plain_spaces.h"

namespace dladvisor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The values of an attribute, in order.
std::vector<std::string> ValuesOf(const std::string& html, const std::string& attribute) {
  std::vector<std::string> values;
  const std::string lead = " " + attribute + "=\"";
  for (size_t at = 0; (at = html.find(lead, at)) != std::string::npos;) {
    at += lead.size();
    values.push_back(html.substr(at, html.find('"', at) - at));
  }
  return values;
}

std::string WithoutStyle(std::string html) {
  const size_t open = html.find("<style>"), close = html.find("</style>");
  return html.erase(open, close - open);
}

TEST(GateHtml, ShowsTheComparison) {
  const std::string html = PlainSpaces(RenderGateHtml(RegressedGate()));
  for (const char* part :
       {"Gate failed", "over its budget", "Step time regressed by 23.1 %", "raise <code>num_workers</code>",
        "+21.0 to +25.2 %", "Time ledger of a step, Baseline", "idle/input: 41.3 ms", "+38.2 ms",
        "train_step/forward/attention", "ampere_bf16_s16816gemm", "run 18: +4.3 %",
        "fires since then: mixed-precision-off", "535.104.05", "training/data.py:87",
        "Clocks were not locked."})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(GateHtml, NeedsNoScriptAndNothingFromElsewhere) {
  for (const GateResult& result : {RegressedGate(), HostileGate()}) {
    const std::string html = RenderGateHtml(result);
    for (const char* part : {"<script", "<img", "src=\"", "url(", "@import", "<link"})
      EXPECT_EQ(html.find(part), std::string::npos) << part;
    for (const std::string& href : ValuesOf(html, "href")) EXPECT_TRUE(href.starts_with('#')) << href;
  }
}

TEST(GateHtml, HasUniqueIdsAndNoDeadLink) {
  for (const GateResult& result : {RegressedGate(), PassedGate(), NotComparableGate(), HostileGate()}) {
    const std::string html = RenderGateHtml(result);
    const std::vector<std::string> ids = ValuesOf(html, "id");
    const std::set<std::string> unique(ids.begin(), ids.end());
    EXPECT_EQ(ids.size(), unique.size());
    for (const std::string& href : ValuesOf(html, "href"))
      EXPECT_TRUE(unique.contains(href.substr(1))) << href;
  }
}

TEST(GateHtml, ClosesWhatItOpens) {
  for (const GateResult& result : {RegressedGate(), PassedGate(), NotComparableGate(), HostileGate()}) {
    const std::string html = WithoutStyle(RenderGateHtml(result));
    for (const char* tag :
         {"section", "div", "table", "tbody", "tr", "td", "th", "ul", "li", "svg", "details"}) {
      const auto count = [&](const std::string& lead) {
        size_t n = 0;
        for (size_t at = 0; (at = html.find(lead, at)) != std::string::npos; at += lead.size())
          n += html.find_first_of(" >", at + lead.size()) == at + lead.size();
        return n;
      };
      EXPECT_EQ(count("<" + std::string(tag)), count("</" + std::string(tag))) << tag;
    }
  }
}

TEST(GateHtml, DrawsBothLedgersOnOneScale) {
  const std::string html = RenderGateHtml(RegressedGate());
  // 164.2 of 202.1 ms.
  EXPECT_NE(html.find("<div style=\"width:81.25%\">"), std::string::npos);
  EXPECT_NE(html.find("<div style=\"width:100.00%\">"), std::string::npos);
}

TEST(GateHtml, PutsWhatPreventsTheComparisonFirst) {
  const std::string html = RenderGateHtml(NotComparableGate());
  EXPECT_NE(html.find("prevents the comparison"), std::string::npos);
  EXPECT_EQ(html.find("id=\"verdicts\""), std::string::npos);
}

TEST(TrendChart, MarksChangesAndNamesTheRules) {
  const Trend trend = RegressedGate().trends[0];
  EXPECT_DOUBLE_EQ(FirstLevel(trend), 158.4e6);
  EXPECT_THAT(TrendSteps(trend), ElementsAre(HasSubstr("158 ms to 163 ms at run 10 ("),
                                             HasSubstr("fires since then: mixed-precision-off.")));
  EXPECT_THAT(TrendChart("t", trend), HasSubstr("run 10: +3.2 %"));
}

TEST(TrendChart, SurvivesFewAndOddPoints) {
  Trend trend;
  EXPECT_THAT(TrendChart("t", trend), IsEmpty());
  trend.points = {{"a", 0}, {"b", 0}};
  EXPECT_THAT(TrendChart("t", trend), HasSubstr("<svg"));
  trend.points = {{"a", -1}, {"b", std::numeric_limits<double>::quiet_NaN()}, {"c", 4}};
  trend.changes = {{9, 1, 2, {}}, {1, 0, 3, {}}};
  const std::string svg = TrendChart("t", trend);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace dladvisor::test
