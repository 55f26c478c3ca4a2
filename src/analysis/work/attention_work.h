// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention in one operator: softmax(Q K^T) V.
#pragma once

#include <string_view>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Empty where the operator is none.
Formula AttentionFormula(std::string_view operator_name);

// Attention of inference servers, whose keys lie in pages: their number is not an argument.
bool IsPagedAttention(std::string_view operator_name);

// From the arguments of the forward operator; empty where it is none.
Formula AttentionBackwardFormula(std::string_view forward_operator_name);

}  // namespace dladvisor
