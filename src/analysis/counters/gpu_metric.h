// SPDX-License-Identifier: Apache-2.0
// Hardware counters that the profiler sampled, by device and metric, as NVIDIA's talks on Nsight Systems
// read them: GR active, the GPU does anything; SMs active, how much of its width; SM issue, whether
// instructions flow or wait for memory; tensor active; DRAM and bus bandwidth. Occupancy is listed, but no
// goal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct GpuMetricRow {
  int64_t profile = 0;
  std::optional<int64_t> device;
  std::string metric;
  int64_t samples = 0;
  std::optional<std::string> kind;
  double avg = 0, min = 0, max = 0;
  std::optional<double> active_avg, low, high;
};
const RelationOf<GpuMetricRow>& GpuMetricRelation();

std::vector<GpuMetricRow> ComputeGpuMetrics(const Context& context);

}  // namespace dladvisor
