// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/day_saving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportOptions Priced() {
  ReportOptions options = kOptions;
  options.price = {2.5, "€"};
  return options;
}

// Of whose samples two are idle, at 60 and 80 W.
FakeRun RunWithPower() {
  FakeRun run = TypicalRun();
  int64_t sample = 0;
  for (const auto& [busy, watts] : {std::pair{0.9, 300.0}, {0.0, 60.0}, {0.01, 80.0}})
    run.Give(
        "telemetry_series",
        {{{"profile", int64_t{1}}, {"sample", sample++}, {"gpu_utilization", busy}, {"power_w", watts}}});
  run.Give("telemetry",
           {{{"profile", int64_t{1}}, {"device", int64_t{0}}, {"metric", "power_w"}, {"mean", 200.0}}});
  return run;
}

// 1.5 to 5 of 12 ms of idle time on one GPU are 3 to 10 GPU-hours per day.
TEST(DaySaving, IsMoneyWithAPrice) {
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), format, Priced()), HasSubstr("7.50 – 25.00 € per day"));
}

TEST(DaySaving, IsEnergyWithPower) {
  const std::string report = Render(RunWithPower(), TypicalAdvice(), ReportFormat::kText);
  EXPECT_THAT(report, HasSubstr("0.21 – 0.70 kWh per day"));  // at 70 W
  EXPECT_THAT(report, Not(HasSubstr("€")));
  EXPECT_THAT(Render(RunWithPower(), TypicalAdvice(), ReportFormat::kText, Priced()),
              HasSubstr("7.50 – 25.00 € and 0.21 – 0.70 kWh per day"));
}

TEST(DaySaving, IsUnknownWithoutEither) {
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), format), Not(HasSubstr("per day")));
  const auto report = nlohmann::json::parse(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kJson));
  const auto& day = report["findings"][0]["saves_per_day"];
  EXPECT_NEAR(day["low_gpu_hours"], 3, 1e-9);
  EXPECT_NEAR(day["high_gpu_hours"], 10, 1e-9);
  EXPECT_TRUE(day["high_money"].is_null());
  EXPECT_TRUE(day["high_kwh"].is_null());
}

TEST(DaySaving, IdlePowerIsAFigureOfItsOwn) {
  EXPECT_THAT(Render(RunWithPower(), TypicalAdvice(), ReportFormat::kMarkdown),
              HasSubstr("| Idle Power per GPU | 70 W"));
  EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kMarkdown), Not(HasSubstr("Idle Power")));
  EXPECT_THAT(Render(TypicalRun(), TypicalAdvice(), ReportFormat::kHtml),
              HasSubstr("no log of power was given"))
      << "among all figures";
}

TEST(DaySaving, WhatDoesNotRecurIsNothingPerDay) {
  Advice advice = TypicalAdvice();
  advice.findings[0].saves->bucket = "idle/compilation";
  EXPECT_THAT(Render(TypicalRun(), advice, ReportFormat::kText, Priced()), Not(HasSubstr("25.00 €")));
}

}  // namespace
}  // namespace dladvisor::test
