// SPDX-License-Identifier: Apache-2.0
// Memory of each rank as reported by a training's log, against that of the GPUs which the log lists.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct TrainingMemoryRow {
  int64_t profile = 0;
  std::optional<int64_t> rank;
  int64_t iteration = 0;
  std::optional<int64_t> allocated_bytes, max_allocated_bytes, reserved_bytes, max_reserved_bytes,
      device_bytes;
  std::optional<double> used_share;
};
const RelationOf<TrainingMemoryRow>& TrainingMemoryRelation();

// One row per rank: what it reported last.
std::vector<TrainingMemoryRow> ComputeTrainingMemory(const Context& context);

}  // namespace dladvisor
