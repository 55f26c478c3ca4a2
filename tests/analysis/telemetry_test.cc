// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/telemetry.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using Metric = TelemetryMetric;

void Add(TraceBuilder& b, Ns time, uint32_t sample, Metric metric, double value) {
  Telemetry& t = b.trace.telemetry;
  t.time.push_back(time);
  t.sample.push_back(sample);
  t.device.push_back(0);
  t.metric.push_back(metric);
  t.value.push_back(value);
}

TEST(Telemetry, MeansOverTime) {
  TraceBuilder b;
  // Held for 1, 3, 1 and, as the last one, 1 (the median).
  for (const auto& [time, value] : {std::pair(0, 1.0), {100, 0.0}, {400, 1.0}, {500, 0.5}})
    Add(b, time, static_cast<uint32_t>(b.trace.telemetry.size()), Metric::kGpuUtilization, value);
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].metric, "gpu_utilization");
  EXPECT_EQ(rows[0].unit, "ratio");
  EXPECT_EQ(rows[0].samples, 4);
  EXPECT_EQ(rows[0].last_ns, 500);
  EXPECT_DOUBLE_EQ(rows[0].mean, 2.5 / 6);
  EXPECT_DOUBLE_EQ(rows[0].median, 0.75);
  EXPECT_DOUBLE_EQ(rows[0].at_limit_share.value(), 2.0 / 6);
  EXPECT_EQ(rows[0].busy_samples, 3);
  EXPECT_DOUBLE_EQ(rows[0].busy_mean.value(), 2.5 / 3);
}

TEST(Telemetry, BeforeAndBehindTheWork) {
  TraceBuilder b;
  // Idle for two samples, at work for two, idle for three, with memory held from the second on.
  for (const auto& [time, use, memory] : {std::tuple(0, 0.0, 0.0),
                                          {100, 0.0, 5e9},
                                          {200, 0.9, 8e9},
                                          {300, 0.8, 8e9},
                                          {400, 0.05, 6e9},
                                          {500, 0.0, 6e9},
                                          {600, 0.0, 6e9}}) {
    const auto sample = static_cast<uint32_t>(b.trace.telemetry.size() / 2);
    Add(b, time, sample, Metric::kGpuUtilization, use);
    Add(b, time, sample, Metric::kMemoryUsed, memory);
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  for (const TelemetryRow& row : rows) {
    EXPECT_EQ(row.before_ns, 200);
    EXPECT_EQ(row.after_ns, 300);
    EXPECT_EQ(row.idle_samples, 0);
  }
  EXPECT_DOUBLE_EQ(rows[1].before_mean.value(), 2.5e9);
  EXPECT_DOUBLE_EQ(rows[1].after_mean.value(), 6e9);
}

TEST(Telemetry, PausesWithinTheWork) {
  TraceBuilder b;
  uint32_t sample = 0;
  for (const double use : {0.9, 0.0, 0.05, 0.8, 0.0, 0.9, 0.0}) {
    Add(b, 100 * sample, sample, Metric::kGpuUtilization, use);
    ++sample;
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].active_samples, 6);
  EXPECT_EQ(rows[0].idle_samples, 3);
  EXPECT_EQ(rows[0].longest_idle_ns, 200);
}

