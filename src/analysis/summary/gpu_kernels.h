// SPDX-License-Identifier: Apache-2.0
// What the kernels of each GPU add up to: what a pass over all of them finds, apart from gpu.h, which waits
// for the operators, so that the pass can run beside theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/context/gpu_estimates.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

// Of kernels that start in the GPU's window, but for the span.
struct GpuKernels {
  Interval span;  // from its first operation in the profile to the end of its last one
  int64_t kernels = 0, kernel_ns = 0;
  int64_t tensor_core_ns = 0, tensor_core_unknown_ns = 0;
  int64_t product_ns = 0, product_off_ns = 0;  // as GpuRow has them
  int64_t half_ns = 0;                         // of those that compute in half precision
  GpuEstimates estimates;
};

// One per entry of ranks.gpus, in that order.
std::vector<GpuKernels> ComputeGpuKernels(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<GpuKernels>>{"kernels of GPUs", ComputeGpuKernels};

}  // namespace dladvisor
