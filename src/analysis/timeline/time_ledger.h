// SPDX-License-Identifier: Apache-2.0
// The time ledger: wall time of each GPU's window split into exclusive buckets that sum to it exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/savings.h"
#include "engine/store/relation.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct TimeLedgerRow {
  int64_t rank = 0, device = 0;
  std::string bucket;
  int64_t position = 0;
  std::optional<int64_t> ns;
  std::optional<double> ns_per_step, share, recurring_ns;
};
const RelationOf<TimeLedgerRow>& TimeLedgerRelation();

// All buckets of every device. A bucket whose cause was not captured is NULL; its time is in another.
std::vector<TimeLedgerRow> ComputeTimeLedger(const Context& context,
                                             const std::vector<GpuTimeline>& timelines);

// What rules claim savings from: time per step, or in the whole window where there are no steps.
Ledger TimeLedger();

struct IdleGapRow {
  int64_t rank = 0, device = 0, start_ns = 0, end_ns = 0, duration_ns = 0;
  std::string cause;
  std::optional<int64_t> starved_ns;
  std::string ended_by;
  std::optional<std::string> range, host_activity;
  std::optional<int64_t> thread;
  int64_t fetched_bytes = 0;
};
const RelationOf<IdleGapRow>& IdleGapRelation();

// The longest gaps of every device (GpuTimeline::gaps), longest first.
std::vector<IdleGapRow> ComputeIdleGaps(const Context& context, const std::vector<GpuTimeline>& timelines);

}  // namespace dladvisor
