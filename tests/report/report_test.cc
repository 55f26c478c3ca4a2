// SPDX-License-Identifier: Apache-2.0
#include "src/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "src/report/model/queries.h"
#include "src/report/sections/finding_groups.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
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

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class EveryFormat : public ::testing::TestWithParam<ReportFormat> {};

TEST_P(EveryFormat, HoldsTheFiguresOfTheDashboard) {
  std::string report = Render(TypicalRun(), TypicalAdvice(), GetParam());
  if (GetParam() == ReportFormat::kMarkdown) std::erase(report, '\\');
  for (const char* expected : {"Wall Clock Time", "Tensor Core Kernel Efficiency", "GPU Utilization",
                               "Average Iteration Time", "gpt3_750m_naive", "RTX A6000", "460.73.01",
                               "PyTorch 1.9.0a0+df837d0", "Total Iterations", "CUDA graph"})
    EXPECT_THAT(report, HasSubstr(expected));
  if (GetParam() == ReportFormat::kJson) return;
  for (const char* expected : {"1.64 min", "42.5 %", "28.1 %", "3,073,524,010", "941,545,051", "29,200",
                               "12.0 ms", "1.50 ms – 5.00 ms per step"})
    EXPECT_THAT(report, HasSubstr(expected));
}

TEST_P(EveryFormat, SaysTheLossAndWhatToDoFirst) {
  EXPECT_THAT(
      Render(TypicalRun(), TypicalAdvice(), GetParam()),
      HasSubstr("9.00 ms of 12.0 ms per step are lost (75 %); first, capture the step in a CUDA graph"));
}

TEST_P(EveryFormat, IsTheSameBytesForTheSameInput) {
  EXPECT_EQ(Render(TypicalRun(), TypicalAdvice(), GetParam()),
            Render(TypicalRun(), TypicalAdvice(), GetParam()));
}

TEST_P(EveryFormat, SaysThatNoGpuWorkWasRecorded) {
  FakeRun run;
  run.Give("run",
           {{{"name", "x"}, {"ranks", int64_t{0}}, {"gpus", int64_t{0}}, {"wall_ns", int64_t{5'000'000}}}});
  run.Give("profile", {{{"profile", int64_t{0}},
                        {"kernels", int64_t{0}},
                        {"copies", int64_t{0}},
                        {"sets", int64_t{0}},
                        {"graph_launches", int64_t{0}},
                        {"missing_capture", "--trace=cuda,nvtx"}}});
  EXPECT_THAT(Render(run, Advice{}, GetParam()),
              HasSubstr("No GPU work was recorded; profile again with --trace=cuda,nvtx."));
}

TEST_P(EveryFormat, AsksForNoOtherTraceOfAProgramThatCalledNoGpu) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{0}}, {"gpus", int64_t{0}}}});
  run.Give("profile", {{{"profile", int64_t{0}},
                        {"kernels", int64_t{0}},
                        {"copies", int64_t{0}},
                        {"sets", int64_t{0}},
                        {"graph_launches", int64_t{0}},
                        {"api_calls", int64_t{0}},
                        {"gpu_traced", int64_t{1}},
                        {"notes", "CUDA was traced, and the program made no CUDA call."}}});
  Advice advice;
  Finding unknown;
  unknown.rule = "idle";
  unknown.outcome = Outcome::kUnknown;
  unknown.capture = {"--trace=cuda,nvtx"};
  advice.findings = {unknown};
  const std::string report = Render(run, advice, GetParam());
  EXPECT_THAT(report, HasSubstr("the program made no CUDA call while it was traced"));
  EXPECT_THAT(report, Not(HasSubstr("profile again with")));
}

TEST_P(EveryFormat, DoesNotAskForAGpuThatTheProgramDoesNotUse) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{0}},
                    {"gpus", int64_t{0}},
                    {"kind", "host"},
                    {"kind_evidence", "range gloo:all_reduce"}}});
  run.Give("profile",
           {{{"profile", int64_t{0}}, {"kernels", int64_t{0}}, {"missing_capture", "--trace=cuda,nvtx"}}});
  const std::string report = Render(run, Advice{}, GetParam());
  EXPECT_THAT(report, HasSubstr("The program uses no GPU."));
  Advice advice;
  Finding note;
  note.rule = "host-program";
  note.title = "The program runs on the host alone";
  note.severity = Severity::kInfo;
  note.outcome = Outcome::kFired;
  note.recommendation = {"Speed up aten::mm. Compile the model."};
  advice.findings = {note};
  EXPECT_THAT(Render(run, advice, GetParam()),
              HasSubstr("The program uses no GPU; first, speed up aten::mm."));
  EXPECT_THAT(report, Not(HasSubstr("profile again with --trace=cuda,nvtx")));
}

