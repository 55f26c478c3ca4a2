// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi reported about the GPUs, by device and metric: how much, for how long, and how near to the
// limit. Means are over time: a sample holds until the next one of its GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

// Where a log pauses, a sample holds for no more than so many times as long as most do.
inline constexpr int64_t kLongestHold = 10;

struct TelemetryRow {
  int64_t profile = 0;
  std::optional<int64_t> device;
  std::string metric, unit;
  int64_t samples = 0;
  std::optional<int64_t> still_samples, still_ns;
  std::optional<int64_t> first_ns, last_ns;
  double min = 0, mean = 0, median = 0, max = 0;
  std::optional<double> limit_value, at_limit_share;
  std::optional<int64_t> busy_samples;
  std::optional<double> busy_mean, busy_at_limit_share;
  std::optional<int64_t> active_samples, saturated_samples;
  std::optional<double> saturated_mean, dropped_share;
  std::optional<double> active_mean, before_mean, after_mean;
  std::optional<int64_t> before_ns, after_ns, idle_samples, longest_idle_ns;
};
const RelationOf<TelemetryRow>& TelemetryRelation();

std::vector<TelemetryRow> ComputeTelemetry(const Context& context);

}  // namespace dladvisor
