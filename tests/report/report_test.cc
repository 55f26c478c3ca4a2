#include "src/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const ReportOptions kOptions{"gpt3_750m_naive", "", "dladvisor 0.1.0", false};

std::string Render(FakeRun run, const Advice& advice, ReportFormat format,
                   const ReportOptions& options = kOptions) {
  const Database db = run.Build();
  return RenderReport(BuildReport(db, advice, options), format);
}

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

TEST_P(EveryFormat, IsHonestWhenNothingFired) {
  Advice advice;
  advice.coverage = {11, 9, 0};
  const std::string report = Render(TypicalRun(), advice, GetParam());
  EXPECT_THAT(report, HasSubstr("no rule found what to fix (9 of 11 rules could look)"));
}

TEST_P(EveryFormat, SurvivesRelationsThatAreMissing) {
  for (const Schema& schema : ReportSchemas()) {
    FakeRun run = TypicalRun();
    const Database db = run.Build({schema.name});
    const Advice advice = TypicalAdvice();
    EXPECT_FALSE(RenderReport(BuildReport(db, advice, kOptions), GetParam()).empty()) << schema.name;
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
  for (const char* expected :
       {"Recommendations", "idle_share &gt; :min_idle", "Op Type Summary", "Group Ops",
        "Kernels by Iteration", "Time Ledger", "communication/exposed", "Some events were lost.",
        "triton_poi_fused_0", "forward ", "capture-distorted", "memory.used_share", "SELECT wall_ns FROM run",
        "4 of 6 rules could look, 1 have nothing of their kind in the profile"})
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

TEST(Text, FitsTheTerminalAndHoldsNoEscapesUnlessColored) {
  const std::string text = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kText);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }), 100)
        << line;
  EXPECT_LE(count, 70u);
  ReportOptions color = kOptions;
  color.color = true;
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
