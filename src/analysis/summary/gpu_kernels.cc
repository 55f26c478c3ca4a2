// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/gpu_kernels.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "src/analysis/context/tensor_core.h"

namespace dladvisor {
namespace {

Interval SpanOf(const Trace& trace, const GpuWork& work) {
  Interval span{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows) {
    for (const uint32_t i : rows) {
      span.start = std::min(span.start, ops.start[i]);
      span.end = std::max(span.end, ops.end[i]);
    }
  };
  add(trace.kernels, work.kernels);
  add(trace.copies, work.copies);
  add(trace.sets, work.sets);
  add(trace.graph_launches, work.graphs);
  return span.start > span.end ? Interval{} : span;
}

}  // namespace

std::vector<GpuKernels> ComputeGpuKernels(const Context& context) {
  const Kernels& kernels = context.trace.kernels;
  std::vector<GpuKernels> gpus(context.ranks.gpus.size());
  for (size_t i = 0; i < gpus.size(); ++i) {
    GpuKernels& gpu = gpus[i];
    const Interval window = context.windows[i];
    gpu.span = SpanOf(context.trace, context.work[i]);
    for (const uint32_t k : context.work[i].kernels) {
      if (kernels.start[k] < window.start || kernels.start[k] >= window.end) continue;
      const int64_t duration = kernels.end[k] - kernels.start[k];
      const KernelTraits& traits = context.kernels[kernels.name[k]];
      const std::optional<bool> tensor_core = traits.tensor_core;
      ++gpu.kernels;
      gpu.kernel_ns += duration;
      if (tensor_core == true) gpu.tensor_core_ns += duration;
      if (!tensor_core) gpu.tensor_core_unknown_ns += duration;
      if (traits.eligible || tensor_core == true) gpu.product_ns += duration;
      if (traits.eligible && tensor_core == false) gpu.product_off_ns += duration;
      if (IsHalf(traits.precision)) gpu.half_ns += duration;
    }
    gpu.estimates = EstimateGpu(context, i, window);
  }
  return gpus;
}

}  // namespace dladvisor
