// SPDX-License-Identifier: Apache-2.0
// How well kernels fill each GPU (gpu_estimates.h) over all profiled steps, warm-up too (profiler_step.h), as
// the overview of the PyTorch TensorBoard plugin shows it. The relation `gpu` has the same over the analysed
// window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct GpuSummaryRow {
  int64_t rank = 0, device = 0, steps_ns = 0;
  std::optional<double> gpu_utilization, est_sm_efficiency, est_achieved_occupancy;
};
const RelationOf<GpuSummaryRow>& GpuSummaryRelation();
std::vector<GpuSummaryRow> ComputeGpuSummaries(const Context& context);

}  // namespace dladvisor
