// SPDX-License-Identifier: Apache-2.0
// The report of a server's log.
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

FakeRun Server(double mean_running = 24.12, int64_t loaded_lines = 17) {
  using I = int64_t;
  FakeRun run;
  run.Give("profile", {{{"profile", I{0}}, {"format", "serving log"}, {"serving_lines", I{21}}}});
  run.Give("serving", {{{"profile", I{0}},
                        {"program", "vLLM"},
                        {"lines", I{21}},
                        {"loaded_lines", loaded_lines},
                        {"engines", I{1}},
                        {"duration_ns", I{340'000'000'000}},
                        {"mean_running", mean_running},
                        {"most_running", I{66}},
                        {"most_waiting", I{27}},
                        {"waiting_lines", I{8}},
                        {"most_cache_used", 1.0},
                        {"generated_tokens_per_second", 223.4},
                        {"most_generated_tokens_per_second", 1542.1},
                        {"cache_tokens", I{38944}},
                        {"max_running", I{128}},
                        {"preemptions", I{0}}}});
  return run;
}

TEST(ServingSection, HeadlineIsTheLoad) {
  EXPECT_THAT(
      test::Render(Server(), ReportFormat::kText),
      HasSubstr("A log of vLLM, not a trace: 24.1 requests at once on average, 66 at most, 223 tokens/s "
                "generated;"));
  EXPECT_THAT(test::Render(Server(1), ReportFormat::kText), HasSubstr("trace: 1 request at once on average"));
  EXPECT_THAT(test::Render(Server(0, 0), ReportFormat::kText),
              HasSubstr("no request in any of its lines; take the log while it answers requests."));
}

TEST(ServingSection, CountersBesideTelemetryAreToldWithHowBusyTheGpuIs) {
  FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}},
                        {"format", "nvidia-smi"},
                        {"serving_lines", int64_t{300}},
                        {"telemetry_samples", int64_t{300}}}});
  run.Give("serving", {{{"profile", int64_t{0}},
                        {"program", "a server"},
                        {"lines", int64_t{300}},
                        {"loaded_lines", int64_t{300}},
                        {"engines", int64_t{1}},
                        {"mean_running", 31.9},
                        {"most_running", int64_t{32}}}});
  run.Give("telemetry", {{{"profile", int64_t{0}},
                          {"device", int64_t{0}},
                          {"metric", "gpu_utilization"},
                          {"samples", int64_t{300}},
                          {"mean", 0.35}}});
  EXPECT_THAT(test::Render(run, ReportFormat::kMarkdown),
              HasSubstr("A log of GPU telemetry and a server's load, not a trace: 31.9 requests at once on "
                        "average, 32 at most, the GPU busy 35.0 % of the time;"));
}

TEST(ServingSection, OfAStartAloneTheHeadlineTellsItsParts) {
  FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}}, {"format", "serving log"}, {"serving_lines", int64_t{0}}}});
  run.Give("serving", {{{"profile", int64_t{0}},
                        {"program", "vLLM"},
                        {"lines", int64_t{0}},
                        {"starts", int64_t{1}},
                        {"start_ns", 117e9},
                        {"compile_ns", 50e9},
                        {"capture_ns", 2e9}}});
  const std::string text = test::Render(run, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("A log of vLLM, not a trace: its start took 1.95 min (50.0 s for compiling), "
                              "and no line of its load"));
}

TEST(ServingSection, SummaryOfTheLog) {
  const std::string text = test::Render(Server(), ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("Server Log\n"));
  EXPECT_THAT(text, HasSubstr("24.1 on average, 66 at most, 128 allowed"));
  EXPECT_THAT(text, HasSubstr("27 at most, in 8 of 17 lines with requests"));
  EXPECT_THAT(text, HasSubstr("100.0 % at most of 38,944 tokens"));
  EXPECT_THAT(text, HasSubstr("223/s on average, 1,542/s at most"));
  EXPECT_THAT(text, Not(HasSubstr("Preemptions")));
  EXPECT_THAT(text, Not(HasSubstr("Performance Summary"))) << "of GPU work there is none";
}

TEST(ServingSection, CountsNoLinesOfAServerThatDidNotStart) {
  FakeRun run;
  run.Give("profile", {{{"profile", int64_t{0}}, {"format", "serving log"}, {"serving_lines", int64_t{0}}}});
  run.Give("serving", {{{"profile", int64_t{0}}, {"program", "vLLM"}, {"lines", int64_t{0}}}});
  const std::string text = test::Render(run, ReportFormat::kText);
  EXPECT_THAT(text, HasSubstr("lines of its start, and none of its load"));
  EXPECT_THAT(text, Not(HasSubstr("of them with requests")));
  FakeRun died;
  died.Give("serving", {{{"profile", int64_t{0}},
                         {"program", "vLLM"},
                         {"lines", int64_t{0}},
                         {"error", "OSError: no model"}}});
  EXPECT_THAT(test::Render(died, ReportFormat::kText), HasSubstr("it ended before it answered a request"));
}

TEST(ServingSection, InAllFormats) {
  EXPECT_THAT(test::Render(Server(), ReportFormat::kMarkdown), HasSubstr("## Server Log"));
  EXPECT_THAT(test::Render(Server(), ReportFormat::kHtml),
              HasSubstr("<h3 id=\"log-summary\">Server Log</h3>"));
}

}  // namespace
}  // namespace dladvisor
