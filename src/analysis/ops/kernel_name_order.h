// SPDX-License-Identifier: Apache-2.0
// The names of kernels in order of their texts: who sorts rows that name kernels compares numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct KernelNameOrder {
  std::vector<uint32_t> place;  // by name id, of names of kernels
};

KernelNameOrder ComputeKernelNameOrder(const Context& context);

template <>
inline constexpr Computed kValue<KernelNameOrder>{"order of kernel names", ComputeKernelNameOrder};

}  // namespace dladvisor
