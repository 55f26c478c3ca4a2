// SPDX-License-Identifier: Apache-2.0
// What calls of operators compute in, from recorded types and from the names of kernels, which also show how
// matrices lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/analysis/context/context.h"
#include "src/analysis/work/work.h"
#include "src/hardware/precision.h"

namespace dladvisor {

// What the name of a kernel shows beside its traits.
struct KernelNote {
  bool is_known = false;
  bool vector = false;        // a product with a vector, which no kernel computes on tensor cores
  int64_t element_bytes = 0;  // of the one type that it works on, 0 where there is none
  std::string_view layout;    // of a matrix product as Work has it, "" where the name does not say it
};
KernelNote NoteOf(std::string_view name, const KernelTraits& traits);

// Of a call with this recorded type, nothing where there is none: types say it, but for FP32, of which
// tensor cores make TF32.
Precision PrecisionOf(std::optional<Precision> recorded, const KernelTraits& kernel, const KernelNote& note);

}  // namespace dladvisor
