// SPDX-License-Identifier: Apache-2.0
// What the host did while a GPU had nothing to do: evidence for the causes of idleness.
//
// For each gap's starved part (nothing had been launched), the calls, OS calls, library calls and samples of
// the thread that it is charged to, by function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct IdleActivityRow {
  int64_t rank = 0, device = 0;
  std::string kind, name;
  std::optional<int64_t> ns;
  int64_t events = 0;
  std::optional<double> share;
  std::optional<std::string> callers;
};
const RelationOf<IdleActivityRow>& IdleActivityRelation();

// The 50 functions with most time of each kind and device.
std::vector<IdleActivityRow> ComputeIdleActivity(const Context& context,
                                                 const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
