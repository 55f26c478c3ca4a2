// SPDX-License-Identifier: Apache-2.0
// What a CUDA call answers when it fails, by cudaError_t, whose numbers are CUresult's since CUDA 10.1 and
// mostly those of hipError_t. Source: the CUDA Runtime API's list of error codes.
#pragma once

#include <cstdint>
#include <string_view>

namespace dladvisor {

struct CudaError {
  int64_t code;
  std::string_view text;    // "no kernel image for this GPU"
  std::string_view remedy;  // as the words of an order, without a stop
};

// Null where nothing is known of the code but that it is one.
const CudaError* FindCudaError(int64_t code);

}  // namespace dladvisor