TEST_P(EveryFormat, IsHonestWhenNothingFired) {
  Advice advice;
  advice.coverage = {11, 9, 0};
  const std::string report = Render(TypicalRun(), advice, GetParam());
  EXPECT_THAT(report, HasSubstr("no rule found what to fix (9 of 11 rules could look)"));
}

TEST_P(EveryFormat, SurvivesRelationsThatAreMissing) {
  std::set<std::string> relations;
  for (const FigureQuery& query : FigureQueries()) relations.insert(query.relation);
  for (const TableQuery& query : TableQueries()) relations.insert(query.relation);
  for (const std::string& relation : relations) {
    FakeRun run = TypicalRun();
    const Database db = run.Build({relation});
    const Advice advice = TypicalAdvice();
    EXPECT_FALSE(RenderReport(BuildReport(db, advice, kOptions), GetParam()).empty()) << relation;
  }
  const Advice none;
  const Database empty;
  EXPECT_THAT(RenderReport(BuildReport(empty, none, kOptions), GetParam()),
              HasSubstr("No GPU work was recorded"));
}

TEST_P(EveryFormat, ShowsTheBanner) {
  ReportOptions options = kOptions;
  options.banner = "2 of 8 files could not be read";
  EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), GetParam(), options), HasSubstr(options.banner));
}

std::string FormatName(const ::testing::TestParamInfo<ReportFormat>& format) {
  static constexpr const char* kNames[] = {"Html", "Markdown", "Json", "Text"};
  return kNames[static_cast<size_t>(format.param)];
}

INSTANTIATE_TEST_SUITE_P(Report, EveryFormat,
                         ::testing::Values(ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kJson,
                                           ReportFormat::kText),
                         FormatName);

TEST(Model, EveryQueryRunsOnTheContract) {
  FakeRun run;
  const Database db = run.Build();
  const Advice advice;
  const ReportModel model = BuildReport(db, advice, kOptions);
  for (const Figure& figure : model.figures)
    EXPECT_NO_THROW(db.Query(figure.sql)) << figure.id << ": " << figure.sql;
  for (const ReportTable& table : model.tables)
    EXPECT_NO_THROW(db.Query(table.sql)) << table.id << ": " << table.sql;
}

TEST(Model, NullFiguresSayWhyTheyAreUnknown) {
  FakeRun run = TypicalRun();
  const Database db = run.Build();
  const Advice advice = TypicalAdvice();
  const ReportModel model = BuildReport(db, advice, kOptions);
  const auto figure = [&](const std::string& id) {
    return *std::find_if(model.figures.begin(), model.figures.end(),
                         [&](const Figure& f) { return f.id == id; });
  };
  EXPECT_TRUE(IsNull(figure("memory_used_share").value));
  EXPECT_THAT(figure("memory_used_share").unknown_because,
              HasSubstr("profile with --cuda-memory-usage=true"));
  EXPECT_TRUE(IsNull(figure("profiler").value));
  EXPECT_EQ(figure("profiler").unknown_because, "the profile does not say");
  EXPECT_EQ(figure("gpu_utilization").unknown_because, "");
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_THAT(RenderReport(model, format), HasSubstr("the profile does not say"));
}

TEST(Model, LossIsThatOfTheSlowestRankAndItsBusiestGpu) {
  FakeRun run = TypicalRun();
  const auto bucket = [](int64_t rank, int64_t device, const char* name, double per_step) {
    return Row{{"rank", rank},
               {"device", device},
               {"bucket", name},
               {"ns", static_cast<int64_t>(per_step * 3)},
               {"ns_per_step", per_step}};
  };
  run.Give("time_ledger", {bucket(1, 0, "compute/other", 10e6), bucket(1, 0, "idle/sync", 4e6),
                           bucket(1, 1, "compute/other", 1e6), bucket(1, 1, "idle/sync", 13e6)});
  EXPECT_THAT(Render(run, TypicalAdvice(), ReportFormat::kText),
              HasSubstr("4.00 ms of 14.0 ms per step are lost"));
}

TEST(Model, WithoutStepsTheLossIsOfTheProfiledTime) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{1}}, {"gpus", int64_t{1}}}});
  run.Give("time_ledger", {{{"rank", int64_t{0}},
                            {"device", int64_t{0}},
                            {"bucket", "compute/other"},
                            {"ns", int64_t{30'000'000}}},
                           {{"rank", int64_t{0}},
                            {"device", int64_t{0}},
                            {"bucket", "idle/unknown"},
                            {"ns", int64_t{10'000'000}}},
                           {{"rank", int64_t{0}}, {"device", int64_t{0}}, {"bucket", "idle/os"}}});
  const std::string report = Render(run, Advice{}, ReportFormat::kText);
  EXPECT_THAT(report, HasSubstr("10.0 ms of the profiled 40.0 ms are lost (25 %)"));
  EXPECT_THAT(report, HasSubstr("unknown (no iterations were detected)"));
}

