// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/still_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>

namespace dladvisor {
namespace {

// Fewer equal samples, or of less time, are those of a sensor that is read more often than it measures.
constexpr size_t kLeastStill = 30;
constexpr Ns kLeastStillTime = 60'000'000'000;
// An idle GPU may draw the same for long.
constexpr double kAtWork = 0.5;

struct Reading {
  uint32_t sample = 0;
  Ns time = -1;
  std::map<TelemetryMetric, double> values;
};

bool Changes(TelemetryMetric metric) {
  return metric != TelemetryMetric::kMemoryTotal && metric != TelemetryMetric::kPowerLimit &&
         metric != TelemetryMetric::kSmClockLimit;
}

void Mark(const std::vector<Reading>& readings, size_t begin, size_t end, std::vector<bool>& still) {
  if (end - begin < kLeastStill) return;
  const Reading &first = readings[begin], &last = readings[end - 1];
  const auto use = first.values.find(TelemetryMetric::kGpuUtilization);
  if (use == first.values.end() || use->second < kAtWork) return;
  if (first.time >= 0 && last.time - first.time < kLeastStillTime) return;
  for (size_t i = begin + 1; i < end; ++i) still[readings[i].sample] = true;
}

}  // namespace

std::vector<bool> StillSamples(const Telemetry& t) {
  std::map<uint32_t, std::vector<Reading>> by_device;
  std::map<uint32_t, bool> fine;  // whether its power has fractions of a watt
  uint32_t samples = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    samples = std::max(samples, t.sample[i] + 1);
    if (!Changes(t.metric[i])) continue;
    std::vector<Reading>& readings = by_device[t.device[i]];
    if (readings.empty() || readings.back().sample != t.sample[i])
      readings.push_back({t.sample[i], t.time[i], {}});
    readings.back().values[t.metric[i]] = t.value[i];
    if (t.metric[i] == TelemetryMetric::kPower && t.value[i] != std::floor(t.value[i]))
      fine[t.device[i]] = true;
  }
  std::vector<bool> still(samples);
  for (const auto& [device, readings] : by_device) {
    if (!fine[device]) continue;
    size_t begin = 0;
    for (size_t i = 1; i <= readings.size(); ++i) {
      if (i < readings.size() && readings[i].values == readings[begin].values &&
          readings[i].values.contains(TelemetryMetric::kPower))
        continue;
      Mark(readings, begin, i, still);
      begin = i;
    }
  }
  return still;
}

}  // namespace dladvisor
