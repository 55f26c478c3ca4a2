// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Without(std::string html, const std::string& element) {
  const std::string open = "<" + element, close = "</" + element + ">";
  for (size_t at; (at = html.find(open)) != std::string::npos;)
    html.erase(at, html.find(close, at) + close.size() - at);
  return html;
}

// The first group of every match.
std::vector<std::string> Matches(const std::string& text, const RE2& pattern) {
  std::vector<std::string> matches;
  re2::StringPiece rest(text);
  for (std::string match; RE2::FindAndConsume(&rest, pattern, &match);) matches.push_back(match);
  return matches;
}

TEST(Html, EscapesEverythingFromTheProfile) {
  Advice advice = TypicalAdvice();
  for (std::string* text :
       {&advice.findings[0].problem.text, &advice.findings[0].title, &advice.findings[0].rule,
        &advice.findings[0].recommendation[0].text, &advice.findings[0].evidence_sql, &advice.rules[0].title,
        &advice.rules[0].note, &advice.findings[2].capture[0]})
    *text += kHostileName;
  ReportOptions options{kHostileName, kHostileName, kHostileName, false};
  FakeRun run = TypicalRun();
  run.Give("diagnostic", {{{"profile", int64_t{0}}, {"n", int64_t{1}}, {"text", kHostileName}}});
  const std::string html = Render(run, advice, ReportFormat::kHtml, options);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\xE2\x80\xAE")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_THAT(html, Not(HasSubstr("\xff")));
  EXPECT_EQ(Count(html, "</script>"), 1u);
  EXPECT_THAT(html, HasSubstr("title=\"&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;"));
  EXPECT_THAT(html, HasSubstr("{{headline}}"));
  EXPECT_THAT(html, Not(HasSubstr("href=\"javascript:")));
}

TEST(Html, HasNoSectionWithoutContent) {
  const std::string html = Render(FakeRun(), ReportFormat::kHtml);
  for (const char* section : {"Resource Usage Breakdown", "Top 10 GPU Ops", "Iteration Summary", ">no rows<"})
    EXPECT_THAT(html, Not(HasSubstr(section)));
  EXPECT_THAT(html, HasSubstr("Without rows: "));
  const std::string typical = Render(TypicalRun(), ReportFormat::kHtml);
  EXPECT_THAT(typical, HasSubstr("Resource Usage Breakdown"));
  EXPECT_THAT(typical, HasSubstr("Top 10 GPU Ops"));
}

TEST(Html, IsOneWellFormedFileWithoutRemoteResourcesOrHandlers) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  std::string names = html;  // without the values of attributes
  RE2::GlobalReplace(&names, R"re("[^"<>]*")re", R"("")");
  EXPECT_FALSE(RE2::PartialMatch(names, R"(<[a-z]+[^>]*\s(src|on[a-z]+)\s*=)"));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  for (const std::string& target : Matches(html, R"re(url\(([^)]*)\))re"))
    EXPECT_EQ(target.front(), '#') << target;
  // Every element that is opened is closed, in order.
  const std::string body = Without(Without(html, "style"), "script");
  std::vector<std::string> open;
  re2::StringPiece rest(body);
  const RE2 tag(R"re(<(/?)([a-zA-Z0-9]+)((?:"[^"]*"|[^">])*)>)re");
  for (std::string slash, name, attributes; RE2::FindAndConsume(&rest, tag, &slash, &name, &attributes);) {
    if (name == "meta" || name == "br" || name == "wbr" || attributes.ends_with('/')) continue;
    if (slash.empty()) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      ASSERT_EQ(open.back(), name) << rest.substr(0, 200);
      open.pop_back();
    }
  }
  EXPECT_THAT(open, ::testing::IsEmpty());
}

TEST(Html, IdsAreUniqueAndLinksFindTheirTargets) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  std::set<std::string> ids;
  for (const std::string& id : Matches(html, R"re(\sid="([^"]+)")re"))
    EXPECT_TRUE(ids.insert(id).second) << id;
  for (const std::string& id : Matches(html, R"re(href="#([^"]+)")re")) EXPECT_TRUE(ids.contains(id)) << id;
  for (const std::string& labels : Matches(html, R"re(aria-labelledby="([^"]+)")re")) {
    std::istringstream names(labels);
    for (std::string id; names >> id;) EXPECT_TRUE(ids.contains(id)) << id;
  }
}

TEST(Html, IsCompleteWithoutScript) {
  const std::string html = Without(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml), "script");
  for (const char* expected :
       {"Recommendations", "Idle share", "more than ", "Op Type Summary", "Group Ops", "Kernels by Iteration",
        "Time Ledger", "communication/exposed", "Some events were lost.", "triton_poi_fused_0", "forward ",
        "capture-distorted", "memory.used_share", "SELECT nullif(coalesce(program_ns, wall_ns), 0) FROM run",
        "4 of 6 rules could look, 1 has nothing of its kind in the profile"})
    EXPECT_THAT(html, HasSubstr(expected));
  EXPECT_GE(Count(html, "<svg"), 6u);
  EXPECT_EQ(Count(html, "role=\"img\""), Count(html, "<desc"));
}

TEST(Html, NestsWhatAnotherFindingExplains) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<article class=\"advice error depth-0\" id=\"finding-cpu-launch-starvation-"));
  EXPECT_THAT(html, HasSubstr("<article class=\"advice warning depth-1\" id=\"finding-gpu-underutilized"));
  EXPECT_THAT(html, HasSubstr("--trace=cuda,nvtx,osrt --cuda-memory-usage=true"));
}

TEST(Html, LeadsFromTheHeadlineToItsFinding) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  const auto target = Matches(html, R"re(<h1[^>]*>[^<]* <a href="#(finding-[^"]+)">first, )re");
  ASSERT_EQ(target.size(), 1u);
  EXPECT_THAT(html, HasSubstr("id=\"" + target[0] + "\""));
}

TEST(Html, DrawsASavingAgainstTheStep) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<i style=\"width:12.50%\"></i><i class=\"maybe\" style=\"width:29.17%\">"));
  EXPECT_THAT(html, HasSubstr("12 – 42 % of a step of 12.0 ms"));
}