TEST(Model, CountsRowsBeyondTheLimit) {
  FakeRun run = TypicalRun();
  std::vector<Row> gaps;
  for (int64_t i = 0; i < 1500; ++i)
    gaps.push_back({{"rank", int64_t{0}}, {"name", "call" + std::to_string(i)}, {"total_ns", i}});
  run.Give("api_name", gaps);
  const std::string html = Render(run, TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("200 of 1,500 rows shown; dladvisor query gives all."));
  EXPECT_THAT(html, HasSubstr("call1499"));
  EXPECT_THAT(html, Not(HasSubstr("call1000<")));
}

TEST(Html, EscapesEverythingFromTheProfile) {
  Advice advice = TypicalAdvice();
  for (std::string* text : {&advice.findings[0].problem, &advice.findings[0].title, &advice.findings[0].rule,
                            &advice.findings[0].recommendation[0], &advice.findings[0].evidence_sql,
                            &advice.rules[0].title, &advice.rules[0].note, &advice.findings[2].capture[0]})
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
  for (const char* expected : {"Recommendations", "idle_share &gt; :min_idle", "Op Type Summary", "Group Ops",
                               "Kernels by Iteration", "Time Ledger", "communication/exposed",
                               "Some events were lost.", "triton_poi_fused_0", "forward ",
                               "capture-distorted", "memory.used_share", "SELECT nullif(wall_ns, 0) FROM run",
                               "4 of 6 rules could look, 1 has nothing of its kind in the profile"})
    EXPECT_THAT(html, HasSubstr(expected));
  EXPECT_GE(Count(html, "<svg"), 6u);
  EXPECT_EQ(Count(html, "role=\"img\""), Count(html, "<desc"));
}

TEST(Html, NestsWhatAnotherFindingExplains) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<tbody class=\"finding error depth-0\" id=\"finding-0\">"));
  EXPECT_THAT(html, HasSubstr("<tbody class=\"finding warning depth-1\" id=\"finding-1\">"));
  EXPECT_THAT(html, HasSubstr("--trace=cuda,nvtx,osrt --cuda-memory-usage=true"));
}

TEST(Html, ShowsUnknownTensorCoreUseAsUnknown) {
  const std::string html = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<span class=\"sr\">unknown</span>"));
  EXPECT_THAT(html, HasSubstr("Use not known"));
}

TEST(Markdown, KeepsHostileNamesInTheirCell) {
  const std::string markdown = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kMarkdown);
  std::istringstream lines(markdown);
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("onerror") == std::string::npos) continue;
    found = true;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 7) << line;
    EXPECT_THAT(line, HasSubstr("941,545,051"));
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(markdown, Not(HasSubstr("<img")));
  EXPECT_THAT(markdown, Not(HasSubstr("[x](http")));
  EXPECT_THAT(markdown, Not(HasSubstr(" @user")));
  EXPECT_THAT(markdown, HasSubstr("<code>torch.compile("));
}

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

TEST(Text, SaysHowManyFindingsAreLeftOut) {
  Advice advice;
  for (int i = 0; i < 10; ++i)
    advice.findings.push_back(MakeFinding(fmt::format("rule-{}", i), Severity::kWarning, Outcome::kFired));
  const auto text = [&] { return Render(TypicalRun(), advice, ReportFormat::kText); };
  EXPECT_THAT(
      text(),
      HasSubstr(
          "… 2 more findings are left out here: `dladvisor report PROFILE -o report.html` shows them."));
  advice.findings.pop_back();
  EXPECT_THAT(text(), HasSubstr("… 1 more finding is left out here"));
  advice.findings.pop_back();
  EXPECT_THAT(text(), Not(HasSubstr("left out")));
}

TEST(Text, ShowsTheLedgerLargestFirst) {
  const std::string text = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kText);
  const size_t at = text.find("Time Ledger of a Step\n");
  ASSERT_NE(at, std::string::npos);
  const std::string ledger = text.substr(at, text.find("\n\n", at) - at);
  EXPECT_EQ(Count(ledger, "\n"), 6u);
  EXPECT_TRUE(RE2::PartialMatch(ledger, R"(idle/launch +41.7 % +5.00 ms +█{17}\n +idle/sync +20.8 % )"))
      << ledger;
}

TEST(Text, FitsTheTerminalAndHoldsNoEscapesUnlessColored) {
  const std::string text = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kText);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }), 100)
        << line;
  EXPECT_LE(count, 80u);
  ReportOptions color = kOptions;
  color.text.color = true;
  EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kText, color), HasSubstr("\x1b[1m"));
}

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
