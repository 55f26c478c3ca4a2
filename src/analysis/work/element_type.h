// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, as frameworks and profilers write them: "c10::BFloat16", "float", "long int",
// "torch.float16", "torch.cuda.HalfTensor".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/analysis/work/literal.h"

namespace dladvisor {

struct ElementType {
  Literal name;  // "fp64", "fp32", "fp16", "bf16", "fp8", "fp4", "int64", ..., "bool", "complex64"
  int32_t bytes = 0;
  int16_t elements = 1;  // in these bytes: 2 of FP4, whose shapes count bytes
  bool is_float = false;
};

// Nothing where the name is not known: that of scalars and lists, too.
std::optional<ElementType> ParseElementType(std::string_view text);

// Of ElementType::name.
std::optional<ElementType> ElementTypeOfName(std::string_view name);

// What PyTorch numbers its types with where an operator takes one ("15" for BFloat16).
std::optional<ElementType> ElementTypeOfNumber(std::string_view number);

// The type in which an element-wise operator computes on both.
ElementType Promote(const ElementType& a, const ElementType& b);

}  // namespace dladvisor
