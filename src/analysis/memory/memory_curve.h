// SPDX-License-Identifier: Apache-2.0
// What PyTorch's allocator had given to tensors over time, as far as a curve of it can show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct MemoryPointRow {
  int64_t device = 0, point = 0;
  Ns start_ns = 0;
  int64_t allocated_bytes = 0;
  std::optional<int64_t> reserved_bytes;
};
const RelationOf<MemoryPointRow>& MemoryCurveRelation();

// Of each of so many equal parts of the time that a GPU's curve is drawn in, the least, the most and the
// last; by device, then time.
std::vector<MemoryPointRow> ComputeMemoryCurve(const Trace& trace);

}  // namespace dladvisor
