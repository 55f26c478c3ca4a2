// SPDX-License-Identifier: Apache-2.0
// What is cut short: tables at kMaxReportRows, details at the ranks that are kept of many. Figures, charts
// and sentences count all of it, or say that they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "src/report/model/report_model.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using I = int64_t;

std::string Html(const FakeRun& run) { return Render(run, ReportFormat::kHtml); }

// From the first `begin` on to the first `end` after it.
std::string Part(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at, text.find(end, at) - at);
}

// A job of many ranks, of which details were kept of the first ones alone.
FakeRun LargeJob(I ranks, I detailed) {
  FakeRun run;
  run.Give("run", {{{"name", "job"}, {"ranks", ranks}, {"gpus", ranks}, {"kernel_ns", ranks * 200'000'000}}});
  for (I rank = 0; rank < ranks; ++rank) {
    run.Give("profile", {{{"profile", rank}, {"path", "rank"}, {"format", "nsys"}, {"kernels", I{9}}}});
    run.Give("gpu", {{{"rank", rank},
                      {"device", I{0}},
                      {"kernels", I{9}},
                      {"kernel_ns", I{200'000'000}},
                      {"tensor_core_ns", I{120'000'000}},
                      {"tensor_core_unknown_ns", I{30'000'000}},
                      {"eligible_ns", I{150'000'000}},
                      {"eligible_unknown_ns", I{10'000'000}}}});
  }
  for (I rank = 0; rank < detailed; ++rank) {
    run.Give("op", {{{"rank", rank}, {"op", "/linear"}, {"op_type", "linear"}, {"gpu_ns", I{200'000'000}}}});
    run.Give("op_kernel",
             {{{"rank", rank}, {"op", "/linear"}, {"kernel", "gemm"}, {"gpu_ns", I{200'000'000}}}});
    run.Give("kernel_name",
             {{{"rank", rank}, {"device", I{0}}, {"kernel", "gemm"}, {"total_ns", I{200'000'000}}}});
    run.Give("diagnostic", {{{"profile", rank}, {"n", I{0}}, {"severity", I{1}}, {"text", "lost"}}});
  }
  return run;
}

TEST(ManyRanks, KernelTimeIsOfAll) {
  FakeRun run = LargeJob(256, 17);
  const Database db = run.Build();
  const Advice advice;
  const ReportModel model = BuildReport(db, advice, {});
  EXPECT_EQ(FigureNumber(model, "total_kernel_time"), 51.2e9);
  const std::string card =
      Part(RenderReport(model, ReportFormat::kHtml), "id=\"card-kernel_gpu_time\"", "</section>");
  EXPECT_THAT(card, HasSubstr("51.2 s"));
  EXPECT_THAT(card, AllOf(HasSubstr("30.7 s"), HasSubstr("60.0 %"))) << "using tensor cores";
  EXPECT_THAT(card, AllOf(HasSubstr("5.12 s"), HasSubstr("10.0 %"))) << "eligible, not using";
  EXPECT_THAT(card, AllOf(HasSubstr("7.68 s"), HasSubstr("15.0 %"))) << "not known, and not eligible";
  EXPECT_THAT(card, Not(HasSubstr("Of rank")));
}

TEST(ManyRanks, DetailsSayOfHowManyTheyAre) {
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText}) {
    const std::string top = Part(Render(LargeJob(256, 17), format), "Top 10 GPU Ops", "/linear");
    EXPECT_THAT(top, HasSubstr("Of 17 of 256 ranks.")) << top;
  }
  FakeRun run = LargeJob(256, 17);
  const Database db = run.Build();
  const Advice advice;
  const ReportModel model = BuildReport(db, advice, {});
  for (const char* id : {"top_ops", "ops", "op_kernels", "kernels"})
    EXPECT_EQ(FindTable(model, id)->scope, "Of 17 of 256 ranks.") << id;
  EXPECT_EQ(FindTable(model, "diagnostics")->scope, "Of 17 of 256 profiles.");
  EXPECT_EQ(FindTable(model, "gpus")->scope, "");
}

TEST(ManyRanks, FewRanksOfManyProfilesSaySoToo) {
  FakeRun run = LargeJob(12, 5);
  for (I profile = 12; profile < 24; ++profile)  // each rank was profiled twice
    run.Give("profile", {{{"profile", profile}, {"format", "kineto"}, {"duplicate_of", profile - 12}}});
  const Database db = run.Build();
  const Advice advice;
  EXPECT_EQ(FindTable(BuildReport(db, advice, {}), "top_ops")->scope, "Of ranks 0, 1, 2, 3, 4 of 12.");
}

