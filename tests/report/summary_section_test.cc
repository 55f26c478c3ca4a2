// SPDX-License-Identifier: Apache-2.0
// The report of tables of totals by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/report.h"
#include "tests/report/fixture.h"

namespace dladvisor {
namespace {
using test::FakeRun;
using testing::HasSubstr;

std::string TextOf(std::vector<test::Row> rows, const Advice& advice = {}) {
  FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}}, {"format", "summary"}, {"summary_rows", int64_t{3}}}});
  int64_t number = 0;
  for (test::Row& row : rows)
    row.insert({{"profile", int64_t{0}}, {"summary", number++}, {"tool", "nvprof"}});
  run.Give("summary_table", rows);
  std::string text = test::Render(run, advice, ReportFormat::kText), plain;
  for (const char c : text)
    if ((c != ' ' && c != '\n') || (!plain.empty() && plain.back() != ' ')) plain += c == '\n' ? ' ' : c;
  return plain;
}

test::Row Kernel(double ns) {
  return {{"main_kind", "kernel"}, {"main_name", "saxpy"}, {"main_calls", int64_t{7}},
          {"main_ns", ns},         {"main_share", 0.6},    {"device_ns", ns / 0.6}};
}

TEST(SummarySection, HeadlineIsWhatTakesMost) {
  const std::string text = TextOf({Kernel(6e8)});
  EXPECT_THAT(text,
              HasSubstr("A summary by nvprof, not a trace: saxpy takes 60.0 % of 1.00 s of work on the GPU "
                        "(7 calls);"));
  EXPECT_THAT(text, HasSubstr("totals have no timeline"));
}

TEST(SummarySection, HeadlineOfAGpuThatMostlyWaitsIsThat) {
  test::Row row = Kernel(6e8);
  row["wall_ns"] = 4e9;
  EXPECT_THAT(TextOf({row}), HasSubstr("A summary by nvprof, not a trace: the GPU works for 1.00 s of the "
                                       "4.00 s that the program takes on the host, 25.0 % at most;"));
}

TEST(SummarySection, WhatComesFirstBelongsToWhatIsNamedBeforeIt) {
  Advice advice;
  advice.findings = {test::MakeFinding("summary-allocations", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].problem = {"Calls that allocate take 30.0 % of the time. They recur."};
  advice.findings[0].problem.sentences = {45};
  advice.findings[0].recommendation = {"Allocate once."};
  EXPECT_THAT(TextOf({Kernel(6e8)}, advice),
              HasSubstr("saxpy takes 60.0 % of 1.00 s of work on the GPU (7 calls). Calls that allocate take "
                        "30.0 % of the time; first, allocate once."));
  advice.findings[0].problem = {"Blocks of saxpy are small."};
  EXPECT_THAT(TextOf({Kernel(6e8)}, advice), HasSubstr("on the GPU (7 calls); first, allocate once."));
}

TEST(SummarySection, WhatComesFirstSaysOfWhichTableItIs) {
  Advice advice;
  advice.findings = {test::MakeFinding("summary-elementwise", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].problem = {"Blocks of saxpy are small."};
  advice.findings[0].recommendation = {"Fuse them."};
  advice.findings[0].subject = {{"profile", int64_t{0}, Unit::kNone}, {"summary", int64_t{0}, Unit::kNone}};
  advice.findings[0].lets = {{"place", std::string(" (of \"first\")"), Unit::kText}};
  EXPECT_THAT(TextOf({Kernel(3e8), Kernel(6e8)}, advice),
              HasSubstr("(7 calls). Blocks of saxpy are small (of \"first\"); first, fuse them."));
  advice.findings[0].subject[1].value = int64_t{1};
  EXPECT_THAT(TextOf({Kernel(3e8), Kernel(6e8)}, advice), HasSubstr("(7 calls); first, fuse them."));
}

TEST(SummarySection, KernelsOfGraphsAreNotListed) {
  test::Row row = Kernel(6e8);
  row.insert({{"hides_graphs", int64_t{1}}, {"graph_launches", int64_t{600}}, {"wait_ns", 9e9}});
  Advice advice;
  advice.findings = {test::MakeFinding("summary-hides-graphs", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].problem = {"600 launches are of CUDA graphs."};
  advice.findings[0].recommendation = {"Record their kernels."};
  EXPECT_THAT(TextOf({row}, advice),
              HasSubstr("it lists 1.00 s of work on the GPU, and none of the kernels within 600 CUDA graph "
                        "launches; first, record their kernels."));
}

TEST(SummarySection, SaysOnceThatTheGpuMostlyWaits) {
  test::Row row = Kernel(6e8);
  row["wall_ns"] = 4e9;
  Advice advice;
  advice.findings = {test::MakeFinding("summary-host-exceeds-gpu", Severity::kWarning, Outcome::kFired)};
  advice.findings[0].problem = {"The program takes 4.00 s on the host."};
  advice.findings[0].recommendation = {"Launch less."};
  EXPECT_THAT(TextOf({row}, advice), HasSubstr("25.0 % at most; first, launch less."));
}

TEST(SummarySection, OfSeveralTheLongest) {
  test::Row other = Kernel(6e8);
  other["title"] = "second";
  EXPECT_THAT(
      TextOf({Kernel(3e8), other}),
      HasSubstr("2 summaries by nvprof, no trace; the longest (\"second\"): saxpy takes 60.0 % of 1.00 s"));
}

TEST(SummarySection, CallsAlone) {
  EXPECT_THAT(TextOf({{{"main_kind", "api"},
                       {"main_name", "hipMemcpy"},
                       {"main_calls", int64_t{1}},
                       {"main_ns", 5e8},
                       {"main_share", 0.9}}}),
              HasSubstr("hipMemcpy takes 90.0 % of the time that it lists of calls (1 call);"));
}

TEST(SummarySection, WithoutCudaNothingOfTheHostComesFirst) {
  const test::Row calls = {
      {"main_kind", "os"}, {"main_name", "fork"}, {"main_calls", int64_t{9}}, {"main_ns", 5e8}};
  test::Row without = calls;
  without["unrecorded"] = "cuda";
  EXPECT_THAT(TextOf({without}),
              HasSubstr("A summary by nvprof, not a trace: the profile that it is of holds "
                        "no calls, kernels or copies of CUDA;"));
  EXPECT_THAT(TextOf({calls}), HasSubstr("fork takes 500 ms in all (9 calls);"));
}

test::Row Measured(test::Row row) {
  row.insert({{"one_by_one", int64_t{1}}, {"kernels", int64_t{14}}, {"kernel_names", int64_t{4}}});
  return row;
}

TEST(SummarySection, OfKernelsThatWereMeasuredOneByOneIdleTimeIsUnknown) {
  const std::string text = TextOf({Measured(Kernel(6e8))});
  EXPECT_THAT(text, HasSubstr("14 launches of 4 kernels, measured one by one by nvprof, so that idle time is "
                              "unknown: saxpy takes 60.0 % of their 1.00 s (7 of them);"));
  EXPECT_THAT(text, HasSubstr("each kernel was measured alone"));
  EXPECT_THAT(TextOf({Measured({{"shows_gpu", int64_t{1}}})}),
              HasSubstr("14 launches of 4 kernels, measured one by one by nvprof without their times;"));
}

}  // namespace
}  // namespace dladvisor
