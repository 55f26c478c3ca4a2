// SPDX-License-Identifier: Apache-2.0
// What formats have in common that record kernels, copies and memory sets.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace dladvisor::gpu_rows {

// What is more is damage.
inline constexpr int64_t kMostBytes = int64_t{1} << 50;       // of one copy, set or allocation
inline constexpr int64_t kMostTotalBytes = int64_t{1} << 60;  // of a table, so that sums fit
inline constexpr int64_t kMostPerBlock = std::numeric_limits<int32_t>::max();

// A kernel's name without return type, template arguments and parameters:
// "void at::native::reduce_kernel<512, 1>(int)" -> "reduce_kernel".
std::string_view ShortNameOf(std::string_view name);
// Blocks of a grid, threads of a block.
int64_t Product(const std::array<int64_t, 3>& dimensions);

}  // namespace dladvisor::gpu_rows
