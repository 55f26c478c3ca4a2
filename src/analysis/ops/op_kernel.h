// SPDX-License-Identifier: Apache-2.0
// The kernels of each op by name: what DLProf's "Kernels by Op" shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/ops/kernel_name_order.h"

namespace dladvisor {

struct OpKernelRow {
  int64_t rank = 0;
  std::string_view op, kernel;
  int64_t calls = 0, gpu_ns = 0;
  double avg_gpu_ns = 0;
  int64_t min_gpu_ns = 0, max_gpu_ns = 0;
  std::optional<int64_t> api_ns;
  std::optional<double> avg_api_ns;
  std::optional<int64_t> min_api_ns, max_api_ns;
  std::optional<bool> uses_tensor_cores;
  std::optional<std::string_view> precision;
};
const RelationOf<OpKernelRow>& OpKernelRelation();

// By rank, then GPU time descending. Counts what ComputeOps() counts (op.h).
Table ComputeOpKernels(const Context& context, const KernelNameOrder& names);

}  // namespace dladvisor
