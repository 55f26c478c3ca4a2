// SPDX-License-Identifier: Apache-2.0
// Facts per rank and device, in the analysed window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/values.h"
#include "src/analysis/hardware/gpu_peak.h"
#include "src/analysis/memory/memory.h"
#include "src/analysis/ops/op.h"
#include "src/analysis/summary/gpu_kernels.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct GpuRow {
  int64_t rank = 0, device = 0;
  std::optional<std::string> name;
  std::optional<int64_t> sm_count;
  std::optional<std::string> compute_capability;
  std::optional<int64_t> memory_bytes;
  std::optional<double> memory_bytes_per_s;
  int64_t kernels = 0, kernel_ns = 0, window_ns = 0, span_ns = 0, busy_ns = 0, kernel_busy_ns = 0;
  std::optional<double> gpu_utilization;
  int64_t idle_ns = 0;
  std::optional<double> idle_share;
  std::optional<int64_t> idle_starved_ns, starved_gaps;
  int64_t tensor_core_ns = 0, tensor_core_unknown_ns = 0, eligible_ns = 0, eligible_unknown_ns = 0,
          product_ns = 0, product_off_ns = 0;
  std::optional<double> tensor_core_efficiency;
  int64_t communication_ns = 0, work_ns = 0;
  std::optional<int64_t> memory_peak_bytes;
  std::optional<double> memory_used_share, gpu_ns_per_step, est_sm_efficiency, est_achieved_occupancy;
};
const RelationOf<GpuRow>& GpuRelation();

// A row per entry of ranks.gpus, in that order.
std::vector<GpuRow> ComputeGpus(const Context& context, const std::vector<GpuTimeline>& timelines,
                                const OpFamilies& ops, const std::vector<MemoryRow>& memory,
                                const std::vector<GpuPeaks>& peaks, const std::vector<GpuKernels>& kernels);

template <>
inline constexpr Computed kValue<std::vector<GpuRow>>{"gpu rows", ComputeGpus};

}  // namespace dladvisor
