// SPDX-License-Identifier: Apache-2.0
// Operators that are one kernel each and move data: those of inference servers, which are written by hand,
// and those that Inductor generates.
#pragma once

#include <string_view>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Empty where the operator is none.
Formula KernelFormula(std::string_view operator_name);

}  // namespace dladvisor
