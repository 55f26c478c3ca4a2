// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients.
#pragma once

#include <string_view>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Empty where the operator is none.
Formula ConvolutionFormula(std::string_view operator_name);

bool IsForwardConvolution(std::string_view operator_name);

// Both gradients, from the arguments of the forward operator; empty where it is none.
Formula ConvolutionBackwardFormula(std::string_view forward_operator_name);

// "channels last" or "channels first", of [batch, channels, ...]; "" where strides are not recorded, or one
// channel or position has no order.
Literal ChannelLayout(const Tensor& of);

// The size of a result along one dimension. REQUIRES: stride > 0.
Count WindowsAlong(int64_t size, int64_t window, int64_t stride, int64_t padding, int64_t dilation);

}  // namespace dladvisor