TEST(Telemetry, RepeatedReadingsOfABusyGpuAreLeftOut) {
  const auto rows = [](double power, double use, bool repeats, bool timed = true) {
    TraceBuilder b;
    for (uint32_t sample = 0; sample < 200; ++sample) {
      const Ns time = timed ? Ns{1'000'000'000} * sample : -1;
      const bool same = repeats && sample >= 100;
      Add(b, time, sample, Metric::kGpuUtilization, same ? use : 0.25);
      Add(b, time, sample, Metric::kPower, same ? power : 200.5 + sample);
    }
    return ComputeTelemetry(test::ContextOf(b.trace));
  };
  const auto still = rows(316.98, 1, true);
  EXPECT_EQ(still[0].still_samples, 99);
  EXPECT_EQ(still[0].still_ns, 99'000'000'000);
  EXPECT_EQ(still[0].samples, 101);
  EXPECT_LT(still[0].mean, 0.4);
  EXPECT_FALSE(rows(316.98, 1, false)[0].still_samples);
  EXPECT_FALSE(rows(20.5, 0, true)[0].still_samples) << "an idle GPU may draw the same";
  EXPECT_FALSE(rows(316.98, 1, true, false)[0].still_samples) << "they may be of one moment";
}

TEST(Telemetry, WhatFollowsAJobThatGaveItsMemoryBackIsNotItsWork) {
  TraceBuilder b;
  uint32_t sample = 0;
  for (const auto& [use, gibibytes] :
       {std::pair(0.2, 0.3), {0.9, 10.0}, {0.0, 4.0}, {0.8, 10.0}, {0.3, 0.3}, {0.02, 0.3}}) {
    Add(b, -1, sample, Metric::kGpuUtilization, use);
    Add(b, -1, sample++, Metric::kMemoryUsed, gibibytes * 1073741824);
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  ASSERT_EQ(rows[0].metric, "gpu_utilization");
  EXPECT_EQ(rows[0].active_samples, 3);
}

TEST(Telemetry, FromTheFirstToTheLastBusySample) {
  TraceBuilder b;
  for (const double value : {0.0, 0.05, 0.4, 0.0, 0.2, 0.02, 0.0})
    Add(b, -1, static_cast<uint32_t>(b.trace.telemetry.size()), Metric::kGpuUtilization, value);
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  EXPECT_EQ(rows[0].active_samples, 3);
  EXPECT_DOUBLE_EQ(rows[0].active_mean.value(), 0.2);
}

TEST(Telemetry, PowerThatDropsWhileTheGpuIsBusy) {
  TraceBuilder b;
  for (uint32_t i = 0; i < 10; ++i) {
    Add(b, -1, i, Metric::kGpuUtilization, i < 8 ? 1 : 0);
    Add(b, -1, i, Metric::kPower, i < 6 ? 300 : 170);
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  EXPECT_EQ(rows[1].metric, "power_w");
  EXPECT_EQ(rows[1].saturated_samples, 8);
  EXPECT_DOUBLE_EQ(rows[1].saturated_mean.value(), (6 * 300 + 2 * 170) / 8.0);
  EXPECT_DOUBLE_EQ(rows[1].dropped_share.value(), 0.25);
}

TEST(Telemetry, PowerReadSoonAfterAnIdleTimeIsNotThatOfABusyGpu) {
  TraceBuilder b;
  constexpr Ns kTenth = 100'000'000;
  for (uint32_t i = 0; i < 30; ++i) {
    Add(b, i * kTenth, i, Metric::kGpuUtilization, i < 5 ? 0 : 1);
    Add(b, i * kTenth, i, Metric::kPower, i < 14 ? 100 : 300);
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  EXPECT_EQ(rows[0].saturated_samples, 25);
  EXPECT_EQ(rows[1].saturated_samples, 17) << "without those of the mean over the time before";
  EXPECT_DOUBLE_EQ(rows[1].dropped_share.value(), 1.0 / 17);
}

TEST(Telemetry, APauseOfTheLogCountsLittle) {
  TraceBuilder b;
  for (const Ns time : {0, 100, 200, 300, 1'000'000})
    Add(b, time, static_cast<uint32_t>(b.trace.telemetry.size()), Metric::kPower, time == 300 ? 100 : 0);
  EXPECT_DOUBLE_EQ(ComputeTelemetry(test::ContextOf(b.trace))[0].mean, 100 * 1000.0 / 1400);
}

TEST(Telemetry, LimitsAndBusyTime) {
  TraceBuilder b;
  for (uint32_t i = 0; i < 4; ++i) {
    Add(b, i * 10, i, Metric::kGpuUtilization, i < 2 ? 0.9 : 0.1);
    Add(b, i * 10, i, Metric::kPower, i < 1 ? 299 : 150);
    Add(b, i * 10, i, Metric::kPowerLimit, 300);
    Add(b, i * 10, i, Metric::kTemperature, 60 + i);
  }
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].metric, "power_w");
  EXPECT_DOUBLE_EQ(rows[1].limit_value.value(), 300);
  EXPECT_DOUBLE_EQ(rows[1].at_limit_share.value(), 0.25);
  EXPECT_DOUBLE_EQ(rows[1].busy_at_limit_share.value(), 0.5);
  EXPECT_EQ(rows[3].metric, "temperature_c");
  EXPECT_FALSE(rows[3].limit_value.has_value());
  EXPECT_FALSE(rows[3].at_limit_share.has_value());
  EXPECT_DOUBLE_EQ(rows[3].busy_mean.value(), 60.5);
}

TEST(Telemetry, WithoutTimesAndUtilization) {
  TraceBuilder b;
  for (uint32_t i = 0; i < 3; ++i) Add(b, -1, i, Metric::kMemoryUsed, i * 1000.0);
  const auto rows = ComputeTelemetry(test::ContextOf(b.trace));
  EXPECT_DOUBLE_EQ(rows[0].mean, 1000);
  EXPECT_FALSE(rows[0].first_ns.has_value());
  EXPECT_FALSE(rows[0].busy_samples.has_value());
  EXPECT_FALSE(rows[0].busy_mean.has_value());
}

}  // namespace
}  // namespace dladvisor
