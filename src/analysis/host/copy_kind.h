// SPDX-License-Identifier: Apache-2.0
// Copies by direction, kinds of memory and whether the host waits, over the whole profile.
//
// Blocking follows CUDA's rules: a call without Async blocks the host, except host-to-device copies of at
// most 64 KiB and device-to-device copies. An Async call on pageable memory is staged and behaves
// synchronously: pageable_async counts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct CopyKindRow {
  int64_t rank = 0, device = 0;
  std::string direction, source, destination, blocking;
  int64_t copies = 0, bytes = 0, total_ns = 0, window_ns = 0;
  double avg_ns = 0;
  std::optional<double> bytes_per_s, best_bytes_per_s;
  int64_t small_copies = 0, scalar_copies = 0, window_copies = 0, exposed_ns = 0, compute_stream_ns = 0,
          rounds = 0, pageable_async = 0;
  int64_t window_bytes = 0, window_small_copies = 0, most_in_round = 0, sizes = 0;
  std::optional<double> copies_per_step;
};
const RelationOf<CopyKindRow>& CopyKindRelation();

std::vector<CopyKindRow> ComputeCopyKinds(const Context& context, const std::vector<GpuTimeline>& timelines);

// Whether the call that makes copy `i` blocks the host until it is done; nothing where the call is not known.
std::optional<bool> IsBlockingCopy(const Context& context, uint32_t copy);

}  // namespace dladvisor
