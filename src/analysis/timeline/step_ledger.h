// SPDX-License-Identifier: Apache-2.0
// The time ledger of single steps: where the time of a slow step went.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct StepLedgerRow {
  int64_t rank = 0, device = 0, step = 0;
  std::string bucket;
  int64_t ns = 0;
  double share = 0;
};
const RelationOf<StepLedgerRow>& StepLedgerRelation();

// The buckets with time of every steady step and device; of one step they sum to its duration.
std::vector<StepLedgerRow> ComputeStepLedger(const Context& context,
                                             const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
