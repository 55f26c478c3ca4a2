// SPDX-License-Identifier: Apache-2.0
// Ranges of the program by name, with numbers in step names replaced by #.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct RangeNameRow {
  int64_t rank = 0;
  std::string name, domain;
  int64_t instances = 0, total_ns = 0;
  double avg_ns = 0;
  std::optional<double> stddev_ns;
  int64_t gpu_ns = 0, window_instances = 0, window_ns = 0, cold_ns = 0;
};
const RelationOf<RangeNameRow>& RangeNameRelation();

// Closed ranges of ranks over the whole profile, by rank, then total time descending.
std::vector<RangeNameRow> ComputeRangeNames(const Context& context);

}  // namespace dladvisor
