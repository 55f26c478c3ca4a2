// SPDX-License-Identifier: Apache-2.0
// The report of a training's log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "src/report/report.h"
#include "tests/report/fixture.h"

namespace dladvisor {
namespace {
using test::FakeRun;
using testing::HasSubstr;
using testing::Not;

FakeRun Training(int64_t planned = 1000) {
  using I = int64_t;
  FakeRun run;
  run.Give("profile", {{{"profile", I{0}}, {"format", "training log"}, {"training_lines", I{2}}}});
  run.Give("training", {{{"profile", I{0}},
                         {"program", "Megatron-LM"},
                         {"lines", I{2}},
                         {"attempts", I{1}},
                         {"iterations", I{20}},
                         {"first_iteration", I{1}},
                         {"last_iteration", I{20}},
                         {"planned", I{planned}},
                         {"mean_ns", 1.38e9},
                         {"median_ns", 1.36e9},
                         {"slowest_ns", 1.6e9},
                         {"samples_per_second", 2.883},
                         {"tokens_per_second", 2952.4},
                         {"skipped", I{3}},
                         {"slow_lines", I{1}},
                         {"slow_ns", 2e9},
                         {"world_size", I{16}},
                         {"tensor_parallel", I{4}},
                         {"pipeline_parallel", I{4}},
                         {"global_batch", I{4}},
                         {"micro_batch", I{1}},
                         {"micro_batches", I{4}},
                         {"bubble_share", 0.4286}}});
  run.Give("training_log", {{{"profile", I{0}}, {"attempt", I{0}}, {"iteration", I{10}}, {"warmup", I{0}}},
                            {{"profile", I{0}},
                             {"attempt", I{0}},
                             {"iteration", I{20}},
                             {"warmup", I{0}},
                             {"slow", I{1}},
                             {"cause", "evaluation"}}});
  run.Give("training_timer", {{{"profile", I{0}},
                               {"attempt", I{0}},
                               {"iteration", I{20}},
                               {"timer", "forward|compute"},
                               {"kind", "compute"},
                               {"ns", 2e8},
                               {"share", 0.145}}});
  return run;
}

// Of a log without the time of an iteration.
TEST(TrainingReport, SaysWhatTotalsOrRatesTell) {
  using I = int64_t;
  const auto text = [](const char* name, double value) {
    FakeRun run;
    run.Give("profile", {{{"profile", I{0}}, {"format", "training log"}, {"training_lines", I{20}}}});
    run.Give("training", {{{"profile", I{0}},
                           {"program", "Hugging Face Trainer"},
                           {"lines", I{20}},
                           {"iterations", I{200}},
                           {"attempts", I{1}},
                           {"first_iteration", I{1}},
                           {"last_iteration", I{200}},
                           {name, value}}});
    return Render(run, ReportFormat::kText);
  };
  EXPECT_THAT(text("runtime_ns", 345.6e9), HasSubstr("200 iterations in 5.76 min, 1.73 s each with"));
  EXPECT_THAT(text("tokens_per_second", 36256), HasSubstr("200 iterations, 36,256 tokens/s"));
  EXPECT_THAT(text("printed_mfu", 0.375), HasSubstr("no time of an iteration, 37.5 % of the GPUs'"));
}

TEST(TrainingReport, SaysEpochsWhereNothingSmallerIsTimed) {
  using I = int64_t;
  FakeRun run;
  run.Give("profile", {{{"profile", I{0}}, {"format", "training log"}, {"training_lines", I{9}}}});
  run.Give("training", {{{"profile", I{0}},
                         {"program", "a program that prints epochs"},
                         {"unit", "epoch"},
                         {"lines", I{9}},
                         {"iterations", I{9}},
                         {"steady_iterations", I{8}},
                         {"attempts", I{1}},
                         {"first_iteration", I{1}},
                         {"last_iteration", I{9}},
                         {"mean_ns", 2.15e11},
                         {"median_ns", 2.15e11},
                         {"slowest_ns", 2.16e11}}});
  const std::string text = Render(run, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("9 epochs of 3.58 min on average after"));
  EXPECT_THAT(text, HasSubstr("Epoch Time"));
  EXPECT_THAT(text, Not(HasSubstr("Iteration Time")));
}

TEST(TrainingReport, HeadlineNamesTheError) {
  const auto text = [](const std::string& error) {
    FakeRun run;
    run.Give("profile",
             {{{"profile", int64_t{0}}, {"format", "training log"}, {"training_lines", int64_t{0}}}});
    run.Give("training", {{{"profile", int64_t{0}},
                           {"program", "a program that stopped"},
                           {"lines", int64_t{0}},
                           {"error", error}}});
    return Render(run, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("OSError: disk full"), HasSubstr("no iteration known; it ended with OSError: disk full;"));
  EXPECT_THAT(text("Slurm cancelled the job: time limit"), HasSubstr("; it ended: Slurm cancelled the job"));
  EXPECT_THAT(text("KeyboardInterrupt"), Not(HasSubstr("it ended with")));
}

TEST(TrainingReport, WithoutAFindingTheRuleOnLogsSaysWhatToMeasure) {
  Finding alone = test::MakeFinding("training-log-only", Severity::kInfo, Outcome::kFired);
  alone.recommendation = {"Print what of a step goes to waiting for data. Then record."};
  Advice advice;
  advice.findings = {alone};
  EXPECT_THAT(test::Render(Training(), advice, ReportFormat::kText),
              HasSubstr("first, print what of a step goes"));
}

TEST(TrainingReport, SaysPaceThroughputAndWhatIsSlow) {
  const std::string text = Render(Training(), ReportFormat::kText);
  EXPECT_THAT(
      text,
      HasSubstr("A training log of Megatron-LM, not a trace: 20 iterations of 1.38 s on average, up to"));
  EXPECT_THAT(text, HasSubstr("a trace shows where that time goes.")) << "without the rule on such logs";
  EXPECT_THAT(text, HasSubstr("20 (1 – 20 of 1000)"));
  EXPECT_THAT(text, HasSubstr("2.88 samples/s, 2,952 tokens/s"));
  EXPECT_THAT(text, HasSubstr("1, 2.00 s over the median: 1 evaluation"));
  EXPECT_THAT(text, HasSubstr("16 GPUs: tensor 4 × pipeline 4"));
  EXPECT_THAT(text, HasSubstr("4 samples in 4 micro-batches of 1"));
  EXPECT_THAT(text, HasSubstr("42.9 %"));
  EXPECT_THAT(text, Not(HasSubstr("Performance Summary")));
  EXPECT_THAT(Render(Training(), ReportFormat::kMarkdown), HasSubstr("## Training Log"));
  EXPECT_THAT(Render(Training(), ReportFormat::kHtml), HasSubstr("Timers of the Training Log"));
  EXPECT_THAT(Render(Training(), ReportFormat::kHtml), HasSubstr("id=\"log-summary\""));
}

TEST(TrainingSection, APlanThatTheRunWentBeyondIsLeftOut) {
  EXPECT_THAT(Render(Training(10), ReportFormat::kText), HasSubstr("20 (1 – 20)"));
}

// A mean of which a part is evaluations is no step's.
TEST(TrainingReport, NamesTheMedianWhereItIsFarFromTheMean) {
  const auto text = [](double median) {
    FakeRun run;
    run.Give("profile",
             {{{"profile", int64_t{0}}, {"format", "training log"}, {"training_lines", int64_t{9}}}});
    run.Give("training", {{{"profile", int64_t{0}},
                           {"program", "nanoGPT"},
                           {"lines", int64_t{9}},
                           {"iterations", int64_t{9}},
                           {"mean_ns", 8e8},
                           {"median_ns", median},
                           {"slowest_ns", 28e9}}});
    return Render(run, ReportFormat::kText);
  };
  EXPECT_THAT(text(7e8), HasSubstr("800 ms on average, 700 ms in the median\nline, up to"));
  EXPECT_THAT(text(7.9e8), Not(HasSubstr("in the median")));
}

TEST(TrainingReport, IsSilentWithoutALog) {
  for (const ReportFormat format : {ReportFormat::kText, ReportFormat::kMarkdown, ReportFormat::kHtml})
    EXPECT_THAT(Render(test::TypicalRun(), format), Not(HasSubstr("Training Log")));
}

}  // namespace
}  // namespace dladvisor
