// SPDX-License-Identifier: Apache-2.0
// Counters of network adapters that the profiler sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct NetworkMetricRow {
  int64_t profile = 0;
  std::string adapter, metric;
  int64_t samples = 0;
  double avg = 0, max = 0;
};
const RelationOf<NetworkMetricRow>& NetworkMetricRelation();

std::vector<NetworkMetricRow> ComputeNetworkMetrics(const Context& context);

}  // namespace dladvisor
