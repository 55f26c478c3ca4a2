// SPDX-License-Identifier: Apache-2.0
// DLProf's Resource Usage Breakdown: what the time went to, each moment counted once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/family.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct ResourceUsageRow {
  std::string category;
  int64_t position = 0;
  std::optional<int64_t> ns;
  std::optional<double> share;
};
const RelationOf<ResourceUsageRow>& ResourceUsageRelation();

// The mean over GPUs of their windows. Dataloader is idle time in ranges of loaders, and what else the time
// ledger charges to input, so that both say the same. CPU is time inside API calls, calls of DLProf's ops and
// innermost ranges of any thread of the process; other ranges around ranges (a whole step, say) do not show
// what the host does. No rows without GPUs.
std::vector<ResourceUsageRow> ComputeResourceUsage(const Context& context,
                                                   const std::vector<GpuTimeline>& timelines);

// The mean over the ranks of several profiles.
std::vector<ResourceUsageRow> MergeResourceUsage(const std::vector<ProfileRows<ResourceUsageRow>>& profiles,
                                                 const FleetTables& fleet);

}  // namespace dladvisor
