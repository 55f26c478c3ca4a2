// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/compare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/analysis/training/benchmark_result.h"
#include "tests/gate/facts.h"

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kMs = 1e6;

RecordedWork Operator(std::string name, double calls, double ns) {
  return {std::move(name), "mm", "", calls, ns, {}};
}
RecordedWork Kernel(std::string name, std::string kind, double ns) {
  return {std::move(name), std::move(kind), "", 1, ns, {}};
}

// Ten steps of 100 ms, of which the GPU waits 60 ms for data.
RecordedRun LoadingRun() {
  RecordedRun run;
  run.gate_run.name = "runs/before.sqlite";
  run.gate_run.ranks = 1;
  run.steps = 10;
  run.step_ns = 100 * kMs;
  run.step_stddev_ns = 1 * kMs;
  run.step_source = "ranges";
  run.step_pattern = "step #";
  run.ledger_ns = {{"compute/tensor", 30 * kMs}, {"compute/other", 10 * kMs}, {"idle/input", 60 * kMs}};
  run.operators = {Operator("/train/mm", 20, 300 * kMs)};
  run.kernels = {Kernel("gemm", "matrix", 300 * kMs), Kernel("add", "element-wise", 100 * kMs)};
  return run;
}

// The same with loading hidden and slower products.
RecordedRun FasterRun() {
  RecordedRun run = LoadingRun();
  run.gate_run.name = "runs/after.sqlite";
  run.step_ns = 65 * kMs;
  run.ledger_ns = {{"compute/tensor", 40 * kMs}, {"compute/other", 10 * kMs}, {"idle/input", 15 * kMs}};
  run.kernels[0].ns = 400 * kMs;
  run.operators[0].ns = 400 * kMs;
  return run;
}

RunsCompared Compare(const RecordedRun& before, const RecordedRun& after) {
  return CompareRuns(before, after, EmptyKnowledge());
}

TEST(CompareRuns, SaysWhatChangedAndWhyLargestFirst) {
  const RunsCompared compared = Compare(LoadingRun(), FasterRun());
  EXPECT_EQ(compared.headline, "B takes 35.0 % less time per step: 65.0 ms instead of 100 ms.");
  EXPECT_THAT(compared.reasons,
              ElementsAre("Data loading takes 45.0 ms less per step.",
                          "Computing takes 10.0 ms more per step (matrix products 10.0 ms more)."));
  EXPECT_EQ(compared.before.name, "before.sqlite");
  EXPECT_EQ(compared.ledger.front().bucket, "idle/input");
  EXPECT_THAT(compared.notes, IsEmpty());
}

TEST(CompareRuns, TheLedgersChangesAddUpToThatOfTheStep) {
  const RunsCompared compared = Compare(LoadingRun(), FasterRun());
  double sum = 0;
  for (const BucketChange& bucket : compared.ledger) sum += bucket.after_ns - bucket.before_ns;
  EXPECT_DOUBLE_EQ(sum, *compared.after.unit_ns - *compared.before.unit_ns);
}

TEST(CompareRuns, ARunIsAsFastAsItself) {
  const RunsCompared compared = Compare(LoadingRun(), LoadingRun());
  EXPECT_THAT(compared.headline, HasSubstr("A step takes as long in B as in A"));
  EXPECT_THAT(compared.reasons, IsEmpty());
  EXPECT_THAT(compared.differences, IsEmpty());
}

TEST(CompareRuns, AChangeWithinTheSpreadOfStepsMayBeChance) {
  RecordedRun after = LoadingRun();
  after.step_ns = 103 * kMs;
  after.step_stddev_ns = 20 * kMs;
  EXPECT_THAT(Compare(LoadingRun(), after).headline, HasSubstr("may be chance"));
  EXPECT_THAT(Compare(LoadingRun(), FasterRun()).headline, Not(HasSubstr("chance")));
}

