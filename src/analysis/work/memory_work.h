// SPDX-License-Identifier: Apache-2.0
// Operators whose work is the movement of data: element-wise ones, reductions, normalisations, embeddings,
// optimizers, copies.
#pragma once

#include <string_view>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Empty where the operator is none.
Formula MemoryFormula(std::string_view operator_name);

}  // namespace dladvisor
