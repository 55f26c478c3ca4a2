// SPDX-License-Identifier: Apache-2.0
// The view of pipelines: a figure of the schedule, a table of stages, a sentence.
#include "src/report/sections/pipeline_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using I = int64_t;

FakeRun TwoRanks() {
  FakeRun run;
  run.Give("run", {{{"name", "trace"}, {"ranks", I{2}}, {"gpus", I{2}}}});
  run.Give("profile", {{{"profile", I{0}}, {"path", "run.sqlite"}, {"format", "nsys"}, {"kernels", I{9}}}});
  return run;
}

Row Pass(I rank, I event, const char* phase, Value micro_batch, I start, I end) {
  return {{"rank", rank},      {"event", event}, {"device", I{0}},
          {"step", I{7}},      {"phase", phase}, {"chunk", I{0}},
          {"start_ns", start}, {"end_ns", end},  {"micro_batch", micro_batch}};
}

// GPipe with two stages and one micro-batch: F 1 ms, B 2 ms.
FakeRun RunWithPipeline(bool clocks_agree = true) {
  FakeRun run = TwoRanks();
  const Value bubble = clocks_agree ? Value(1e6) : Value();
  run.Give("pipeline_bubble", {{{"pipeline", I{0}},
                                {"schedule", "GPipe"},
                                {"stages", I{2}},
                                {"missing_stages", I{0}},
                                {"micro_batches", I{1}},
                                {"chunks", I{1}},
                                {"steps", I{3}},
                                {"typical_step", I{7}},
                                {"cost_ns", 6e6},
                                {"bubble_ns", 3e6},
                                {"bubble_ratio", 0.5},
                                {"ideal_ratio", 0.4},
                                {"warmup_bubble_ns", bubble},
                                {"steady_bubble_ns", bubble},
                                {"cooldown_bubble_ns", bubble},
                                {"imbalance", 0.25},
                                {"slowest_stage", I{1}},
                                {"slowest_rank", I{1}}}});
  for (const I stage : {I{0}, I{1}})
    run.Give("pipeline_stage", {{{"pipeline", I{0}},
                                 {"stage", stage},
                                 {"rank", stage},
                                 {"device", I{0}},
                                 {"forward_ns", 1e6},
                                 {"backward_ns", 2e6},
                                 {"work_ns", 3e6},
                                 {"busy_ns", 3e6},
                                 {"bubble_share", 0.5}}});
  run.Give("pipeline_event",
           {Pass(0, 0, "F", I{12}, 1'000'000, 2'000'000), Pass(0, 1, "B", I{12}, 5'000'000, 7'000'000),
            Pass(0, 2, "Optimizer", Value(), 7'000'000, 9'000'000),
            Pass(1, 0, "F", I{12}, 2'000'000, 3'000'000), Pass(1, 1, "B", I{12}, 3'000'000, 5'000'000)});
  return run;
}

TEST(PipelineView, DrawsTheSchedule) {
  const std::string html = Render(RunWithPipeline(), ReportFormat::kHtml);
  EXPECT_THAT(html,
              HasSubstr("<title id=\"pipeline-schedule-t\">Schedule of pipeline 0, iteration 7</title>"));
  EXPECT_THAT(html, HasSubstr("Stage 0: 1 F, 1 B, 1 Optimizer, bubble 50.0 %. Stage 1: 1 F, 1 B"));
  // 8 ms over 892 units from 64 on.
  EXPECT_THAT(html,
              HasSubstr("<rect class=\"c-copy\" x=\"64.00\" y=\"4\" width=\"111.50\" height=\"20\"><title>F "
                        "12, chunk 0: 1.00 ms from 0 ns</title></rect>"));
  EXPECT_THAT(html, HasSubstr("<rect class=\"c-tensor\" x=\"287.00\" y=\"30\" width=\"223.00\""));
  EXPECT_THAT(html, HasSubstr("<title>Optimizer, chunk 0: 2.00 ms from 6.00 ms</title>"));
  EXPECT_THAT(html, HasSubstr("aria-hidden=\"true\">12</text>"));
  EXPECT_THAT(html, HasSubstr(">8.00 ms</text>"));
  EXPECT_THAT(html, AllOf(HasSubstr("Forward"), HasSubstr("Bubble"), Not(HasSubstr("Gradients of weights"))));
}

TEST(PipelineView, BeginsEachLaneAnewWhereClocksDiffer) {
  const std::string html = Render(RunWithPipeline(false), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("each stage from its own start, as clocks do not agree"));
  EXPECT_THAT(html, HasSubstr("x=\"64.00\" y=\"30\""));
}

TEST(PipelineView, SaysItInASentenceAndATable) {
  for (const ReportFormat format : {ReportFormat::kMarkdown, ReportFormat::kText}) {
    std::string text = Render(RunWithPipeline(), format);
    std::ranges::replace(text, '\n', ' ');
    while (text.find("   ") != std::string::npos) text.replace(text.find("   "), 3, " ");
    EXPECT_THAT(text, HasSubstr("GPipe with 2 stages and 1 micro"));
    EXPECT_THAT(text, HasSubstr("50.0 % of its 6.00 ms is bubble, ideally 40.0 %"));
    EXPECT_THAT(text, HasSubstr("stage 1 (rank 1) is the slowest, 25.0 % above"));
    EXPECT_THAT(text, HasSubstr("2.00 ms"));
  }
}

TEST(PipelineView, IsLeftOutWithoutAPipeline) {
  for (const ReportFormat format : kFormats) {
    const std::string text = Render(TwoRanks(), format);
    for (const char* of_pipeline : {"ipeline", "Stage"}) EXPECT_THAT(text, Not(HasSubstr(of_pipeline)));
  }
}

TEST(PipelineView, LeavesStagesOutWhereThereAreTooManyPasses) {
  FakeRun run = RunWithPipeline();
  std::vector<Row> events;
  for (I i = 0; i < 5'000; ++i)
    for (const I rank : {I{0}, I{1}})
      events.push_back(Pass(rank, 10 + i, "F", i, 10'000'000 + i, 10'000'001 + i));
  run.Give("pipeline_event", events);
  const Database db = run.Build();
  const Advice advice;
  const ReportModel model = BuildReport(db, advice, {});
  const ReportTable* table = FindTable(model, "pipeline_schedule");
  ASSERT_NE(table, nullptr);
  EXPECT_LE(table->rows.rows.size(), 4'000u);
  for (size_t row = 0; row < table->rows.rows.size(); ++row)
    EXPECT_EQ(CellOf(*table, row, "stage"), Value(I{0}));
}

}  // namespace
}  // namespace dladvisor::test
