// SPDX-License-Identifier: Apache-2.0
// Tensor-core use and eligibility, from names alone. The names follow NVIDIA's, AMD's and the frameworks'
// conventions; where a name does not decide, the answer is nothing rather than a guess.
#pragma once

#include <string_view>

#include "src/analysis/context/context.h"

namespace dladvisor {

KernelTraits ClassifyKernel(std::string_view name);
KernelTraitsByName ClassifyKernels(const Trace& trace);

// Whether an op of this type is matrix work: convolutions, linear layers, matrix products, attention, RNNs.
bool TensorCoreEligibleOp(std::string_view op_type);

bool IsHalf(Precision precision);  // 16 bits or fewer

}  // namespace dladvisor