// What is computed when it is first read is computed before only where it is read at all.
TEST(Report, ReadsOperatorsWhereTheProfilerRecordsThem) {
  for (const char* format : {"nsys", "kineto"}) {
    FakeRun run;
    run.Give("profile", {{{"profile", I{0}}, {"format", format}, {"kernels", I{9}}}});
    const std::set<std::string> relations = RelationsOfReport(run.Build());
    EXPECT_TRUE(relations.contains("op")) << format;
    EXPECT_EQ(relations.contains("operator"), std::string(format) == "kineto") << format;
  }
}

// What is a list and nothing else is read as far as it is shown, and counted to its end.
TEST(ListedTables, HoldTheRowsThatTheFormatShows) {
  FakeRun run = LargeJob(1, 1);
  for (I i = 0; i < 300; ++i)
    run.Give("op_efficiency", {{{"rank", I{0}},
                                {"op", "aten::mm"},
                                {"shapes", std::to_string(i)},
                                {"kind", "matrix"},
                                {"gpu_ns", 1000 + i}}});
  const Database db = run.Build();
  const Advice advice;
  for (const auto& [format, rows] : {std::pair(ReportFormat::kHtml, 100U), {ReportFormat::kJson, 300U}}) {
    ReportOptions options;
    options.shown_rows = RowsShown(format);
    const ReportModel model = BuildReport(db, advice, options);
    const ReportTable& products = *FindTable(model, "gemm");
    EXPECT_EQ(products.rows.rows.size(), rows);
    EXPECT_EQ(products.total_rows, 300U);
    EXPECT_EQ(CellText(products, 0, "shapes"), "299");
    if (format == ReportFormat::kHtml) {
      EXPECT_THAT(RenderReport(model, format), HasSubstr("100 of 300 rows shown"));
    }
  }
}

TEST(ManyRanks, CaptureHealthIsOfAllProfiles) {
  FakeRun run = LargeJob(1200, 1);
  run.Give("profile", {{{"profile", I{1200}}, {"truncated", I{1}}, {"missing_capture", "--trace=osrt"}}});
  const std::string html = Html(run);
  EXPECT_THAT(Part(html, "<h1", "</h1>"), HasSubstr("The profile is incomplete"));
  EXPECT_THAT(html, HasSubstr("add to the capture command: <code>--trace=osrt</code>"));
  EXPECT_THAT(Part(html, "Capture Health</h4>", "</details>"), HasSubstr("16 of 1,201 profiles shown"));
}

TEST(ManyRanks, SystemsBeyondTheFirstAreCounted) {
  FakeRun run = LargeJob(6, 6);
  for (I profile = 0; profile < 6; ++profile)
    run.Give("system", {{{"profile", profile}, {"driver_version", "535." + std::to_string(profile)}}});
  EXPECT_THAT(Html(run), HasSubstr("535.0; 535.1; 535.2; 535.3; and 2 more"));
}

TEST(ManyRanks, ThoseNotComparedAreCountedBeyondTheTable) {
  FakeRun run = LargeJob(1300, 1);
  for (I rank = 0; rank < 1300; ++rank)
    run.Give("rank", {{{"rank", rank},
                       {"device", I{0}},
                       {"profile", rank},
                       {"own_ns", rank < 1100 ? Value(1.0) : Value()},
                       {"excess_ns", rank < 1100 ? Value(1.0) : Value()},
                       {"not_compared", rank < 1100 ? Value() : Value("no steps")}}});
  EXPECT_THAT(Html(run), HasSubstr("200 of 1,300 GPUs are not compared with others: no steps (ranks 1100, "
                                   "1101, 1102, 1103, 1104, 1105, 1106, 1107, ...)."));
  EXPECT_THAT(Render(run, ReportFormat::kMarkdown), HasSubstr("8 of 1,300 rows shown"));
}

TEST(ManyRanks, LedgersAreDrawnWholeAndSayOfHowMany) {
  FakeRun run;
  run.Give("run", {{{"ranks", I{100}}, {"gpus", I{100}}}});
  for (I rank = 0; rank < 100; ++rank)
    for (int bucket = 0; bucket < 19; ++bucket)
      run.Give("time_ledger", {{{"rank", rank},
                                {"device", I{0}},
                                {"bucket", bucket == 0 ? "compute/other" : "idle/" + std::to_string(bucket)},
                                {"ns", I{1000}}}});
  const std::string html = Html(run);
  const std::string last = Part(html, "Time ledger of Rank 63, GPU 0", "</svg>");
  for (int bucket = 1; bucket < 19; ++bucket)
    EXPECT_THAT(last, HasSubstr("idle/" + std::to_string(bucket) + ":")) << bucket;
  EXPECT_THAT(Part(html, "id=\"time-ledger\"", "<svg"), HasSubstr("The first 64 of 100 GPUs are drawn."));
}

