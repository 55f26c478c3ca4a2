// SPDX-License-Identifier: Apache-2.0
// The samples of a log of telemetry themselves, so that they can be joined to the steps of traces that other
// files hold, also from digests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// The metrics that change while a program runs.
struct TelemetryValues {
  std::optional<double> gpu_utilization, memory_utilization, memory_used_bytes, power_w, temperature_c,
      memory_temperature_c, sm_clock_hz, memory_clock_hz, throttled_by_heat, throttled_by_power;
};

struct TelemetryColumn {
  TelemetryMetric metric;
  std::optional<double> TelemetryValues::*value;
  Unit unit;
  const char* doc;
};
inline constexpr size_t kTelemetryColumns = 10;
const std::array<TelemetryColumn, kTelemetryColumns>& TelemetryColumns();

// Their columns, for a row that has them.
template <class Row>
void AddTelemetryColumns(RelationOf<Row>& relation) {
  for (const TelemetryColumn& column : TelemetryColumns())
    relation.Column(std::string(TelemetryMetricName(column.metric)),
                    static_cast<std::optional<double> Row::*>(column.value), column.unit, column.doc);
}

struct TelemetrySeriesRow : TelemetryValues {
  int64_t profile = 0, sample = 0;
  std::optional<int64_t> device, start_ns;
};
const RelationOf<TelemetrySeriesRow>& TelemetrySeriesRelation();

// Of longer logs, that many of all GPUs together, evenly spread over time.
inline constexpr size_t kMostTelemetrySamples = 20'000;

// In order of time.
std::vector<TelemetrySeriesRow> ComputeTelemetrySeries(const Context& context);

}  // namespace dladvisor
