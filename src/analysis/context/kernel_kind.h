// SPDX-License-Identifier: Apache-2.0
// What a kernel does, as far as its name shows it.
#pragma once

#include <string_view>

#include "src/analysis/context/context.h"

namespace dladvisor {

// "communication", "attention", "layout" (transposes and conversions between NCHW and NHWC), "convolution",
// "matrix", "optimizer", "softmax", "normalization", "embedding", "sort", "reduction", "element-wise",
// "other". The first that matches counts: an element-wise kernel of an optimizer is the optimizer's.
std::string_view KernelKind(std::string_view name, const KernelTraits& traits);

}  // namespace dladvisor
