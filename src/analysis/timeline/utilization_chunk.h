// SPDX-License-Identifier: Apache-2.0
// Use of each GPU over the run, in 30 equal parts from its first operation to its last: where it is low.
//
// Nsight Systems' rule gpu_time_util sums the durations of operations, and of the profiler's own overhead, so
// that it may exceed the time (summed_share); use_share counts each moment once.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct UtilizationChunkRow {
  int64_t rank = 0, device = 0, chunk = 0, start_ns = 0, end_ns = 0;
  double use_share = 0, summed_share = 0;
};
const RelationOf<UtilizationChunkRow>& UtilizationChunkRelation();

std::vector<UtilizationChunkRow> ComputeUtilizationChunks(const Context& context);

}  // namespace dladvisor
