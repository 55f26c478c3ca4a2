// SPDX-License-Identifier: Apache-2.0
// Logs of telemetry and of trainings over time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "src/report/model/report_model.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using I = int64_t;

std::string Page(const FakeRun& run) { return Render(run, ReportFormat::kHtml); }

std::string ChartOf(const std::string& html, const std::string& id) {
  const size_t at = html.find("id=\"" + id + "-t\"");
  return at == std::string::npos ? "" : html.substr(at, html.find("</svg>", at) - at);
}

size_t Times(const std::string& text, const std::string& words) {
  size_t times = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
  return times;
}

// GPUs that work, idle for the third quarter of the log, and work again, where their clock is lower.
FakeRun Sensors(I gpus, I samples) {
  FakeRun run;
  for (I gpu = 0; gpu < gpus; ++gpu) {
    run.Give("telemetry", {{{"profile", I{0}},
                            {"device", gpu},
                            {"metric", "power_w"},
                            {"mean", 250.0},
                            {"limit_value", 300.0}}});
    for (I sample = 0; sample < samples; ++sample) {
      const bool idle = sample * 4 / samples == 2, late = sample * 4 / samples == 3;
      run.Give("telemetry_series", {{{"profile", I{0}},
                                     {"sample", sample * gpus + gpu},
                                     {"device", gpu},
                                     {"start_ns", sample * 1'000'000'000},
                                     {"gpu_utilization", idle ? 0.0 : 0.9},
                                     {"power_w", sample == 0 ? 299.0 : 200.0},
                                     {"sm_clock_hz", late ? 1.0e9 : 1.9e9}}});
    }
  }
  return run;
}

TEST(Series, ALogWithoutUtilizationIsAskedForIt) {
  FakeRun run;
  run.Give("profile", {{{"profile", I{0}}, {"telemetry_samples", I{9}}}});
  run.Give("telemetry", {{{"profile", I{0}}, {"device", I{0}}, {"metric", "power_w"}, {"mean", 250.0}}});
  EXPECT_THAT(test::Render(run, ReportFormat::kText), HasSubstr("1 GPU; log how busy they are, too"));
}

TEST(Series, WhatIsOutsideOfWhatIsNormalIsMarked) {
  const std::string html = Page(Sensors(2, 100));
  const std::string utilization = ChartOf(html, "series-gpu_utilization");
  EXPECT_EQ(Times(utilization, "<title>idle between times of work</title>"), 2u);
  EXPECT_THAT(utilization, HasSubstr("GPU 1"));
  EXPECT_EQ(Times(ChartOf(html, "series-power_w"), "<title>at the power limit</title>"), 2u);
  EXPECT_EQ(Times(ChartOf(html, "series-sm_clock_hz"), "<title>below its usual clock</title>"), 2u);
  EXPECT_THAT(html, HasSubstr("Hatched: below its usual clock"));
  EXPECT_EQ(ChartOf(html, "series-memory_used_bytes"), "") << "the log does not record it";
}

TEST(Series, OnlySectionsWithContent) {
  const std::string html = Page(Sensors(1, 100));
  for (const char* absent : {"Top 10 GPU Ops", "Performance Summary", "Not detected. Mark iterations"})
    EXPECT_THAT(html, Not(HasSubstr(absent)));
  EXPECT_THAT(html, HasSubstr("id=\"telemetry-summary\""));
}

TEST(Series, BoundedHoweverLongTheLog) {
  const std::string few = Page(Sensors(12, 160)), many = Page(Sensors(12, 1600));
  EXPECT_LT(ChartOf(many, "series-power_w").size(), 2 * ChartOf(few, "series-power_w").size());
  const std::string html = Page(Sensors(20, 160));
  EXPECT_THAT(html, HasSubstr("The first 12 of 20 GPUs are drawn."));
  EXPECT_THAT(ChartOf(html, "series-power_w"), Not(HasSubstr("GPU 12")));
}

TEST(Series, IterationsWithTheirCauses) {
  FakeRun run;
  run.Give("training", {{{"profile", I{0}}, {"program", "Megatron-LM"}, {"lines", I{20}}}});
  for (I line = 0; line < 20; ++line)
    run.Give("training_log", {{{"profile", I{0}},
                               {"attempt", I{0}},
                               {"iteration", line + 1},
                               {"warmup", I{line == 0}},
                               {"slow", I{line == 9}},
                               {"cause", line == 9 ? Value("checkpoint") : Value()},
                               {"elapsed_ns", line == 9 ? 4e9 : 1e9},
                               {"loss_scale", line < 15 ? 4096.0 : 2048.0},
                               {"tflops_per_gpu", 100.0}}});
  const std::string html = Page(run), chart = ChartOf(html, "series-training");
  EXPECT_THAT(chart, HasSubstr("<title>slow: checkpoint</title>"));
  EXPECT_THAT(chart, HasSubstr("<title>warm-up</title>"));
  EXPECT_EQ(Times(chart, "<title>lowered after an overflow</title>"), 1u);
  EXPECT_THAT(chart, HasSubstr("TFLOP/s of a GPU"));
  EXPECT_THAT(chart, Not(HasSubstr("Tokens per second"))) << "the log does not print it";
}

}  // namespace
}  // namespace dladvisor::test
