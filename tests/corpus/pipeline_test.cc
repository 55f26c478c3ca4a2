// SPDX-License-Identifier: Apache-2.0
// Pipeline-parallel runs of simulated schedules, from an export to what the rules say of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/corpus/pipeline_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using test::PipelineExport;
using test::Simulated;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kNsPerMs = 1e6;

// Findings that fired, by rule, and the row of the only pipeline.
struct Outcomes {
  std::multimap<std::string, Finding> fired;
  std::map<std::string, Value> pipeline;
  int64_t pipelines = 0;

  double Number(const std::string& column) const { return AsNumber(pipeline.at(column)).value_or(-1); }
  const Finding& Only(const std::string& rule) const {
    EXPECT_EQ(fired.count(rule), 1u) << rule;
    static const Finding none;
    const auto found = fired.find(rule);
    return found == fired.end() ? none : found->second;
  }
};

PipelineExport UsualRun() {
  PipelineExport run;
  run.plan.forward = 1'000'000;
  run.plan.backward = 2'000'000;
  return run;
}

Outcomes Look(const PipelineExport& run) {
  const test::ScratchDir folder;
  const auto path = folder.path() / "run.sqlite";
  WritePipelineExport(run, path);
  const Profile profile = LoadProfile(path, {});
  Database database = profile.OpenDatabase();
  Outcomes outcomes;
  const ResultSet rows = database.Query("SELECT * FROM pipeline_bubble");
  outcomes.pipelines = static_cast<int64_t>(rows.rows.size());
  for (size_t c = 0; c < rows.columns.size() && !rows.rows.empty(); ++c)
    outcomes.pipeline[rows.columns[c].name] = rows.rows[0][c];
  for (Finding& finding : Infer(LoadRules({}, {}), database).findings) {
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
    if (finding.outcome == Outcome::kFired) outcomes.fired.emplace(finding.rule, std::move(finding));
  }
  return outcomes;
}

TEST(PipelineRun, IsReadFromAnExport) {
  const Outcomes outcomes = Look(UsualRun());
  ASSERT_EQ(outcomes.pipelines, 1);
  EXPECT_EQ(outcomes.pipeline.at("schedule"), Value("1F1B"));
  EXPECT_EQ(outcomes.Number("stages"), 4);
  EXPECT_EQ(outcomes.Number("micro_batches"), 8);
  EXPECT_NEAR(outcomes.Number("cost_ns"), 33 * kNsPerMs, 0.01 * kNsPerMs);
  EXPECT_NEAR(outcomes.Number("bubble_ratio"), 9.0 / 33, 1e-3);
  EXPECT_NEAR(outcomes.Number("ideal_ratio"), 9.0 / 33, 1e-9);
  const Finding& few = outcomes.Only("few-micro-batches");
  EXPECT_THAT(few.problem, AllOf(HasSubstr("1F1B"), HasSubstr("it would take 2")));
  // 24 ms of work take 33 ms, and 24 / 0.9 with enough micro-batches.
  ASSERT_TRUE(few.saves && few.saves->high_ns);
  EXPECT_NEAR(*few.saves->high_ns, 33 * kNsPerMs - 24 * kNsPerMs / 0.9, 0.1 * kNsPerMs);
  for (const char* rule :
       {"pipeline-bubble-above-ideal", "pipeline-stage-imbalance", "pipeline-ranges-incomplete"})
    EXPECT_EQ(outcomes.fired.count(rule), 0u) << rule;
}

TEST(PipelineRun, WithEnoughMicroBatchesIsWell) {
  PipelineExport run = UsualRun();
  run.plan.micro_batches = 64;
  const Outcomes outcomes = Look(run);
  EXPECT_NEAR(outcomes.Number("bubble_ratio"), 3.0 / 67, 1e-3);
  for (const char* rule : {"few-micro-batches", "pipeline-bubble-above-ideal", "pipeline-stage-imbalance",
                           "pipeline-ranges-incomplete"})
    EXPECT_EQ(outcomes.fired.count(rule), 0u) << rule;
}

TEST(PipelineRun, TellsSchedulesApart) {
  for (const auto& [schedule, name, chunks, weight] : {std::tuple{Simulated::kGPipe, "GPipe", 1, 0},
                                                       {Simulated::kInterleaved, "interleaved 1F1B", 2, 0},
                                                       {Simulated::kZeroBubbleH1, "ZB-H1", 1, 900'000}}) {
    PipelineExport run = UsualRun();
    run.plan.schedule = schedule;
    run.plan.chunks = chunks;
    run.plan.weight = weight;
    const Outcomes outcomes = Look(run);
    ASSERT_EQ(outcomes.pipelines, 1) << name;
    EXPECT_EQ(outcomes.pipeline.at("schedule"), Value(name));
    EXPECT_NEAR(outcomes.Number("bubble_ratio"), outcomes.Number("ideal_ratio"), 2e-3) << name;
  }
}

TEST(PipelineRun, NamesTheSlowStage) {
  PipelineExport run = UsualRun();
  run.plan.schedule = Simulated::kGPipe;
  run.plan.micro_batches = 32;
  run.plan.slow_stage = 2;
  run.plan.slow_factor = 1.4;
  const Outcomes outcomes = Look(run);
  const Finding& finding = outcomes.Only("pipeline-stage-imbalance");
  EXPECT_THAT(finding.problem, HasSubstr("Stage 2 of pipeline 0 (rank 2) takes 4.20 ms"));
  // It waits 31 times for what the slowest takes longer than the mean of 3.3 ms.
  ASSERT_TRUE(finding.saves && finding.saves->high_ns);
  EXPECT_NEAR(*finding.saves->high_ns, 31 * 0.9 * kNsPerMs, 0.5 * kNsPerMs);
  EXPECT_THAT(outcomes.Only("pipeline-bubble-above-ideal").problem, HasSubstr("waiting for stage 2"));
}

TEST(PipelineRun, SeesSlowTransfers) {
  PipelineExport run = UsualRun();
  run.plan.micro_batches = 32;
  run.plan.transfer = 400'000;
  const Outcomes outcomes = Look(run);
  EXPECT_THAT(outcomes.Only("pipeline-bubble-above-ideal").problem, HasSubstr("are late starts"));
  EXPECT_EQ(outcomes.fired.count("pipeline-stage-imbalance"), 0u);
}

TEST(PipelineRun, SaysWhatItsRangesLack) {
  PipelineExport run = UsualRun();
  run.marks_passes = false;
  const Outcomes bare = Look(run);
  EXPECT_EQ(bare.pipelines, 0);
  ASSERT_EQ(bare.fired.count("pipeline-ranges-incomplete"), 4u);
  EXPECT_THAT(bare.fired.find("pipeline-ranges-incomplete")->second.problem,
              AllOf(HasSubstr("3 of the optimizer and none of F, B or W"), HasSubstr("kernels, ")));

  run = UsualRun();
  run.stages_marked = 3;
  const Outcomes partly = Look(run);
  EXPECT_THAT(partly.Only("pipeline-ranges-incomplete").problem,
              HasSubstr("on rank 3: there are 3 of the optimizer and none of F, B or W"));
  EXPECT_EQ(partly.Number("stages"), 3);
  EXPECT_EQ(partly.Number("missing_stages"), 1);
}

}  // namespace
}  // namespace dladvisor
