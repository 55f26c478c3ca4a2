// Collectives of each rank by kind: NCCL, RCCL and NVSHMEM kernels in the analysed window. What they wait for
// other ranks is not told by one rank alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/relation.h"
#include "src/analysis/context.h"
#include "src/analysis/gpu_timeline.h"

namespace dladvisor {

struct CollectiveRow {
  int64_t rank = 0, device = 0;
  std::string collective;
  int64_t calls = 0;
  std::optional<double> calls_per_step;
  int64_t total_ns = 0, window_ns = 0, exposed_ns = 0;
  double avg_ns = 0, median_ns = 0;
  int64_t max_ns = 0, compute_stream_ns = 0;
  std::optional<int64_t> late_ns;
};
const RelationOf<CollectiveRow>& CollectiveRelation();

std::vector<CollectiveRow> ComputeCollectives(const Context& context,
                                              const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
