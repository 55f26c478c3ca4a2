// SPDX-License-Identifier: Apache-2.0
// The report of a program's output.
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

std::string TextOf(test::Row row, const Advice& advice = {}) {
  FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}}, {"format", "program log"}, {"program_parts", int64_t{1}}}});
  row.insert({{"profile", int64_t{0}}, {"program", "a program"}});
  run.Give("program_log", {row});
  // Without the ends of lines.
  std::string text = test::Render(run, advice, ReportFormat::kText), plain;
  for (const char c : text)
    if ((c != ' ' && c != '\n') || (!plain.empty() && plain.back() != ' ')) plain += c == '\n' ? ' ' : c;
  return plain;
}

test::Row Bars(int64_t count) {
  return {{"kind", "bars"},        {"name", "Compressing layers"}, {"count", count}, {"done", int64_t{154}},
          {"total", int64_t{224}}, {"since", int64_t{146}},        {"ns", 910e9},    {"each_ns", 57.2e9}};
}

TEST(ProgramSection, HeadlineIsTheBar) {
  const std::string text = TextOf(Bars(1));
  EXPECT_THAT(text, HasSubstr("The output of a program, not a trace: its progress bar \"Compressing layers\" "
                              "stands at 154 of 224 after 15.2 min, 57.2 s each since it stood at 146; a "
                              "trace shows where that time goes."));
  EXPECT_THAT(text, HasSubstr("Program Output Program a program"));
  EXPECT_THAT(text, Not(HasSubstr("Performance Summary"))) << "of GPU work there is none";
  EXPECT_THAT(text, Not(HasSubstr("System Configuration"))) << "of the machine nothing is known";
  EXPECT_THAT(text, Not(HasSubstr("unknown")));
  EXPECT_THAT(TextOf(Bars(20)),
              HasSubstr("its 20 progress bars \"Compressing layers\" take 15.2 min for 154"));
}

TEST(ProgramSection, AJobWhoseTimeWasOverIsToSaveWhatIsDone) {
  Advice advice;
  advice.findings = {test::MakeFinding("program-out-of-time", Severity::kInfo, Outcome::kFired)};
  advice.findings[0].recommendation = {"Let the program save what is done."};
  RuleSummary rule;
  rule.id = "program-out-of-time";
  rule.category = "capture";
  advice.rules = {rule};
  EXPECT_THAT(TextOf(Bars(1), advice), HasSubstr("at 146; first, let the program save what is done."));
}

TEST(ProgramSection, HeadlineIsWhatPassesAfterALine) {
  const std::string text = TextOf({{"kind", "lines"},
                                   {"name", "Training model.."},
                                   {"count", int64_t{1}},
                                   {"ns", 1321e9},
                                   {"share", 0.984},
                                   {"duration_ns", 1342e9}});
  EXPECT_THAT(text, HasSubstr("98.4 % of its 22.4 min pass after the line \"Training model..\";"));
}

TEST(ProgramSection, LinesThatRecurHaveAMean) {
  EXPECT_THAT(TextOf({{"kind", "lines"},
                      {"name", "Writing # results"},
                      {"count", int64_t{500}},
                      {"ns", 45000e9},
                      {"share", 0.993},
                      {"duration_ns", 45300e9}}),
              HasSubstr("99.3 % of its 12.6 h pass after 500 lines \"Writing # results\", 1.50 min each;"));
}

TEST(ProgramSection, LinesBeforeNextToNothingTellNothingOfTheTime) {
  const std::string text = TextOf({{"kind", "lines"},
                                   {"name", "Tokens: #"},
                                   {"count", int64_t{828}},
                                   {"ns", 27e6},
                                   {"longest_ns", 1e6},
                                   {"share", 5e-5},
                                   {"duration_ns", 554e9}});
  EXPECT_THAT(text, HasSubstr("not a trace: what it prints does not tell where its 9.23 min go;"));
  EXPECT_THAT(text, Not(HasSubstr("Tokens")));
  EXPECT_THAT(text, Not(HasSubstr("Longest")));
}

TEST(ProgramSection, HeadlineIsWaitingAndTheEnd) {
  EXPECT_THAT(TextOf({{"data_share", 0.98}, {"data_lines", int64_t{12}}}),
              HasSubstr("98.0 % of the time of its batches goes to waiting for their data;"));
  const std::string text = TextOf({{"communication_share", 0.676},
                                   {"communication_lines", int64_t{4}},
                                   {"error", "RuntimeError: zeros: Dimension size must be non-negative"}});
  EXPECT_THAT(text, HasSubstr("67.6 % of the time that it prints is communication; it ended with "
                              "RuntimeError: zeros: Dimension size must be non-negative;"));
}

}  // namespace
}  // namespace dladvisor
