// SPDX-License-Identifier: Apache-2.0
// Where the host waits for the GPU: synchronising calls and copies that block, by the op that makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct SyncSiteRow {
  int64_t rank = 0;
  std::string kind, api, site;
  int64_t calls = 0, total_ns = 0;
  std::optional<double> calls_per_step;
  int64_t max_ns = 0;
  std::optional<double> window_share;
  std::optional<int64_t> gpu_idle_ns;
  int64_t scalar_calls = 0, scalar_idle_ns = 0;
  std::optional<std::string> line;
};
const RelationOf<SyncSiteRow>& SyncSiteRelation();

// Waits that start in the rank's window. The idle time of the rank's first device from a wait's start to the
// next launch, wait or end of the window on the same thread is the wait's.
std::vector<SyncSiteRow> ComputeSyncSites(const Context& context, const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
