// SPDX-License-Identifier: Apache-2.0
// Device memory: the peak of a running sum of the driver's allocations, or what PyTorch's allocator says that
// tensors take and it has reserved, against the device's total. A running sum of tensors is meaningless: most
// were allocated before the profiler began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct MemoryRow {
  int64_t rank = 0, device = 0;
  std::optional<int64_t> total_bytes, peak_bytes, reserved_bytes;
  std::optional<double> used_share;
  std::optional<int64_t> allocations, frees;
  std::optional<Ns> peak_at_ns;
  std::optional<std::string> peak_operator, source;
};
const RelationOf<MemoryRow>& MemoryRelation();

// A row per entry of ranks.gpus, in that order. Without memory events only the total is known.
std::vector<MemoryRow> ComputeMemory(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<MemoryRow>>{"memory rows", ComputeMemory};

}  // namespace dladvisor