TEST(CompareRuns, StepsOfAnotherDefinitionAreComparedCallByCall) {
  RecordedRun after = FasterRun();
  after.step_pattern = "epoch #";
  const RunsCompared compared = Compare(LoadingRun(), after);
  EXPECT_EQ(compared.unit, ComparedUnit::kCall);
  EXPECT_THAT(compared.headline, HasSubstr("operators that both run, which are 100 % of A's GPU time"));
  EXPECT_THAT(compared.headline, HasSubstr("33.3 % more"));
  EXPECT_THAT(compared.unit_why, HasSubstr("step # (ranges) in A and epoch # (ranges) in B"));
  EXPECT_THAT(compared.ledger, IsEmpty());
  EXPECT_DOUBLE_EQ(compared.operators[0].before->ns, 15 * kMs);
}

TEST(CompareRuns, CallsThatAreLittleOfEitherRunSayNothingOfIt) {
  RecordedRun before = LoadingRun(), after = FasterRun();
  after.step_pattern = "epoch #";
  before.operators.push_back(Operator("/solve/level", 20, 400 * before.operators[0].ns));
  const RunsCompared compared = Compare(before, after);
  EXPECT_EQ(compared.unit, ComparedUnit::kCall);
  EXPECT_FALSE(compared.change);
  EXPECT_THAT(compared.headline,
              HasSubstr("cannot be compared: operators that both run are 0 % of A's GPU time "
                        "and 100 % of B's"));
  EXPECT_THAT(compared.reasons, IsEmpty());
}

TEST(CompareRuns, TheSameWorkMakesStepsOfAnotherDefinitionComparable) {
  RecordedRun before = LoadingRun(), after = FasterRun();
  after.step_source = "kernel sequence";
  before.flops = after.flops = 1e15;
  EXPECT_EQ(Compare(before, after).unit, ComparedUnit::kStep);
}

TEST(CompareRuns, WithoutStepsWholeWindowsAreComparedWhereTheWorkIsTheSame) {
  RecordedRun before = LoadingRun(), after = FasterRun();
  for (RecordedRun* run : {&before, &after}) {
    run->steps = 0;
    run->window_ns = 10 * *run->step_ns;
    run->step_ns = run->step_stddev_ns = std::nullopt;
    run->step_source = run->step_pattern = "";
  }
  EXPECT_EQ(Compare(before, after).unit, ComparedUnit::kWindow);
  EXPECT_THAT(Compare(before, after).headline, HasSubstr("35.0 % less time for the analysed work"));
  EXPECT_THAT(Compare(before, after).unit_why, HasSubstr("not known how much they vary"));
  after.operators[0].calls *= 2;
  EXPECT_EQ(Compare(before, after).unit, ComparedUnit::kCall);
}

TEST(CompareRuns, AnotherAmountOfWorkIsSaid) {
  RecordedRun before = LoadingRun(), after = FasterRun();
  before.flops = 1e15;
  after.flops = 4e15;
  EXPECT_THAT(Compare(before, after).notes,
              ElementsAre(HasSubstr("A step of B has 4 times the floating-point operations")));
  before.settings["global_batch_size"] = "16";
  after.settings["global_batch_size"] = "32";
  before.samples = 16;
  after.samples = 32;
  const RunsCompared compared = Compare(before, after);
  EXPECT_THAT(compared.notes,
              ElementsAre("A step has 16 samples in A and 32 in B: a sample takes 67.5 % less time "
                          "in B."));
  ASSERT_EQ(compared.differences.size(), 1u);
  EXPECT_EQ(compared.differences[0].title, "global_batch_size");
}

TEST(CompareRuns, NothingInCommonIsSaid) {
  EXPECT_THAT(Compare({}, {}).headline,
              testing::StartsWith("The runs cannot be compared: neither recorded work on a GPU, or steps."));
  RecordedRun other = LoadingRun();
  other.step_pattern = "epoch #";
  other.operators[0].name = "/else";
  EXPECT_THAT(Compare(LoadingRun(), other).headline,
              testing::StartsWith(
                  "The runs cannot be compared: no operator ran in the same place of both programs."));
}

TEST(RecordedRun, ReadsStepsAndTheLedgerOfAMeanStep) {
  const test::Facts facts = test::RunOf({90, 110});
  Database database = facts.Build();
  const RecordedRun run = RecordRun("run", EmptyKnowledge(), database, {});
  EXPECT_EQ(run.steps, 2u);
  EXPECT_EQ(run.step_ns, 100);
  EXPECT_NEAR(*run.step_stddev_ns, 14.14, 0.01);
  EXPECT_THAT(run.ledger_ns, ElementsAre(testing::Pair("compute/other", 100)));
}

