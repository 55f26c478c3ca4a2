// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "src/analysis/context/context.h"

namespace dladvisor {

// What the name of a kernel shows beside its traits.
struct KernelNote {
  bool is_known = false;
  bool vector = false;        // a product with a vector, which no kernel computes on tensor cores
  int64_t element_bytes = 0;  // of the one type that it works on, 0 where there is none
};

KernelNote NoteOf(std::string_view name, const KernelTraits& traits);

}  // namespace dladvisor
