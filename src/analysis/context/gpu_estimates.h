// SPDX-License-Identifier: Apache-2.0
// How well kernels fill a GPU over a window, as the PyTorch TensorBoard plugin estimates it (tb_plugin of
// github.com/pytorch/kineto: gpu_metrics_parser.py).
#pragma once

#include <cstddef>
#include <optional>

#include "src/analysis/context/context.h"

namespace dladvisor {

struct GpuEstimates {
  // Time with a kernel, by the window's length.
  std::optional<double> utilization;
  // Mean over the window of min(1, blocks per multiprocessor of the kernels that run).
  std::optional<double> sm_efficiency;
  // Mean over kernels, weighted by duration within the window.
  std::optional<double> achieved_occupancy;
};

// Of one of ranks.gpus. What no kernel records is unknown.
GpuEstimates EstimateGpu(const Context& context, size_t gpu, Interval window);

}  // namespace dladvisor
