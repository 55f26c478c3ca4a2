// SPDX-License-Identifier: Apache-2.0
// Launch health per rank and device, over the analysed window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct LaunchRow {
  int64_t rank = 0, device = 0;
  int64_t launches = 0, graph_launches = 0, graph_kernels = 0;
  std::optional<double> avg_api_ns, median_api_ns, median_interval_ns;
  std::optional<int64_t> api_ns;
  std::optional<double> median_queue_delay_ns;
  std::optional<int64_t> tiny_kernels;
  std::optional<double> tiny_share;
  std::optional<int64_t> min_latency_ns;
  std::optional<int64_t> long_kernels, awaited_kernels, awaited_ns;
};
const RelationOf<LaunchRow>& LaunchRelation();

std::vector<LaunchRow> ComputeLaunches(const Context& context, const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
