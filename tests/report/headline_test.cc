// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/message.h"
#include "src/report/report.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Headline, AProgramThatFailedBeforeItsWorkIsToBeMendedFirst) {
  Advice advice;
  Finding failed = MakeFinding("program-failed", Severity::kWarning, Outcome::kFired);
  Finding lost = MakeFinding("profiler-reports-errors", Severity::kWarning, Outcome::kFired);
  advice.findings = {std::move(lost), std::move(failed)};
  EXPECT_THAT(Render(FakeRun(), advice, ReportFormat::kText),
              HasSubstr("The program ended before any GPU work; first, "));
}

TEST(Headline, TellsWhereAFewRoundsOfABenchmarkLoseMostOfIt) {
  for (const double median : {1e6, 100e6}) {
    Advice advice;
    advice.findings = {MakeFinding("step-time-varies", Severity::kInfo, Outcome::kFired)};
    advice.findings[0].lets = {{"benchmark", int64_t{1}, Unit::kNone},
                               {"median_ns", median, Unit::kNanoseconds}};
    const std::string text = Render(TypicalRun(), advice, ReportFormat::kText);
    EXPECT_EQ(text.find("most of it in a few of the steps") != std::string::npos, median < 50e6) << text;
  }
}

TEST(Headline, WhatSavesNothingWhileTheGpuWaitsComesBehindTheWaits) {
  Advice advice;
  advice.findings = {MakeFinding("mixed-precision-off", Severity::kWarning, Outcome::kFired),
                     MakeFinding("cpu-launch-starvation", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Use half precision."};
  advice.findings[0].saves = SavingClaim{"compute", 0, 50e6, 50e6, {}, {}, 1e3};
  advice.findings[1].recommendation = {"Capture the step in a CUDA graph."};
  advice.findings[1].saves = SavingClaim{"idle/launch", 9e6, 30e6, 30e6};
  const FakeRun run = RunWithLedger({{"compute/other", 70'000'000}, {"idle/launch", 30'000'000}});
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown), HasSubstr("first, capture the step"));
}

TEST(Headline, ABenchmarkBesideGpuWorkIsOfAnotherRun) {
  Advice advice;
  advice.findings = {MakeFinding("slow-transfer-test", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"See what joins these GPUs."};
  const FakeRun run = RunWithLedger({{"compute/other", 20'000'000}, {"copy", 80'000'000}});
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown), Not(HasSubstr("first, see what joins")));
  advice.findings.push_back(MakeFinding("copies-not-overlapped", Severity::kWarning, Outcome::kFired));
  advice.findings[1].recommendation = {"Copy while kernels run."};
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown), HasSubstr("first, copy while kernels run"));
}

TEST(Headline, AnErrorComesBeforeWhatIsSavedUnlessThereAreSteps) {
  Advice advice;
  advice.findings = {MakeFinding("copied-in-pieces", Severity::kWarning, Outcome::kFired),
                     MakeFinding("program-failed", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Send it in one copy."};
  advice.findings[0].saves = SavingClaim{"copy", 40e6, 80e6, 80e6};
  advice.findings[1].recommendation = {"Mend the error."};
  const FakeRun run = RunWithLedger({{"compute/other", 20'000'000}, {"copy", 80'000'000}});
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown),
              HasSubstr("all of it to copying; first, mend the error; then send it in one copy."));
  EXPECT_THAT(Render(TypicalRun(), advice, ReportFormat::kMarkdown), HasSubstr("first, send it in one copy"));
}

TEST(Headline, AKernelThatDidNotRunComesBeforeWhatIsSavedUnlessALibraryMayHaveTriedIt) {
  for (const int64_t first : {0, 1}) {
    Advice advice = TypicalAdvice();
    Finding errors = MakeFinding("cuda-errors", Severity::kWarning, Outcome::kFired);
    errors.recommendation = {RenderMessage("Check what is passed to the call.", {})};
    errors.lets = {{"first", first, Unit::kNone}};
    advice.findings.push_back(errors);
    std::string text = Render(TypicalRun(), advice, ReportFormat::kText);
    std::ranges::replace(text, '\n', ' ');
    EXPECT_EQ(text.find("first, check what is passed to the call") != std::string::npos, first == 1) << text;
  }
}

