// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/telemetry_series.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using Metric = TelemetryMetric;

void Add(TraceBuilder& b, Ns time, uint32_t sample, uint32_t device, Metric metric, double value) {
  Telemetry& t = b.trace.telemetry;
  t.time.push_back(time);
  t.sample.push_back(sample);
  t.device.push_back(device);
  t.metric.push_back(metric);
  t.value.push_back(value);
}

TEST(TelemetrySeries, ARowPerSample) {
  TraceBuilder b;
  Add(b, 0, 0, 0, Metric::kPower, 250);
  Add(b, 0, 0, 0, Metric::kPowerLimit, 300);
  Add(b, 0, 0, 0, Metric::kSmClock, 1e9);
  Add(b, 5, 1, kNoIndex, Metric::kTemperature, 60);
  const auto rows = ComputeTelemetrySeries(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].device, 0);
  EXPECT_EQ(rows[0].power_w, 250);
  EXPECT_EQ(rows[0].sm_clock_hz, 1e9);
  EXPECT_FALSE(rows[0].temperature_c.has_value());
  EXPECT_FALSE(rows[1].device.has_value());
  EXPECT_EQ(rows[1].start_ns, 5);
}

TEST(TelemetrySeries, LongLogsAreThinnedEvenly) {
  for (const bool timed : {true, false}) {
    TraceBuilder b;
    b.AddDevice(1);
    constexpr uint32_t kSamples = 45'000;
    for (uint32_t i = 0; i < kSamples; ++i)
      for (uint32_t device : {0u, 1u})
        Add(b, timed ? Ns{i} * 1000 : -1, 2 * i + device, device, Metric::kPower, i);
    const auto rows = ComputeTelemetrySeries(test::ContextOf(b.trace));
    EXPECT_LE(rows.size(), kMostTelemetrySamples + 2);
    EXPECT_GE(rows.size(), kMostTelemetrySamples * 9 / 10);
    double last[2] = {-5, -5};
    for (const TelemetrySeriesRow& row : rows) {
      EXPECT_LE(*row.power_w - last[*row.device], 7);
      last[*row.device] = *row.power_w;
    }
    EXPECT_GE(last[0], kSamples - 7.0);
  }
}

}  // namespace
}  // namespace dladvisor
