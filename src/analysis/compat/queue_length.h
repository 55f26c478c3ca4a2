// SPDX-License-Identifier: Apache-2.0
// How many operations each stream has in its queue, and how long launches take to get there, as defined by
// Holistic Trace Analysis (github.com/facebookresearch/HolisticTraceAnalysis: trace_counters.py,
// cuda_kernel_analysis.py). The queue grows by one when the host begins a launch, copy or set and shrinks
// when the operation starts; its length is taken after every such change. profiled_work.h says which
// operations count; here all need the call that launched them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/compat/profiled_work.h"
#include "src/statistics/distribution.h"

namespace dladvisor {

struct QueueLengthRow {
  int64_t rank = 0, stream = 0, count = 0;
  std::optional<double> mean, stddev, min, q25, median, q75, max;
};
const RelationOf<QueueLengthRow>& QueueLengthRelation();

// By rank and stream.
std::vector<QueueLengthRow> ComputeQueueLengths(const Context& context,
                                                const std::vector<ProfiledWork>& work);

struct LaunchStatisticsRow {
  int64_t rank = 0;
  int64_t launches = 0, short_kernels = 0, slow_calls = 0, late_starts = 0;
  std::optional<double> mean_call_ns, median_call_ns, mean_gpu_ns, median_gpu_ns, mean_delay_ns,
      median_delay_ns, max_delay_ns;
};
const RelationOf<LaunchStatisticsRow>& LaunchStatisticsRelation();

// By rank; those without recorded launches have no row.
std::vector<LaunchStatisticsRow> ComputeLaunchStatistics(const Context& context,
                                                         const std::vector<ProfiledWork>& work);

}  // namespace dladvisor
