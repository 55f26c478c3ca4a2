// SPDX-License-Identifier: Apache-2.0
// Bandwidth of copies and sets by direction, as Holistic Trace Analysis summarises it
// (github.com/facebookresearch/HolisticTraceAnalysis: trace_counters.py): that of all that run at once is
// added up, taken after every start and end, and zeros do not count. profiled_work.h says which operations
// do. An operation's bandwidth is what the profiler says, which knows its exact time, else its bytes by its
// time on the profile's clock; what took no time there, and of which the profiler says nothing, has none.
//
// Difference: where one ends as another starts HTA may add before it subtracts, so that its greatest value
// is of two that never ran at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/compat/profiled_work.h"

namespace dladvisor {

struct MemoryBandwidthRow {
  int64_t rank = 0;
  std::string operation;
  int64_t count = 0;
  std::optional<double> mean, stddev, min, q25, median, q75, max;
};
const RelationOf<MemoryBandwidthRow>& MemoryBandwidthRelation();

// By rank and operation.
std::vector<MemoryBandwidthRow> ComputeMemoryBandwidths(const Context& context,
                                                        const std::vector<ProfiledWork>& work);

}  // namespace dladvisor
