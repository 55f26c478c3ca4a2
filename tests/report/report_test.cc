// SPDX-License-Identifier: Apache-2.0
#include "src/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "src/report/model/queries.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A report on one line, without its links.
std::string Words(std::string report) {
  RE2::GlobalReplace(&report, "</?a[^>]*>", "");
  RE2::GlobalReplace(&report, "\n", " ");
  return report;
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
  for (const char* expected : {"1.64 min", "42.5 %", "28.1 %", "3.07 s", "942 ms", "29,200", "12.0 ms",
                               "1.50 ms – 5.00 ms per step"})
    EXPECT_THAT(report, HasSubstr(expected));
}

TEST_P(EveryFormat, SaysTheLossAndWhatToDoFirst) {
  EXPECT_THAT(Words(Render(TypicalRun(), TypicalAdvice(), GetParam())),
              HasSubstr("9.00 ms of 12.0 ms per step are lost (75 %), 5.00 ms of it to launching kernels; "
                        "first, capture the "
                        "step in a CUDA graph"));
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
  Finding lost;
  lost.rule = "no-gpu-work";
  lost.outcome = Outcome::kFired;
  lost.severity = Severity::kWarning;
  lost.recommendation = {"Profile with a newer version of the profiler."};
  advice.findings = {lost};
  EXPECT_THAT(Render(run, advice, GetParam()), Not(HasSubstr("the program made no CUDA call while")))
      << "it may have been lost";
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
  EXPECT_THAT(Words(Render(run, advice, GetParam())),
              HasSubstr("The program uses no GPU; first, speed up aten::mm."));
  EXPECT_THAT(report, Not(HasSubstr("profile again with --trace=cuda,nvtx")));
  EXPECT_THAT(Words(report), Not(HasSubstr("no GPU work was recorded; profile with")));
}

TEST_P(EveryFormat, AsksForMorePassesFirstWhereOneColdOneSaysLittle) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{0}}, {"gpus", int64_t{0}}, {"kind", "host"}}});
  run.Give("profile", {{{"profile", int64_t{0}}, {"kernels", int64_t{0}}}});
  Finding mode;
  mode.rule = "training-mode-on-host";
  mode.severity = Severity::kWarning;
  mode.outcome = Outcome::kFired;
  mode.recommendation = {"Call model.eval() once."};
  Finding once;
  once.rule = "single-host-pass";
  once.severity = Severity::kInfo;
  once.outcome = Outcome::kFired;
  once.recommendation = {"Profile several passes behind a warm-up."};
  once.lets = {{"first", Value(int64_t{1}), Unit::kNone}};
  Advice advice;
  advice.findings = {mode, once};
  EXPECT_THAT(Words(Render(run, advice, GetParam())),
              HasSubstr("first, profile several passes behind a warm-up; then call model.eval() once."));
  advice.findings[1].lets[0].value = Value(int64_t{0});
  EXPECT_THAT(Words(Render(run, advice, GetParam())),
              HasSubstr("first, call model.eval() once; then profile several passes behind a warm-up."));
}

TEST_P(EveryFormat, DoesNotSayThatAnAcceleratorIsNoGpuInUse) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{0}}, {"gpus", int64_t{0}}, {"kind", "accelerator"}}});
  run.Give("profile", {{{"profile", int64_t{0}}, {"kernels", int64_t{0}}}});
  Advice advice;
  Finding note;
  note.rule = "other-accelerator";
  note.title = "The work is on an accelerator that is not read";
  note.severity = Severity::kInfo;
  note.outcome = Outcome::kFired;
  note.recommendation = {"Read what the accelerator does with its own tools. Here only the host is shown."};
  advice.findings = {note};
  const std::string report = Words(Render(run, advice, GetParam()));
  EXPECT_THAT(report, HasSubstr("The work is on an accelerator that is not read; first, read what the "
                                "accelerator does with its own tools."));
  EXPECT_THAT(report, Not(HasSubstr("uses no GPU")));
}

TEST_P(EveryFormat, IsHonestWhenNothingFired) {
  Advice advice;
  advice.coverage = {11, 9, 0};
  EXPECT_THAT(Words(Render(TypicalRun(), advice, GetParam())),
              HasSubstr("no rule found what to fix (9 of 11 rules could look)"));
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

TEST(Model, MfuAsksForShapesOnlyWhereAProfilerRecordsThem) {
  const auto why = [](FakeRun run) {
    const Database db = run.Build();
    const ReportModel model = BuildReport(db, Advice(), kOptions);
    return std::find_if(model.figures.begin(), model.figures.end(),
                        [](const Figure& f) { return f.id == "mfu"; })
        ->unknown_because;
  };
  const Row gpu{{"rank", int64_t{0}}, {"device", int64_t{0}}}, run{{"steps", int64_t{1}}};
  const auto of_framework = [&](Value framework) {
    return FakeRun()
        .Give("run", {run})
        .Give("gpu", {gpu})
        .Give("system", {{{"framework_name", std::move(framework)}}});
  };
  EXPECT_THAT(why(of_framework("PyTorch")), HasSubstr("record_shapes=True"));
  EXPECT_THAT(why(of_framework({})), HasSubstr("only of PyTorch"));
  EXPECT_EQ(why(FakeRun().Give("run", {run})), "no GPU work was recorded");
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
  EXPECT_THAT(report, HasSubstr("10.0 ms of the analysed 40.0 ms are lost (25 %)"));
  EXPECT_THAT(report, HasSubstr("unknown (no iterations were detected)"));
}

TEST(Model, CountsRowsBeyondTheLimit) {
  FakeRun run = TypicalRun();
  std::vector<Row> gaps;
  for (int64_t i = 0; i < 1500; ++i)
    gaps.push_back({{"rank", int64_t{0}}, {"name", "call" + std::to_string(i)}, {"total_ns", i}});
  run.Give("api_name", gaps);
  const std::string html = Render(run, TypicalAdvice(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("100 of 1,500 rows shown; dladvisor query gives all."));
  EXPECT_THAT(html, HasSubstr("call1499"));
  EXPECT_THAT(html, Not(HasSubstr("call1000<")));
}

TEST(Markdown, KeepsHostileNamesInTheirCell) {
  const std::string markdown = Render(TypicalRun(), TypicalAdvice(), ReportFormat::kMarkdown);
  std::istringstream lines(markdown);
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("onerror") == std::string::npos) continue;
    found = true;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 8) << line;
    EXPECT_THAT(line, HasSubstr("942 ms"));
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(markdown, Not(HasSubstr("<img")));
  EXPECT_THAT(markdown, Not(HasSubstr("[x](http")));
  EXPECT_THAT(markdown, Not(HasSubstr(" @user")));
  EXPECT_THAT(markdown, HasSubstr("<code>torch.compile("));
}

TEST_P(EveryFormat, ShowsEveryRecommendation) {
  Advice advice;
  Finding finding = MakeFinding("copies", Severity::kWarning, Outcome::kFired);
  finding.recommendation = {"Copy from pinned memory.", "Else copy beforehand."};
  advice.findings = {std::move(finding)};
  const std::string page = Render(TypicalRun(), advice, GetParam());
  EXPECT_THAT(page, HasSubstr("Copy from pinned memory."));
  EXPECT_THAT(page, HasSubstr("Else copy beforehand."));
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
  EXPECT_TRUE(RE2::PartialMatch(
      ledger, R"(idle/launch +41.7 % +5.00 ms  launching kernels +█{6}\n +idle/sync +20.8 % )"))
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

}  // namespace
}  // namespace dladvisor::test
