// SPDX-License-Identifier: Apache-2.0
// What formulas of operators that move data have in common.
#pragma once

#include <string_view>
#include <vector>

#include "src/analysis/work/work.h"

namespace dladvisor {

// Work without FLOPs.
WorkResult Moved(WorkKind kind, Count bytes, Literal data_type);
// The same with a result of so many elements, each of so many bytes, 0 where that is not known.
WorkResult MovedInto(WorkKind kind, Count bytes, Literal data_type, Count elements, int64_t element);

// All tensors that are arguments of their own, once each.
std::vector<const Tensor*> TensorsOf(const Arguments& arguments);
Count BytesOf(const std::vector<const Tensor*>& tensors);
Literal TypeName(const Tensor& tensor);  // "" where it is not recorded

// Reads all tensors and writes one like the argument `like`.
Formula Like(WorkKind kind, size_t like);

}  // namespace dladvisor
