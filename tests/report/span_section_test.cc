// SPDX-License-Identifier: Apache-2.0
// The report of spans that a program marked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/report/report.h"
#include "tests/report/fixture.h"

namespace dladvisor {
namespace {

TEST(SpanSection, SaysWhatTakesMostAndNothingOfGpus) {
  test::FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}}, {"format", "span trace"}, {"program_parts", int64_t{4}}}});
  run.Give("span_trace", {{{"profile", int64_t{0}},
                           {"spans", int64_t{100}},
                           {"tracks", int64_t{4}},
                           {"processes", int64_t{1}},
                           {"duration_ns", 32.5e6},
                           {"covered_share", 0.95},
                           {"name", "send"},
                           {"share", 0.497}}});
  std::string text = test::Render(run, ReportFormat::kText);
  for (char& c : text)
    if (c == '\n') c = ' ';
  EXPECT_THAT(text, testing::HasSubstr("100 spans of a program, on 4 tracks over 32.5 ms: \"send\" takes "
                                       "49.7 % of the time in them;"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Performance Summary"))) << "of GPU work there is none";
}

}  // namespace
}  // namespace dladvisor
