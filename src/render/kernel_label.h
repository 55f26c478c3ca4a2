// SPDX-License-Identifier: Apache-2.0
// Short names of kernels by which people tell them apart. Names of C++ templates run to kilobytes, and what
// differs is in the middle: `vectorized_elementwise · MulFunctor<float>` is
// `void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float,
// at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int, ...)`.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace dladvisor {

// The function without namespaces, return type and parameters, with those template arguments that say what it
// computes; with `every_argument` all of them. What is not recognised stays as it is.
std::string KernelLabel(std::string_view kernel, bool every_argument = false);

// Labels of at most `columns` (>= 16) code points of visible text; different kernels have different ones.
std::map<std::string, std::string> KernelLabels(std::span<const std::string> kernels, size_t columns);

}  // namespace dladvisor