FakeRun Steps(I steps) {
  FakeRun run = TypicalRun();
  for (I step = 4; step < steps; ++step)
    run.Give("step", {{{"rank", I{0}},
                       {"step", step},
                       {"start_ns", step * 1'000'000},
                       {"end_ns", (step + 1) * 1'000'000},
                       {"duration_ns", step == steps - 1 ? I{90'000'000} : I{12'000'000}},
                       {"warmup", I{0}}}});
  return run;
}

TEST(ManyIterations, TheChartShowsAll) {
  const std::string chart = Part(Html(Steps(2500)), "id=\"iteration-summary-chart", "</svg>");
  EXPECT_THAT(chart, HasSubstr("Iterations 2496–2499"));
  EXPECT_THAT(chart, HasSubstr("31.5 ms on average, up to 90.0 ms"));
  EXPECT_THAT(chart, HasSubstr("each bar the mean of up to 16"));
}

TEST(ManyIterations, FewAreDrawnOneByOne) {
  const std::string chart = Part(Html(Steps(40)), "id=\"iteration-summary-chart", "</svg>");
  EXPECT_THAT(chart, AllOf(HasSubstr("Iteration 39: 90.0 ms"), HasSubstr("Iteration 0: 20.0 ms (warm-up)")));
  EXPECT_THAT(chart, Not(HasSubstr("each bar")));
}

FakeRun Log(I lines) {
  FakeRun run;
  run.Give("profile", {{{"profile", I{0}}, {"format", "training log"}, {"training_lines", lines}}});
  run.Give("training", {{{"profile", I{0}},
                         {"program", "Megatron-LM"},
                         {"lines", lines},
                         {"iterations", lines},
                         {"slow_lines", I{4}}}});
  for (I line = 0; line < lines; ++line)
    run.Give("training_log", {{{"profile", I{0}},
                               {"attempt", I{0}},
                               {"iteration", line + 1},
                               {"warmup", I{line < 2}},
                               {"elapsed_ns", line + 1 == lines ? 5e9 : 1e9},
                               {"cause", line == 0            ? Value("start-up")
                                         : line % 1000 == 999 ? Value("evaluation")
                                         : line + 3 > lines   ? Value("checkpoint")
                                                              : Value()}}});
  return run;
}

TEST(ManyIterations, OfALogAllAreDrawnAndCounted) {
  const std::string html = Html(Log(2502));
  const std::string chart = Part(html, "id=\"series-training", "</svg>");
  EXPECT_THAT(chart, HasSubstr("iteration 2502"));
  EXPECT_THAT(chart, HasSubstr("1.00 s to 5.00 s"));
  EXPECT_THAT(chart, HasSubstr("strip-peaks")) << "the slow last line is not lost in its mean";
  EXPECT_THAT(html, HasSubstr("each point the mean of up to 16 lines"));
  EXPECT_THAT(Part(html, "Slow Lines", "</div>"), HasSubstr("4: 2 evaluation, 2 checkpoint"));
}

TEST(ManyIterations, TheMemoryOfALogIsOfAllRanks) {
  FakeRun run = Log(10);
  for (I rank = 0; rank < 1200; ++rank)
    run.Give("training_memory", {{{"profile", I{0}},
                                  {"rank", rank},
                                  {"iteration", I{1}},
                                  {"max_allocated_bytes", (rank + 1) << 20},
                                  {"device_bytes", I{80} << 30}}});
  EXPECT_THAT(Html(run), HasSubstr("1.00 MiB – 1.17 GiB of 80.0 GiB at most allocated (1200 ranks)"));
}

