// SPDX-License-Identifier: Apache-2.0
// What the report says first of a program's start.
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

TEST(Headline, CallsCodeThatIsLoadedOnceStartUp) {
  const auto text = [](const char* bucket) {
    Advice advice;
    advice.findings = {MakeFinding("slow", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].saves = SavingClaim{bucket, 0, 15e6, 15e6};
    return Render(RunWithLedger({{"compute/other", 10'000'000}, {bucket, 20'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("idle/compilation"), HasSubstr("which saves up to 15.0 ms of start-up."));
  EXPECT_THAT(text("idle/launch"), HasSubstr("which saves up to 15.0 ms (up to 75 % of the loss)."));
}

TEST(Headline, SaysWhatFollowsStartUp) {
  Advice advice;
  advice.findings = {MakeFinding("kernel-compilation", Severity::kWarning, Outcome::kFired),
                     MakeFinding("exposed", Severity::kWarning, Outcome::kFired),
                     MakeFinding("elementwise", Severity::kInfo, Outcome::kFired)};
  advice.findings[0].recommendation = {"Warm up."};
  advice.findings[0].saves = SavingClaim{"idle/compilation", 0, 60e6, 60e6};
  advice.findings[1].recommendation = {"Communicate less."};
  advice.findings[1].saves = SavingClaim{"communication/exposed", 0, 20e6, 20e6};
  advice.findings[2].recommendation = {"Fuse chains."};
  advice.rules.resize(1);
  advice.rules[0].id = "elementwise";
  advice.rules[0].category = "compute";
  const auto text = [&] {
    return Render(RunWithLedger({{"idle/compilation", 60'000'000},
                                 {"communication/exposed", 20'000'000},
                                 {"compute/other", 10'000'000}}),
                  advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(), HasSubstr("of start-up; then communicate less (up to 20.0 ms)."));
  advice.findings[1].saves = SavingClaim{"communication/exposed", 0, 2e6, 2e6};
  EXPECT_THAT(text(), HasSubstr("of start-up; then fuse chains."));
  advice.findings.push_back(MakeFinding("late-collective", Severity::kWarning, Outcome::kFired));
  advice.findings.back().recommendation = {"Compare the ranks."};
  EXPECT_THAT(text(), HasSubstr("of start-up; then compare the ranks."));
}

TEST(Headline, BeginsWithWhatHoldsTheWholeGpuBack) {
  Advice advice;
  advice.findings = {MakeFinding("training-mode-inference", Severity::kWarning, Outcome::kFired),
                     MakeFinding("memory-below-its-rate", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].recommendation = {"Switch to evaluation mode."};
  advice.findings[0].saves = SavingClaim{"compute/other", 10e6, 20e6, 20e6};
  advice.findings[1].recommendation = {"Find out what holds the GPU back."};
  const auto text = [&](int64_t idle_ns) {
    return Render(RunWithLedger({{"compute/other", 60'000'000}, {"idle/launch", idle_ns}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(10'000'000), HasSubstr("first, find out what holds the GPU back"));
  EXPECT_THAT(text(90'000'000), HasSubstr("first, switch to evaluation mode"));
}

TEST(Headline, BeginsWithStartUpThatIsMostOfTheLoss) {
  const auto text = [](int64_t start_up_ns, double launching_ns = 0) {
    Advice advice;
    advice.findings = {MakeFinding("tiny-kernels", Severity::kWarning, Outcome::kFired),
                       MakeFinding("kernel-compilation", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Fuse small kernels."};
    if (launching_ns > 0)
      advice.findings[0].saves = SavingClaim{"idle/launch", 0.3 * launching_ns, launching_ns, launching_ns};
    advice.findings[1].recommendation = {"Warm up."};
    advice.findings[1].saves = SavingClaim{"idle/compilation", {}, {}, {}};
    return Render(
        RunWithLedger(
            {{"compute/other", 20'000'000}, {"idle/compilation", start_up_ns}, {"idle/launch", 100'000'000}}),
        advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(300'000'000), HasSubstr("300 ms of it to loading and compiling code; first, warm up."));
  EXPECT_THAT(text(50'000'000), HasSubstr("first, fuse small kernels."));
  EXPECT_THAT(text(300'000'000, 100e6), HasSubstr("first, warm up.")) << "a cold step";
  EXPECT_THAT(text(110'000'000, 100e6), HasSubstr("first, fuse small kernels, which saves"));
  EXPECT_THAT(text(115'000'000, 80e6), HasSubstr("first, fuse small kernels, which saves"))
      << "most of the loss, and not of the time";
}

TEST(Headline, BeginsWithWhatRecursUnlessMostIsStartUp) {
  const auto text = [](double start_up_ns, double launch_ns) {
    Advice advice;
    advice.findings = {MakeFinding("kernel-compilation", Severity::kWarning, Outcome::kFired),
                       MakeFinding("cpu-launch-starvation", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Warm up."};
    advice.findings[0].saves = SavingClaim{"idle/compilation", 0, start_up_ns, start_up_ns};
    advice.findings[1].recommendation = {"Launch less."};
    if (launch_ns > 0) advice.findings[1].saves = SavingClaim{"idle/launch", 0, launch_ns, launch_ns};
    return Render(RunWithLedger({{"compute/other", 400'000'000},
                                 {"idle/compilation", static_cast<int64_t>(start_up_ns)},
                                 {"idle/launch", 600'000'000 - static_cast<int64_t>(start_up_ns)}}),
                  advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(300e6, 100e6), HasSubstr("first, launch less, which saves up to 100 ms"));
  EXPECT_THAT(text(550e6, 50e6), HasSubstr("first, warm up, which saves up to 550 ms of start-up"));
  EXPECT_THAT(text(300e6, 0), HasSubstr("first, warm up, which saves up to 300 ms of start-up"));
}

TEST(Headline, BeginsWithTheStartWhereCollectivesWaitForThatOfOtherRanks) {
  const auto text = [](const char* bucket, double start_up_ns) {
    Advice advice;
    advice.findings = {MakeFinding("kernel-compilation", Severity::kWarning, Outcome::kFired),
                       MakeFinding("other", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Warm up."};
    advice.findings[0].saves = SavingClaim{"idle/compilation", 0, start_up_ns, start_up_ns};
    advice.findings[1].recommendation = {"Change it."};
    advice.findings[1].saves = SavingClaim{bucket, 0, 300e6, 300e6};
    return Render(RunWithLedger({{"compute/other", 100'000'000},
                                 {"idle/compilation", static_cast<int64_t>(start_up_ns)},
                                 {bucket, 900'000'000 - static_cast<int64_t>(start_up_ns)}}),
                  advice, ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text("communication/exposed", 400e6), HasSubstr("first, warm up"));
  EXPECT_THAT(text("communication/exposed", 200e6), HasSubstr("first, change it"));
  EXPECT_THAT(text("idle/host", 400e6), HasSubstr("first, change it"));
}

// Its code is loaded once in any program; of a test of milliseconds it is most of the time.
TEST(Headline, DoesNotBeginWithTheStartOfATest) {
  const auto text = [](int64_t ns) {
    Advice advice;
    advice.findings = {MakeFinding("kernel-compilation", Severity::kWarning, Outcome::kFired),
                       MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Warm up."};
    advice.findings[0].saves =
        SavingClaim{"idle/compilation", 0, 0.8 * static_cast<double>(ns), 0.8 * static_cast<double>(ns)};
    advice.findings[1].recommendation = {"Profile the program at work."};
    return Render(RunWithLedger({{"compute/other", ns / 5}, {"idle/compilation", ns * 4 / 5}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(5'000'000), HasSubstr("first, profile the program at work."));
  EXPECT_THAT(text(500'000'000), HasSubstr("first, warm up, which saves up to 400 ms of start-up."));
}

TEST(Headline, BeginsWithCodeThatEachStartCompilesWhereATestOnlyAsksForMore) {
  const auto text = [](const char* launching, const char* rule = "ptx-compiled") {
    Advice advice;
    advice.findings = {MakeFinding("one-shot-program", Severity::kWarning, Outcome::kFired),
                       MakeFinding(rule, Severity::kWarning, Outcome::kFired)};
    advice.findings[0].recommendation = {"Profile it at work."};
    advice.findings[0].lets = {{"launching", std::string(launching), Unit::kText}};
    advice.findings[1].recommendation = {"Build for the GPU at hand."};
    return Render(RunWithLedger({{"compute/other", 1'000'000}, {"copy", 2'000'000}}), advice,
                  ReportFormat::kMarkdown);
  };
  EXPECT_THAT(text(""), HasSubstr("first, build for the GPU at hand"));
  EXPECT_THAT(text("Launch more blocks."), HasSubstr("first, profile it at work"));
  EXPECT_THAT(text("", "other"), HasSubstr("first, profile it at work"));
}

}  // namespace
}  // namespace dladvisor::test
