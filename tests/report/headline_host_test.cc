// SPDX-License-Identifier: Apache-2.0
// What the report says first of programs in which the host computes alone, or keeps a pace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "src/report/report.h"
#include "src/report/sections/headline.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Headline, BeginsWithTheHostWhereItComputesAloneForMostOfTheTime) {
  const auto text = [](double share, const char* other = "allocation", const char* known = "known") {
    Advice advice;
    advice.findings = {MakeFinding(other, Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Allocate once."};
    advice.findings[0].saves = SavingClaim{"idle/allocation", 0, 15e6, 15e6};
    advice.findings[1].recommendation = {"Do it on the GPU."};
    const std::vector<NamedValue> scope = {{"share_of_program_time", share, Unit::kRatio}};
    advice.findings[1].lets = {{known, int64_t{1}, Unit::kNone}};
    advice.findings[1].problem = RenderMessage("{{share_of_program_time}} of the time", scope);
    return Render(RunWithLedger({{"compute/other", 80'000'000}, {"idle/allocation", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(0.9),
              HasSubstr("20.0 ms of the analysed 100 ms are lost (20 %), all of it to allocation of "
                        "memory; for 90.0 % of the program's time only the host computes; first, "
                        "do it on the GPU; then allocate once."));
  EXPECT_THAT(text(0.4), HasSubstr("first, allocate once, which saves up to 15.0 ms"));
  EXPECT_THAT(text(0.9, "cuda-errors"), HasSubstr("first, allocate once"));
  EXPECT_THAT(text(0.9, "allocation", "reading"), HasSubstr("first, allocate once")) << "it reads its input";
  EXPECT_THAT(text(0.9, "allocation", "waits"), HasSubstr("first, allocate once")) << "it computes nothing";
}

TEST(Headline, BeginsWithWhatIsKnownToSaveWhereWhatTheHostComputesAloneIsNot) {
  const auto text = [](double saved, const char* rule = "allocation", bool known = false,
                       int64_t alone_ns = 900'000'000) {
    Advice advice;
    advice.findings = {MakeFinding(rule, Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Allocate once."};
    advice.findings[0].saves = SavingClaim{"idle/allocation", 0, saved, saved};
    advice.findings[0].lets = {{"known", int64_t{known}, Unit::kNone}};
    advice.findings[1].recommendation = {"Find out what it does."};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.9, Unit::kRatio},
                                           {"time_without_cuda_calls_ns", alone_ns, Unit::kNanoseconds}};
    advice.findings[1].problem =
        RenderMessage("{{time_without_cuda_calls_ns}}, {{share_of_program_time}} of the time", scope);
    return Render(RunWithLedger({{"compute/other", 80'000'000}, {"idle/allocation", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(
      text(15e6),
      HasSubstr("for 90.0 % of the program's time only the host computes; first, allocate once, which "
                "saves up to 15.0 ms (up to 75 % of the loss); then find out what the host computes "
                "alone."));
  EXPECT_THAT(text(9e6), HasSubstr("only the host computes; first, find out what it does; then allocate"))
      << "it saves little of the GPU's time";
  EXPECT_THAT(text(15e6, "host-work"), HasSubstr("first, find out what it does")) << "asks as much";
  EXPECT_THAT(text(15e6, "host-work", true), HasSubstr("first, allocate once"));
  EXPECT_THAT(text(15e6, "allocation", false, 1'500'000'000), HasSubstr("first, find out what it does"))
      << "less than a hundredth of the program's time";
}

TEST(Headline, BeginsWithWhatIsReadBackWhereNoKernelIsLaunched) {
  const auto text = [](const char* let) {
    Advice advice;
    advice.findings = {MakeFinding("no-gpu-work", Severity::kWarning, Outcome::kFired),
                       MakeFinding("scalar-reads", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Profile again."};
    advice.findings[0].lets = {{let, int64_t{1}, Unit::kNone}};
    advice.findings[1].recommendation = {"Copy the tensor once."};
    return Render(RunWithLedger({{"copy", 20'000'000}, {"idle/launch", 80'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("reached"), HasSubstr("No kernel was recorded; first, copy the tensor once."));
  EXPECT_THAT(text("launched"), HasSubstr("No kernel was recorded; first, profile again."));
}

TEST(Headline, AsksNoTwoQuestionsWhereThereIsSomethingToDo) {
  const auto text = [](double saved) {
    Advice advice;
    advice.findings = {MakeFinding("host-work", Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired),
                       MakeFinding("data-per-call", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Find out what it does between."};
    advice.findings[0].saves = SavingClaim{"idle/host", 0, 50e6, 50e6};
    advice.findings[1].recommendation = {"Find out what it does before."};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.9, Unit::kRatio}};
    advice.findings[1].problem = RenderMessage("{{share_of_program_time}} of the time", scope);
    advice.findings[2].recommendation = {"Keep data on the GPU."};
    advice.findings[2].saves = SavingClaim{"idle", 0, saved, saved};
    return Render(RunWithLedger({{"compute/other", 20'000'000}, {"idle/host", 80'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(17e6),
              HasSubstr("only the host computes; first, keep data on the GPU, which saves up to"));
  EXPECT_THAT(text(9e6), HasSubstr("only the host computes; first, find out what it does before; then find"));
}

TEST(Headline, BeginsATestWithTheHostWhereNothingOnTheGpuWouldBeNoticedBesideIt) {
  const auto text = [](int64_t alone_ns) {
    Advice advice;
    advice.findings = {MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].confidence = Confidence::kHigh;
    advice.findings[0].recommendation = {"Profile the program at work."};
    advice.findings[1].recommendation = {"Find out what it does."};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.9, Unit::kRatio},
                                           {"time_without_cuda_calls_ns", alone_ns, Unit::kNanoseconds}};
    advice.findings[1].problem =
        RenderMessage("{{time_without_cuda_calls_ns}}, {{share_of_program_time}} of the time", scope);
    return Render(RunWithLedger({{"compute/other", 4'000'000}, {"copy", 1'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(1'700'000'000), HasSubstr("first, find out what it does"));
  EXPECT_THAT(text(900'000'000), HasSubstr("first, profile the program at work"));
}

TEST(Headline, SaysOfAColdCallWhatItHoldsAndNoShareOfIt) {
  Advice advice;
  advice.findings = {MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Profile the program at work."};
  advice.findings[0].lets = {{"computing_ns", 49'000.0, Unit::kNanoseconds}};
  const std::string text = Render(RunWithLedger({{"compute/other", 49'000}, {"idle/host", 3'000'000}}),
                                  advice, ReportFormat::kMarkdown);
  EXPECT_THAT(text, HasSubstr("tells little of a program at work; first, profile the program at work."));
  EXPECT_THAT(text, Not(HasSubstr("are lost")));
}

TEST(Headline, BeginsATestWithItsResultWhereThatIsWrittenForLongerThanTheGpuWorks) {
  const auto text = [](const char* activity, int64_t ns) {
    Advice advice;
    advice.findings = {MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[1].recommendation = {"Write it more cheaply."};
    advice.findings[1].lets = {{activity, int64_t{1}, Unit::kNone}, {"checking", int64_t{1}, Unit::kNone}};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.3, Unit::kRatio},
                                           {"time_without_cuda_calls_ns", ns, Unit::kNanoseconds}};
    advice.findings[1].problem =
        RenderMessage("{{time_without_cuda_calls_ns}}, {{share_of_program_time}} of the time", scope);
    advice.findings[0].confidence = Confidence::kHigh;
    advice.findings[0].recommendation = {"Profile it at work."};
    return Render(RunWithLedger({{"compute/other", 20'000'000}}), advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("writing", 20'000'001), HasSubstr("first, write it more cheaply"));
  EXPECT_THAT(text("writing", 20'000'000), HasSubstr("first, profile it at work"));
  EXPECT_THAT(text("known", 20'000'001), HasSubstr("first, profile it at work"));
}

TEST(Headline, LeavesWhatATestComputesOnTheHostUnlessItIsKnown) {
  const auto text = [](const char* known, int64_t ns) {
    Advice advice;
    advice.findings = {MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].confidence = Confidence::kHigh;
    advice.findings[0].recommendation = {"Copy less."};
    advice.findings[1].recommendation = {"Check less."};
    advice.findings[1].lets = {{known, int64_t{1}, Unit::kNone}};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.9, Unit::kRatio}};
    advice.findings[1].problem = RenderMessage("{{share_of_program_time}} of the time", scope);
    return Render(RunWithLedger({{"compute/other", 1'000'000}, {"copy", ns}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("checking", 20'000'000), HasSubstr("first, copy less"));
  EXPECT_THAT(text("known", 20'000'000), HasSubstr("only the host computes; first, check less"));
  EXPECT_THAT(text("checking", 60'000'000), HasSubstr("only the host computes; first, check less; then copy"))
      << "no test";
}

// Before its GPU work and after it, of one process; another beside it adds nothing.
TEST(Headline, BeginsWithTheHostsStartWhereTheGpusSideIsMissing) {
  const auto text = [](const char* place) {
    Advice advice;
    advice.findings = {MakeFinding("gpu-trace-missing", Severity::kWarning, Outcome::kFired),
                       MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Profile on Linux."};
    advice.findings[1].recommendation = {"Do it on the GPU."};
    const std::vector<NamedValue> scope = {{"share_of_program_time", 0.67, Unit::kRatio}};
    advice.findings[1].lets = {{place, int64_t{1}, Unit::kNone}};
    advice.findings[1].problem = RenderMessage("{{share_of_program_time}} of the time", scope);
    return Render(FakeRun(), advice, ReportFormat::kText);
  };
  EXPECT_THAT(text("starting"),
              HasSubstr("Launches were recorded, and nothing of the GPU; for 67.0 % of the "
                        "program's time only the host\ncomputes; first, do it on the GPU."));
  EXPECT_THAT(text("between"), HasSubstr("nothing of the GPU; first, profile on Linux."))
      << "the GPU may have worked meanwhile";
}

TEST(Headline, AddsWhatTheHostComputesAloneInSeveralParts) {
  const auto text = [](int64_t second_process, double first = 0.3, double second = 0.4) {
    Advice advice;
    for (int i = 0; i < 2; ++i) {
      Finding finding = MakeFinding("host-computes-alone", Severity::kWarning, Outcome::kFired);
      finding.recommendation = {i == 0 ? "Check less." : "Fill it on the GPU."};
      const std::vector<NamedValue> scope = {
          {"pid", i == 0 ? int64_t{7} : second_process, Unit::kNone},
          {"share_of_program_time", i == 0 ? first : second, Unit::kRatio}};
      finding.problem = RenderMessage("{{pid}}: {{share_of_program_time}} of the time", scope);
      advice.findings.push_back(finding);
    }
    return Render(RunWithLedger({{"compute/other", 80'000'000}, {"copy", 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(7), HasSubstr("for 70.0 % of the program's time only the host computes; first, fill it"));
  EXPECT_THAT(text(8), Not(HasSubstr("only the host computes")));
  EXPECT_THAT(text(8, 0.6, 0.9),
              HasSubstr("for 90.0 % of the program's time only the host computes; first, fill it"))
      << "of the process in which it is most";
}

TEST(Headline, SaysThatMinutesMayBeAPause) {
  const auto text = [](double high) {
    Advice advice;
    advice.findings = {MakeFinding("gpu-gaps", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Do less on the host in the longest gap."};
    advice.findings[0].saves = SavingClaim{"idle", 0, high, high};
    advice.findings[0].lets = {{"alone", int64_t{1}, Unit::kNone}, {"longest_gap", 90e9, Unit::kNanoseconds}};
    return Render(RunWithLedger({{"compute/other", 10'000'000'000}, {"idle/host", 90'000'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(0),
              HasSubstr("(90 %), all of it to work of the host other than launches, unless the program "
                        "pauses in the 1.50 min of one gap; first, do less"));
  EXPECT_THAT(text(80e9), Not(HasSubstr("pauses")));
}

TEST(Headline, CallsTheTimeBetweenFramesNoLoss) {
  Advice advice;
  advice.findings = {MakeFinding("paced-by-frames", Severity::kInfo, Outcome::kFired),
                     MakeFinding("sets", Severity::kInfo, Outcome::kFired)};
  advice.findings[0].recommendation = {"Leave the GPU idle between frames."};
  advice.findings[1].recommendation = {"Use cudaMemsetAsync."};
  EXPECT_THAT(
      Render(RunWithLedger({{"compute/other", 10'000'000}, {"idle/host", 30'000'000}}), advice,
             ReportFormat::kMarkdown),
      HasSubstr("The GPU has no work for 30.0 ms of the analysed 40.0 ms (75 %), as the program waits "
                "for its frames; first, leave the GPU idle between frames"));
}

}  // namespace
}  // namespace dladvisor::test