TEST(ManyGpus, OfALogOfTelemetryAllCount) {
  FakeRun run;
  for (I profile = 0; profile < 1200; ++profile)
    run.Give("telemetry", {{{"profile", profile},
                            {"device", I{0}},
                            {"metric", "gpu_utilization"},
                            {"mean", profile < 1000 ? 1.0 : 0.4}}});
  EXPECT_THAT(Html(run), HasSubstr("not a trace: 1,200 GPUs, busy 90.0 % of the time"));
  for (const ReportFormat format : {ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_THAT(Render(run, format), HasSubstr("1,000 of 1,200 rows shown"));
}

TEST(ManyGpus, OfALogOfTelemetryTheTimeAtWorkCounts) {
  const auto text = [](const Value& second) {
    FakeRun run;
    run.Give("telemetry", {{{"profile", I{0}},
                            {"device", I{0}},
                            {"metric", "gpu_utilization"},
                            {"mean", 0.2},
                            {"active_mean", 0.5}},
                           {{"profile", I{0}},
                            {"device", I{1}},
                            {"metric", "gpu_utilization"},
                            {"mean", 0.2},
                            {"active_mean", second}}});
    return Html(run);
  };
  EXPECT_THAT(text(0.7), HasSubstr("2 GPUs, busy 60.0 % of the time from the first busy sample to the last"));
  EXPECT_THAT(text(Value()), HasSubstr("2 GPUs, busy 20.0 % of the time; ")) << "the other never works";
}

TEST(ManyGpus, OfALogOfTelemetryReadingsThatStandStillDoNotCount) {
  FakeRun run;
  run.Give("telemetry", {{{"profile", I{0}},
                          {"device", I{0}},
                          {"metric", "gpu_utilization"},
                          {"samples", I{1}},
                          {"still_samples", I{599}},
                          {"mean", 1.0}},
                         {{"profile", I{0}},
                          {"device", I{1}},
                          {"metric", "gpu_utilization"},
                          {"samples", I{600}},
                          {"mean", 0.2}}});
  EXPECT_THAT(Html(run), HasSubstr("2 GPUs, busy 20.0 % of the time"));
}

TEST(Telemetry, IsLoggedByTegrastatsOnAJetson) {
  const auto text = [](const char* name) {
    FakeRun run;
    run.Give("profile", {{{"profile", I{0}}, {"missing_capture", "--query-gpu=power.draw"}}});
    run.Give("system", {{{"profile", I{0}}, {"gpu_names", name}}});
    run.Give("telemetry",
             {{{"profile", I{0}}, {"device", I{0}}, {"metric", "gpu_utilization"}, {"mean", 0.2}}});
    return Render(run, ReportFormat::kText);
  };
  EXPECT_THAT(text("Orin"), HasSubstr("log with:\n  tegrastats --interval 1000 --logfile"));
  EXPECT_THAT(text("Tesla V100S-PCIE-32GB"), HasSubstr("log with:\n  nvidia-smi --query-gpu=power.draw"));
}

// Pipelines of which the last has the longest bubble.
FakeRun Pipelines(I pipelines, I stages, I passes) {
  FakeRun run;
  run.Give("run", {{{"ranks", pipelines * stages}, {"gpus", pipelines * stages}}});
  for (I pipeline = 0; pipeline < pipelines; ++pipeline) {
    run.Give("pipeline_bubble", {{{"pipeline", pipeline},
                                  {"stages", stages},
                                  {"micro_batches", passes},
                                  {"typical_step", I{1}},
                                  {"bubble_ns", static_cast<double>(pipeline)},
                                  {"warmup_bubble_ns", 1.0}}});
    for (I stage = 0; stage < stages; ++stage)
      run.Give("pipeline_stage", {{{"pipeline", pipeline},
                                   {"stage", stage},
                                   {"rank", pipeline * stages + stage},
                                   {"device", I{0}},
                                   {"bubble_share", 0.25}}});
  }
  for (I stage = 0; stage < stages; ++stage)
    for (I pass = 0; pass < passes; ++pass)
      run.Give("pipeline_event", {{{"rank", (pipelines - 1) * stages + stage},
                                   {"event", pass},
                                   {"device", I{0}},
                                   {"step", I{1}},
                                   {"phase", "F"},
                                   {"start_ns", pass * 10},
                                   {"end_ns", pass * 10 + 9}}});
  return run;
}

TEST(ManyStages, TheDrawnPipelineHasItsStagesWhereverItStands) {
  const std::string text = Render(Pipelines(200, 8, 2), ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("    7   1599")) << text;
}

TEST(ManyStages, TheScheduleSaysHowManyItShows) {
  EXPECT_THAT(Html(Pipelines(1, 8, 800)), HasSubstr("Schedule of pipeline 0, iteration 1, 4 of 8 stages"));
  EXPECT_THAT(Html(Pipelines(1, 8, 20)), Not(HasSubstr("of 8 stages")));
  for (const ReportFormat format : {ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_THAT(Render(Pipelines(1, 70, 1), format), HasSubstr("64 of 70 stages shown"));
}

}  // namespace
}  // namespace dladvisor::test
