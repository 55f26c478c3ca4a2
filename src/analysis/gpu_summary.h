// How well kernels fill a GPU, as the overview of the PyTorch TensorBoard plugin estimates it (tb_plugin of
// github.com/pytorch/kineto: gpu_metrics_parser.py): over all profiled steps, warm-up too
// (profiler_step.h). The relation `gpu` has the same over the analysed window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/relation.h"
#include "src/analysis/context.h"

namespace dladvisor {

struct GpuEstimates {
  // Time with a kernel, by the window's length.
  std::optional<double> utilization;
  // Mean over the window of min(1, blocks per multiprocessor of the kernels that run).
  std::optional<double> sm_efficiency;
  // Mean over kernels, weighted by duration within the window.
  std::optional<double> achieved_occupancy;
};

// Of one of ranks.gpus. What no kernel tells is unknown.
GpuEstimates EstimateGpu(const Context& context, size_t gpu, Interval window);

struct GpuSummaryRow {
  int64_t rank = 0, device = 0, steps_ns = 0;
  std::optional<double> gpu_utilization, est_sm_efficiency, est_achieved_occupancy;
};
const RelationOf<GpuSummaryRow>& GpuSummaryRelation();
std::vector<GpuSummaryRow> ComputeGpuSummaries(const Context& context);

}  // namespace dladvisor
