// SPDX-License-Identifier: Apache-2.0
// What the steps would take without some of what the host does, by replaying the profile: the host makes its
// calls one after another, with the time between them and in them as recorded; each GPU stream works off what
// it was given, no earlier than launched; a call that waits ends when the GPU is done. Left-out waits and
// times then show what they cost, with the lead over the GPU that the host loses: long after a wait each
// kernel may start late, which does not show in a gap at the wait. Simulation of launch-bound queues as in
// Daydream (Zhu et al., USENIX ATC 2020).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"
#include "src/analysis/timeline/recomputation.h"

namespace dladvisor {

struct WhatIfRow {
  int64_t rank = 0;
  std::string change;
  int64_t calls = 0;
  std::optional<double> recorded_ns, replayed_ns, predicted_ns, saves_ns;
};
const RelationOf<WhatIfRow>& WhatIfRelation();

// By rank and change. Times are unknown where the replay of the unchanged program is off by more than 5 %;
// there is no row where launches of more than 10 % of the GPU's operations are not recorded, but for those
// that were in its queues when the recording began, nor of profiles with more than 300,000 calls, for which
// replaying would take longer than all else.
std::vector<WhatIfRow> ComputeWhatIfs(const Context& context, const std::vector<GpuTimeline>& timelines,
                                      const RecomputedSegments& recomputed);

}  // namespace dladvisor
