// SPDX-License-Identifier: Apache-2.0
// Why streams are idle between operations, as defined by Holistic Trace Analysis
// (github.com/facebookresearch/HolisticTraceAnalysis: breakdown_analysis.py). A gap goes from the end of a
// stream's operation to the start of the next one, and is
//   host_wait    the next one was launched after the gap began: the host was too slow
//   kernel_wait  it was queued in time, and the gap is shorter than 30 us, as between kernels in sequence
//   other        it was queued in time, and waited for something else
// Gaps of operations that start before the one before ends are negative, and count. profiled_work.h says
// which operations count; where idle time goes by cause is in the relations idle_gap and time_ledger.
//
// Difference: HTA takes the profile's first event for the launch of operations without one, so that those
// that precede it become host_wait; to us they were queued.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/compat/profiled_work.h"
#include "src/statistics/distribution.h"

namespace dladvisor {

struct IdleBreakdownRow {
  int64_t rank = 0, stream = 0;
  std::string category;
  int64_t count = 0, idle_ns = 0;
  std::optional<double> idle_share, mean_ns, stddev_ns, min_ns, q25_ns, median_ns, q75_ns, max_ns;
};
const RelationOf<IdleBreakdownRow>& IdleBreakdownRelation();

// By rank and stream, a row per category.
std::vector<IdleBreakdownRow> ComputeIdleBreakdown(const Context& context,
                                                   const std::vector<ProfiledWork>& work);

}  // namespace dladvisor
