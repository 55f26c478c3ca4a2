// SPDX-License-Identifier: Apache-2.0
// The names of functions of CUDA, of which nvprof records numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace dladvisor::nvprof {

// Without a version and "_ptsz": "cudaMemcpyAsync", "cuLaunchKernel". "" where the number is not known.
std::string_view RuntimeCallName(int64_t number);
std::string_view DriverCallName(int64_t number);

}  // namespace dladvisor::nvprof