TEST(RecordedRun, OfAProfileWithoutAnythingNothingIsKnown) {
  const test::Facts facts;
  Database database = facts.Build();
  const RecordedRun run = RecordRun("run", EmptyKnowledge(), database, {});
  EXPECT_EQ(run.steps, 0u);
  EXPECT_FALSE(run.step_ns || run.window_ns || run.flops);
  EXPECT_THAT(run.ledger_ns, IsEmpty());
}

// A log of ten iterations of 2 s with a timer of its loader.
RecordedRun LogOf(double loading_ns, double tokens) {
  RecordedRun run;
  run.gate_run.name = "train.log";
  run.steps = 10;
  run.step_ns = 1900 * kMs + loading_ns;
  run.step_source = "training log";
  run.tokens = tokens;
  run.timers = {{"batch-generator", "input", "", 1, loading_ns, {}},
                {"forward-backward", "all", "", 1, 1800 * kMs, {}}};
  return run;
}

TEST(CompareRuns, OfLogsTimersAreReasonsAndTokensTheMeasure) {
  const RunsCompared compared = Compare(LogOf(100 * kMs, 8192), LogOf(500 * kMs, 16384));
  EXPECT_EQ(compared.headline, "B takes 20.0 % more time per step: 2.40 s instead of 2.00 s.");
  EXPECT_THAT(compared.reasons, ElementsAre("The timer batch-generator takes 400 ms more per step."));
  EXPECT_THAT(compared.notes,
              ElementsAre("A step has 8,192 tokens in A and 16,384 in B: a token takes 40.0 % "
                          "less time in B."));
}

TEST(CompareRuns, OfTelemetryAloneFiguresAreCompared) {
  RecordedRun before, after;
  before.figures = {{"Power of a GPU", Unit::kWatts, 250}, {"Only in A", Unit::kNone, 1}};
  after.figures = {{"Power of a GPU", Unit::kWatts, 300}};
  const RunsCompared compared = Compare(before, after);
  EXPECT_EQ(
      compared.headline,
      "Neither run has work on a GPU whose time could be compared; in B power of a GPU 300 W instead of "
      "250 W.");
  EXPECT_THAT(compared.notes, IsEmpty());
  EXPECT_FALSE(compared.common_share);
  ASSERT_EQ(compared.figures.size(), 2U);
  EXPECT_FALSE(compared.figures[1].after);
}

TEST(CompareRuns, OfTestsOfLinksTheirBandwidth) {
  const auto run = [](double bus) {
    TransferTestRow row;
    row.collective = "all_reduce_perf";
    row.gpus = 8;
    row.bus_bytes_per_s = bus;
    test::Facts facts;
    facts.Give(TransferTestRelation(), std::vector{row}).Give(RunRelation(), std::vector<RunRow>(1));
    const Database db = facts.Build();
    return DescribeRun({}, db);
  };
  EXPECT_EQ(Compare(run(28e9), run(217e9)).headline,
            "Neither run has work on a GPU whose time could be compared; in B bandwidth by the bus of "
            "all_reduce_perf over 8 GPUs 217 GB/s instead of 28.0 GB/s.");
}

TEST(CompareRuns, StepsWithoutWorkOnAGpuAreNoStepsOfTheOtherRun) {
  RecordedRun host = FasterRun();
  host.kernels.clear();
  host.operators.clear();
  host.ledger_ns.clear();
  const RunsCompared compared = Compare(LoadingRun(), host);
  EXPECT_EQ(compared.unit, ComparedUnit::kCall);
  EXPECT_THAT(compared.headline,
              testing::StartsWith(
                  "The runs cannot be compared: no operator ran in the same place of both programs."));
  EXPECT_THAT(compared.notes, ElementsAre("B recorded no work on a GPU."));
  EXPECT_FALSE(compared.change);
}

TEST(CompareRuns, ARunWhoseEndIsMissingIsSaidToBe) {
  RecordedRun cut = FasterRun();
  cut.truncated = true;
  EXPECT_THAT(
      Compare(LoadingRun(), cut).headline,
      testing::StartsWith("B is incomplete, its end is missing: copy or export it again. B takes 35.0 %"));
}

}  // namespace
}  // namespace dladvisor
