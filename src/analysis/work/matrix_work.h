// SPDX-License-Identifier: Apache-2.0
// Products of matrices, and mixtures of experts, which are products with some of many matrices.
#pragma once

#include <string_view>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Empty where the operator is none.
Formula MatrixFormula(std::string_view operator_name);

}  // namespace dladvisor
