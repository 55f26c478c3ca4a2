// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/telemetry_series.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// The first sample of each GPU in each of as many parts of the log's time as there is room for; of a log
// without times, parts of its order.
std::vector<TelemetrySeriesRow> Thinned(const std::vector<TelemetrySeriesRow>& rows) {
  std::set<std::optional<int64_t>> devices;
  for (const TelemetrySeriesRow& row : rows) devices.insert(row.device);
  const double parts =
      std::max(1.0, static_cast<double>(kMostTelemetrySamples) / static_cast<double>(devices.size()));
  const bool timed = rows.front().start_ns && *rows.back().start_ns > *rows.front().start_ns;
  const auto at = [&](size_t i) { return static_cast<double>(timed ? *rows[i].start_ns : int64_t(i)); };
  const double first = at(0), span = at(rows.size() - 1) - first + 1;
  std::set<std::pair<std::optional<int64_t>, int64_t>> taken;
  std::vector<TelemetrySeriesRow> kept;
  for (size_t i = 0; i < rows.size(); ++i)
    if (taken.emplace(rows[i].device, static_cast<int64_t>((at(i) - first) / span * parts)).second)
      kept.push_back(rows[i]);
  return kept;
}

}  // namespace

const std::array<TelemetryColumn, kTelemetryColumns>& TelemetryColumns() {
  using Metric = TelemetryMetric;
  using V = TelemetryValues;
  static constexpr std::array<TelemetryColumn, kTelemetryColumns> columns = {{
      {Metric::kGpuUtilization, &V::gpu_utilization, Unit::kRatio, "Share of time with a kernel running."},
      {Metric::kMemoryUtilization, &V::memory_utilization, Unit::kRatio,
       "Share of time with device memory being read or written."},
      {Metric::kMemoryUsed, &V::memory_used_bytes, Unit::kBytes, "Memory in use."},
      {Metric::kPower, &V::power_w, Unit::kWatts, "Power."},
      {Metric::kTemperature, &V::temperature_c, Unit::kCelsius, "Temperature of the GPU."},
      {Metric::kMemoryTemperature, &V::memory_temperature_c, Unit::kCelsius, "Temperature of its memory."},
      {Metric::kSmClock, &V::sm_clock_hz, Unit::kHertz, "Clock of the multiprocessors."},
      {Metric::kMemoryClock, &V::memory_clock_hz, Unit::kHertz, "Clock of the memory."},
      {Metric::kThrottledByHeat, &V::throttled_by_heat, Unit::kRatio,
       "Share of time in which heat holds the clocks down."},
      {Metric::kThrottledByPower, &V::throttled_by_power, Unit::kRatio,
       "Share of time in which the power limit does."},
  }};
  return columns;
}

const RelationOf<TelemetrySeriesRow>& TelemetrySeriesRelation() {
  static const auto relation = [] {
    RelationOf<TelemetrySeriesRow> r(
        "telemetry_series",
        "Samples of nvidia-smi, of one GPU and time each: all of a log, or about 20,000 of a longer one, "
        "evenly spread over its time. What changes little is in telemetry, where every sample counts.");
    r.Key("profile", &TelemetrySeriesRow::profile, kProfileNumber, "Number of the file.")
        .Key("sample", &TelemetrySeriesRow::sample, Unit::kNone, "Number of the sample in the log, from 0.")
        .Column("device", &TelemetrySeriesRow::device, Unit::kNone,
                "Index of the GPU, as the log numbers it.")
        .Column("start_ns", &TelemetrySeriesRow::start_ns, Unit::kNanoseconds,
                "Time since the log's first sample; unknown where it has no times. UTC is "
                "telemetry_clock.origin_utc_ns more.");
    AddTelemetryColumns(r);
    return r;
  }();
  return relation;
}

std::vector<TelemetrySeriesRow> ComputeTelemetrySeries(const Context& context) {
  const Telemetry& t = context.trace.telemetry;
  std::vector<TelemetrySeriesRow> rows;
  std::vector<size_t> row_of;  // by sample
  for (size_t i = 0; i < t.size(); ++i) {
    if (t.sample[i] >= row_of.size()) row_of.resize(t.sample[i] + size_t{1}, t.size());
    if (row_of[t.sample[i]] == t.size()) {
      row_of[t.sample[i]] = rows.size();
      TelemetrySeriesRow& row = rows.emplace_back();
      row.sample = t.sample[i];
      if (t.device[i] != kNoIndex) row.device = context.trace.devices[t.device[i]].ordinal;
      if (t.time[i] >= 0) row.start_ns = t.time[i];
    }
    for (const TelemetryColumn& column : TelemetryColumns())
      if (column.metric == t.metric[i]) rows[row_of[t.sample[i]]].*column.value = t.value[i];
  }
  return rows.size() > kMostTelemetrySamples ? Thinned(rows) : rows;
}

const Family& TelemetrySeriesFamily() {
  static const Family family = FamilyOf(TelemetrySeriesRelation(), ComputeTelemetrySeries);
  return family;
}

}  // namespace dladvisor