TEST(Headline, AResultThatIsReadTooSoonComesBeforeWhatIsSaved) {
  Advice advice;
  advice.findings = {MakeFinding("single-warp-kernels", Severity::kWarning, Outcome::kFired),
                     MakeFinding("managed-without-wait", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Make it parallel."};
  advice.findings[0].saves = SavingClaim{"compute", 0, 90e6, 90e6};
  advice.findings[1].recommendation = {"Wait for the kernels."};
  EXPECT_THAT(Render(RunWithLedger({{"compute/other", 100'000'000}}), advice, ReportFormat::kMarkdown),
              HasSubstr("first, wait for the kernels; then make it parallel."));
}

TEST(Headline, SaysWhatComputesWhereNothingIsLost) {
  const FakeRun slow =
      RunWithLedger({{"compute/other", 89'000'000}, {"compute/tensor", 10'000'000}, {"copy", 1'000'000}});
  const std::string text = Render(slow, TypicalAdvice(), ReportFormat::kText);
  EXPECT_THAT(
      text,
      HasSubstr("99.0 % of the analysed 100 ms are spent computing, 89.0 % without tensor cores; first, "));
  EXPECT_THAT(text, Not(HasSubstr("lost")));
  const FakeRun one_kind = RunWithLedger({{"compute/other", 99'000'000}, {"copy", 1'000'000}});
  EXPECT_THAT(Render(one_kind, Advice{}, ReportFormat::kText),
              HasSubstr("computing, all of it without tensor cores"));
  const FakeRun tensor = RunWithLedger({{"compute/other", 9'000'000}, {"compute/tensor", 91'000'000}});
  EXPECT_THAT(Render(tensor, Advice{}, ReportFormat::kText), HasSubstr("91.0 % on tensor cores"));
}

TEST(Headline, SaysWhatAFirstThingOnComputingIsAboutWhereItNamesWhatIsLost) {
  Advice advice;
  RuleSummary rule;
  rule.id = "elementwise-dominates";
  rule.category = "compute";
  advice.rules = {rule};
  advice.findings = {MakeFinding("elementwise-dominates", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].problem = {"Element-wise kernels take most of the kernel time."};
  advice.findings[0].recommendation = {"Fuse them."};
  const FakeRun run = RunWithLedger({{"compute/other", 80'000'000}, {"idle/host", 20'000'000}});
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown),
              HasSubstr(". Element-wise kernels take most of the kernel time; first, fuse them."));
}

TEST(Headline, IsSilentOnTensorCoresWhereNoOpCouldUseThem) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{1}}, {"gpus", int64_t{1}}}});
  run.Give("time_ledger", {{{"rank", int64_t{0}},
                            {"device", int64_t{0}},
                            {"bucket", "compute/other"},
                            {"ns", int64_t{100'000}}}});
  const std::string text = Render(run, Advice{}, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("100.0 % of the analysed 100 µs are spent computing; "));
}

TEST(Headline, SaysWhatTheWorkNeedsAtLeast) {
  FakeRun run;
  run.Give(
      "run",
      {{{"ranks", int64_t{1}}, {"gpus", int64_t{1}}, {"speed_of_light", 0.3}, {"known_work_share", 1.0}}});
  run.Give("time_ledger", {{{"rank", int64_t{0}},
                            {"device", int64_t{0}},
                            {"bucket", "compute/other"},
                            {"ns", int64_t{100'000'000}}}});
  EXPECT_THAT(
      Render(run, Advice{}, ReportFormat::kText),
      HasSubstr("100.0 % of the analysed 100 ms are spent computing, where 30.0 ms would do on this GPU"));
}

TEST(Headline, CountsHeadroomBesideLosses) {
  FakeRun run;
  run.Give(
      "run",
      {{{"ranks", int64_t{1}}, {"gpus", int64_t{1}}, {"speed_of_light", 0.3}, {"known_work_share", 0.75}}});
  const auto give = [&](const char* bucket, int64_t ns) {
    run.Give("time_ledger", {{{"rank", int64_t{0}}, {"device", int64_t{0}}, {"bucket", bucket}, {"ns", ns}}});
  };
  give("compute/other", 80'000'000);
  give("idle/launch", 20'000'000);
  EXPECT_THAT(
      Render(run, Advice{}, ReportFormat::kMarkdown),
      HasSubstr("20.0 ms of the analysed 100 ms are lost (20 %), all of it to launching kernels, and 80.0 ms "
                "are spent computing where 50.0 ms would do on this GPU"));
}

// What is lost is all but computing; a saving of computing may be more.
TEST(Headline, TellsSavingsOfComputingFromWhatIsLost) {
  const auto text = [](const char* bucket) {
    Advice advice;
    advice.findings = {MakeFinding("slow", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].saves = SavingClaim{bucket, 0, 30e6, 30e6};
    return Render(RunWithLedger({{"compute/other", 80'000'000}, {"idle/launch", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("compute/other"),
              HasSubstr("20.0 ms of the analysed 100 ms are lost besides computing (20 %); first, "));
  EXPECT_THAT(text("idle/launch"), HasSubstr("20.0 ms of the analysed 100 ms are lost (20 %), all of it to "
                                             "launching kernels; first, "));
}

TEST(Headline, PromisesNoMoreThanAReplayOfTheProfileGives) {
  Advice advice;
  advice.findings = {MakeFinding("mixed-precision-off", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {RenderMessage("Enable mixed precision.", {})};
  advice.findings[0].saves = SavingClaim{"compute/other", 0, 60e6, 60e6, 60e6, {}, 20e6};
  const FakeRun run = RunWithLedger({{"compute/other", 80'000'000}, {"copy", 20'000'000}});
  EXPECT_THAT(
      Render(run, advice, ReportFormat::kMarkdown),
      HasSubstr(
          "first, enable mixed precision, which saves up to 20.0 ms now (up to 20 % of the time), up to "
          "60.0 ms without idle time."));
  advice.findings[0].saves->now_ns = 55e6;
  EXPECT_THAT(Render(run, advice, ReportFormat::kMarkdown),
              HasSubstr("which saves up to 60.0 ms (up to 60 %"));
}

TEST(Headline, SaysTheLargestLossAndTheOneToBeginWith) {
  Advice advice;
  advice.findings = {MakeFinding("late", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {RenderMessage("Fuse small kernels. Use torch.compile.", {})};
  advice.findings[0].saves = SavingClaim{"idle/launch", 0, 10e6, 10e6};
  EXPECT_THAT(
      Render(
          RunWithLedger({{"compute/other", 50'000'000}, {"idle/launch", 20'000'000}, {"copy", 30'000'000}}),
          advice, ReportFormat::kMarkdown),
      HasSubstr(
          "(50 %), 30.0 ms of it to copying and 20.0 ms to launching kernels; first, fuse small kernels, "
          "which saves up to 10.0 ms"));
}

TEST(Headline, BeginsWithWhatPutsTheFiguresInDoubt) {
  const auto text = [](const char* rule) {
    Advice advice;
    advice.findings = {MakeFinding("slow", Severity::kWarning, Outcome::kFired),
                       MakeFinding(rule, Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Copy less."};
    advice.findings[0].saves = SavingClaim{"idle/launch", 0, 15e6, 15e6};
    advice.findings[1].recommendation = {"Record again."};
    return Render(RunWithLedger({{"compute/other", 80'000'000}, {"idle/launch", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("kernels-not-recorded"), HasSubstr("Most of the launched kernels were not recorded, so"));
  EXPECT_THAT(text("kernels-not-recorded"), HasSubstr("first, record again."));
  EXPECT_THAT(text("kernels-not-recorded"), HasSubstr("are lost"));
  EXPECT_THAT(text("several-runs"),
              HasSubstr("The files are not of one run, so that figures over all of them mean nothing; first, "
                        "record again."));
  EXPECT_THAT(text("another"), HasSubstr("first, copy less, which saves up to 15.0 ms"));
}

TEST(Headline, DoesNotAskForFlagsThatWereGiven) {
  Advice advice;
  advice.findings = {MakeFinding("gpu-trace-missing", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Take a newer profiler."};
  EXPECT_THAT(Render(FakeRun(), advice, ReportFormat::kMarkdown),
              HasSubstr("Launches were recorded, and nothing of the GPU; first, take a newer profiler."));
  advice.findings = {MakeFinding("counters-profiled", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Record times."};
  EXPECT_THAT(Render(FakeRun(), advice, ReportFormat::kMarkdown),
              HasSubstr("Hardware counters were profiled, not times; first, record times."));
}

TEST(Headline, BeginsWithWhatAnotherCaptureWouldShowAgain) {
  Advice advice;
  advice.findings = {MakeFinding("gpu-trace-missing", Severity::kWarning, Outcome::kFired),
                     MakeFinding("random-on-host", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Take a newer profiler."};
  advice.findings[1].recommendation = {"Draw random numbers where they are used."};
  EXPECT_THAT(Render(FakeRun(), advice, ReportFormat::kMarkdown),
              HasSubstr("The host makes the input for much of the time, and nothing of the GPU was recorded; "
                        "first, draw random numbers where they are used, then record the GPU's work."));
}

TEST(Headline, SaysOfAProfileWithoutTheGpuWhatItShows) {
  Advice advice;
  advice.findings = {MakeFinding("no-gpu-work", Severity::kWarning, Outcome::kFired),
                     MakeFinding("host-loading", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Profile again with: x."};
  advice.findings[1].recommendation = {"Load batches in other processes."};
  EXPECT_THAT(Render(FakeRun(), advice, ReportFormat::kMarkdown),
              HasSubstr("The host loads data for most of the time, and nothing of the GPU was recorded; "
                        "first, load batches in other processes, then record the GPU's work."));
}

TEST(Headline, BeginsWithALoopOfOperatorsWhereNothingOfTheGpuIsKnown) {
  Advice advice;
  advice.findings = {MakeFinding("no-gpu-work", Severity::kWarning, Outcome::kFired),
                     MakeFinding("operators-in-a-loop", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Profile again with: x."};
  advice.findings[1].recommendation = {"Let one call do what the loop does."};
  EXPECT_THAT(
      Render(FakeRun(), advice, ReportFormat::kMarkdown),
      HasSubstr("The host calls the same few operators for much of the time, and nothing of the GPU "
                "was recorded; first, let one call do what the loop does, then record the GPU's work."));
}

TEST(Headline, BeginsWithALoadingStageWhereNothingOfTheGpuIsKnown) {
  for (const int64_t loads : {0, 1}) {
    Advice advice;
    advice.findings = {MakeFinding("no-gpu-work", Severity::kWarning, Outcome::kFired),
                       MakeFinding("stage-dominates", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Profile again with: x."};
    advice.findings[1].recommendation = {"Load data ahead."};
    advice.findings[1].lets = {{"loads", loads, Unit::kNone}};
    const std::string text = Render(FakeRun(), advice, ReportFormat::kMarkdown);
    EXPECT_EQ(
        text.find("nothing of the GPU was recorded; first, load data ahead, then record the GPU's work") !=
            std::string::npos,
        loads == 1)
        << text;
  }
}

TEST(Headline, NamesTheRangeThatTakesMostWhereNothingOfTheGpuIsKnown) {
  for (const int64_t library : {0, 1}) {
    Advice advice;
    advice.findings = {MakeFinding("no-gpu-work", Severity::kWarning, Outcome::kFired),
                       MakeFinding("stage-dominates", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Profile again with: x."};
    advice.findings[1].problem.values = {{.value = {"name", std::string("backbone"), Unit::kText}},
                                         {.value = {"share", 0.403, Unit::kRatio}}};
    advice.findings[1].lets = {{"library", library, Unit::kNone}};
    const std::string text = Render(FakeRun(), advice, ReportFormat::kMarkdown);
    EXPECT_EQ(text.find("No GPU work was recorded; the range backbone takes 40.3 % of the time") !=
                  std::string::npos,
              library == 0)
        << text;
  }
}

TEST(Headline, BeginsWithNoNoteThatCallsItselfMinor) {
  Advice advice;
  advice.findings = {MakeFinding("elementwise", Severity::kInfo, Outcome::kFired)};
  advice.findings[0].recommendation = {"Fuse chains."};
  const auto text = [&](int64_t minor) {
    advice.findings[0].lets = {{"minor", Value(minor), Unit::kNone}};
    return Render(RunWithLedger({{"compute/other", 100'000'000}}), advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(0), HasSubstr("first, fuse chains."));
  EXPECT_THAT(text(1), HasSubstr("no rule found a loss to fix, only notes"));
}

TEST(Headline, BeginsWithAnotherWarningThanOneThatCallsItselfMinor) {
  Advice advice;
  advice.findings = {MakeFinding("evaluation", Severity::kWarning, Outcome::kFired),
                     MakeFinding("input", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Save less often."};
  advice.findings[1].recommendation = {"Load sooner."};
  const auto text = [&](int64_t minor) {
    advice.findings[0].lets = {{"minor", Value(minor), Unit::kNone}};
    return Render(RunWithLedger({{"compute/other", 100'000'000}}), advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(0), HasSubstr("first, save less often."));
  EXPECT_THAT(text(1), HasSubstr("first, load sooner."));
}

// Of a GPU that computes all the time a warning on copies outside of it, or a wait of a hundredth, is no
// place to begin.
TEST(Headline, BeginsWithTheKernelThatTakesTheTimeWhereLittleIsLost) {
  const auto text = [](int64_t lost_ns, double saved_ns, const char* category,
                       const char* bucket = "idle/sync") {
    Advice advice;
    advice.findings = {MakeFinding("wait", Severity::kWarning, Outcome::kFired),
                       MakeFinding("dominant-kernel", Severity::kInfo, Outcome::kFired)};
    advice.rules.resize(2);
    advice.rules[0].id = "wait";
    advice.rules[0].category = category;
    advice.rules[1].id = "dominant-kernel";
    advice.rules[1].category = "compute";
    advice.findings[0].recommendation = {"Wait less."};
    advice.findings[1].recommendation = {"Look at the kernel."};
    if (saved_ns > 0) advice.findings[0].saves = SavingClaim{bucket, 0, saved_ns, saved_ns};
    return Render(RunWithLedger({{"compute/other", 1'000'000'000 - lost_ns}, {"idle/sync", lost_ns}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(70'000'000, 70e6, "synchronization"), HasSubstr("first, look at the kernel"));
  EXPECT_THAT(text(120'000'000, 70e6, "synchronization"), HasSubstr("first, look at the kernel"));
  EXPECT_THAT(text(120'000'000, 110e6, "synchronization"), HasSubstr("first, wait less"));
  EXPECT_THAT(text(200'000'000, 70e6, "synchronization"), HasSubstr("first, wait less"));
  EXPECT_THAT(text(70'000'000, 70e6, "compute", "compute"), HasSubstr("first, wait less"));
  EXPECT_THAT(text(2'000'000, 0, "copies"), HasSubstr("first, look at the kernel"));
  EXPECT_THAT(text(2'000'000, 0, "configuration"), HasSubstr("first, wait less"));
  EXPECT_THAT(text(200'000'000, 0, "copies"), HasSubstr("first, wait less"));
}

TEST(Headline, BeginsWithAKernelOfTheProgramsOwnThatHoldsFarMoreThanIsSaved) {
  const auto text = [](double kernel_share, int64_t library) {
    Advice advice;
    advice.findings = {MakeFinding("wait", Severity::kWarning, Outcome::kFired),
                       MakeFinding("dominant-kernel", Severity::kInfo, Outcome::kFired)};
    advice.findings[0].recommendation = {"Wait less."};
    advice.findings[0].saves = SavingClaim{"idle/sync", 0, 110e6, 110e6};
    advice.findings[1].recommendation = {"Look at the kernel."};
    advice.findings[1].lets = {{"library", Value(library), Unit::kNone}};
    const std::vector<NamedValue> scope = {{"kernel_share", kernel_share, Unit::kRatio}};
    advice.findings[1].problem = RenderMessage("{{kernel_share}} of the kernel time", scope);
    return Render(RunWithLedger({{"compute/other", 880'000'000}, {"idle/sync", 120'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(0.75, 0), HasSubstr("first, look at the kernel"));
  EXPECT_THAT(text(0.3, 0), HasSubstr("first, wait less"));
  EXPECT_THAT(text(0.75, 1), HasSubstr("first, wait less"));
}

TEST(Headline, BeginsWithAMistakeOfOneLineThatCostsMuch) {
  const auto text = [](double high, const char* known) {
    Advice advice;
    advice.findings = {MakeFinding("cpu-launch-starvation", Severity::kWarning, Outcome::kFired),
                       MakeFinding("allocation-in-step", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Capture a graph."};
    advice.findings[0].saves = SavingClaim{"idle/launch", 15e6, 40e6, 40e6};
    advice.findings[1].recommendation = {"Take out the call."};
    advice.findings[1].saves = SavingClaim{"idle", 5e6, high, high};
    advice.findings[1].lets = {{known, int64_t{1}, Unit::kNone}};
    return Render(
        RunWithLedger(
            {{"compute/other", 30'000'000}, {"idle/launch", 40'000'000}, {"idle/allocation", 30'000'000}}),
        advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(20e6, "one_line"), HasSubstr("first, take out the call"));
  EXPECT_THAT(text(20e6, "other"), HasSubstr("first, capture a graph"));
  EXPECT_THAT(text(10e6, "one_line"), HasSubstr("first, capture a graph")) << "less than a tenth";
}

TEST(Headline, BeginsWithAWarningBeforeANoteThatIsSureOfNothing) {
  Advice advice;
  advice.findings = {MakeFinding("layout", Severity::kInfo, Outcome::kFired),
                     MakeFinding("compute/slow", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Use channels last."};
  advice.findings[0].saves = SavingClaim{"compute", 0, 9e6, 9e6};
  advice.findings[1].recommendation = {"Use tensor cores."};
  EXPECT_THAT(Render(RunWithLedger({{"compute/other", 50'000'000}}), advice, ReportFormat::kMarkdown),
              HasSubstr("first, use tensor cores"));
  advice.findings[0].saves = SavingClaim{"compute", 0, 20e6, 20e6};
  EXPECT_THAT(Render(RunWithLedger({{"compute/other", 50'000'000}}), advice, ReportFormat::kMarkdown),
              HasSubstr("first, use channels last"))
      << "it may be much";
  advice.findings[0].saves = SavingClaim{"compute", 0, 9e6, 9e6};
  advice.findings.pop_back();
  EXPECT_THAT(Render(RunWithLedger({{"compute/other", 50'000'000}}), advice, ReportFormat::kMarkdown),
              HasSubstr("first, use channels last"));
}

TEST(Headline, SaysOfACauseNotWhatItsSymptomSavesByOtherAdvice) {
  const auto text = [](std::optional<double> own_ns) {
    Advice advice;
    advice.findings = {MakeFinding("cause", Severity::kWarning, Outcome::kFired),
                       MakeFinding("symptom", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Change it."};
    advice.findings[0].causes = {1};
    advice.findings[1].caused_by = 0;
    advice.findings[1].saves = SavingClaim{"idle/launch", 10e6, 15e6, 15e6};
    if (own_ns) advice.findings[0].saves = SavingClaim{"idle/launch", *own_ns, *own_ns, *own_ns};
    return Render(RunWithLedger({{"compute/other", 10'000'000}, {"idle/launch", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text({}), HasSubstr("first, change it."));
  EXPECT_THAT(text(12e6), HasSubstr("first, change it, which saves 12.0 ms (60 % of the loss)."));
}

TEST(Headline, BeginsWithAnUnknownLossWhereWhatIsKnownSavesLittleOfIt) {
  const auto text = [](int64_t unknown_ns, double high_ns) {
    Advice advice;
    advice.findings = {MakeFinding("exposed-copies", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Copy less."};
    advice.findings[0].saves = SavingClaim{"copy", 0, high_ns, high_ns};
    return Render(
        RunWithLedger({{"compute/other", 1'000'000}, {"idle/unknown", unknown_ns}, {"copy", 9'000'000}}),
        advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(20'000'000, 1e6), HasSubstr("to find it); first, find that reason; then copy less."));
  EXPECT_THAT(text(20'000'000, 8e6), HasSubstr("first, copy less, which saves up to 8.00 ms"));
  EXPECT_THAT(text(8'000'000, 0.5e6), HasSubstr("first, copy less, which saves up to 500 µs"))
      << "half is known";
}

TEST(Headline, SaysWhatWouldTellAnUnknownLoss) {
  FakeRun run =
      RunWithLedger({{"compute/other", 10'000'000}, {"idle/unknown", 20'000'000}, {"copy", 10'000'000}});
  EXPECT_THAT(
      Render(run, Advice{}, ReportFormat::kMarkdown),
      HasSubstr("30.0 ms of the analysed 40.0 ms are lost (75 %), 20.0 ms of it idle for a reason that the "
                "profile does not show (capture with --trace=cuda,nvtx,osrt to find it)"));
  run.Give("profile", {{{"profile", int64_t{0}},
                        {"api_calls", int64_t{9}},
                        {"ranges", int64_t{9}},
                        {"os_calls", int64_t{9}}}});
  EXPECT_THAT(Render(run, Advice{}, ReportFormat::kMarkdown),
              HasSubstr("(capture with --sample=process-tree --cpuctxsw=process-tree to find it)"));
  run.Give("profile", {{{"profile", int64_t{0}}, {"api_calls", int64_t{9}}, {"python_frames", int64_t{9}}}});
  EXPECT_THAT(Render(run, Advice{}, ReportFormat::kMarkdown), Not(HasSubstr("capture with")));
}

}  // namespace
}  // namespace dladvisor::test