TEST(Html, RunsSharesUpAndKeepsNanosecondsForCsv) {
  FakeRun run = TypicalRun();
  run.Give("op_type", {{{"rank", int64_t{0}}, {"op_type", "a"}, {"gpu_ns", int64_t{30'000'000'000}}},
                       {{"rank", int64_t{0}}, {"op_type", "b"}, {"gpu_ns", int64_t{20'000'000'000}}},
                       {{"rank", int64_t{0}}, {"op_type", "c"}, {"gpu_ns", int64_t{10'000'000'000}}}});
  const std::string html = Render(run, ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"num\">Cumulative</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"num\" data-unit=\"ns\">GPU Time</th>"));
  EXPECT_THAT(html, HasSubstr("data-v=\"30000000000\">30.0 s<"));
}

// A job whose culprit waits and another GPU that does not.
TEST(Html, SaysWhatBucketsAre) {
  EXPECT_THAT(Render(TypicalRun(), Advice{}, ReportFormat::kHtml),
              HasSubstr("idle/launch <small>launching kernels</small>"));
}

TEST(Html, SetsATypicalGpuBesideTheOneThatSetsThePace) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{3}}, {"gpus", int64_t{3}}}});
  for (int64_t rank = 0; rank < 3; ++rank) {
    const auto give = [&](const char* bucket, int64_t ns) {
      run.Give("time_ledger", {{{"rank", rank}, {"device", int64_t{0}}, {"bucket", bucket}, {"ns", ns}}});
    };
    give("compute/other", 60'000'000 + rank * 10'000'000);
    give("communication/exposed", 40'000'000 - rank * 10'000'000);
    run.Give("rank", {{{"rank", rank}, {"device", int64_t{0}}, {"own_ns", 60'000'000 + rank * 10'000'000}}});
    run.Give("collective_wait", {{{"rank", rank},
                                  {"device", int64_t{0}},
                                  {"collective", "AllReduce"},
                                  {"exposed_waiting_ns", 15'000'000.0}}});
  }
  const std::string html = Render(run, ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("Sets the pace: rank "));
  EXPECT_THAT(html, HasSubstr("Typical: rank 1, GPU 0"));
  EXPECT_THAT(html, HasSubstr("communication/waiting</span><b>15.0 ms"));
  EXPECT_THAT(html, HasSubstr("communication/transfer</span><b>15.0 ms"));
  EXPECT_THAT(html, HasSubstr("also while they wait"));
}

TEST(Html, ShowsCodeToPasteLineByLine) {
  Advice advice = TypicalAdvice();
  EXPECT_THAT(Render(TypicalRun(), advice, ReportFormat::kHtml), Not(HasSubstr("<pre class=\"code\"")));
  advice.findings[0].code = "with torch.no_grad():\n    y = model(x < 1)";
  EXPECT_THAT(Render(TypicalRun(), advice, ReportFormat::kHtml),
              HasSubstr("<code>with torch.no_grad():\n    y = model(x &lt; 1)</code></pre>"));
}

TEST(Html, ShowsUnknownTensorCoreUseAsUnknown) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<span class=\"sr\">unknown</span>"));
  EXPECT_THAT(html, HasSubstr("Use not known"));
}

}  // namespace
}  // namespace dladvisor::test
