// Hardware counters that the profiler sampled, by device and metric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/relation.h"
#include "src/analysis/context.h"

namespace dladvisor {

struct GpuMetricRow {
  std::optional<int64_t> device;
  std::string metric;
  int64_t samples = 0;
  double avg = 0, min = 0, max = 0;
};
const RelationOf<GpuMetricRow>& GpuMetricRelation();

std::vector<GpuMetricRow> ComputeGpuMetrics(const Context& context);

}  // namespace dladvisor
