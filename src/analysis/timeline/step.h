// SPDX-License-Identifier: Apache-2.0
// Facts per rank and step, warm-up steps included and marked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct StepRow {
  int64_t rank = 0, step = 0;
  int64_t start_ns = 0, end_ns = 0, duration_ns = 0;
  std::optional<int64_t> gpu_start_ns, gpu_end_ns;
  int64_t busy_ns = 0, kernel_busy_ns = 0, idle_ns = 0, kernels = 0, kernel_ns = 0, tensor_core_ns = 0,
          copies = 0, syncs = 0;
  bool warmup = false;
};
const RelationOf<StepRow>& StepRelation();

// Busy and idle time is that of the rank's first device.
std::vector<StepRow> ComputeSteps(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<StepRow>>{"step rows", ComputeSteps};

}  // namespace dladvisor
