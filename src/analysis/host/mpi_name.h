// SPDX-License-Identifier: Apache-2.0
// Calls of MPI, UCX and OpenSHMEM by function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct MpiNameRow {
  std::optional<int64_t> rank;
  std::string name;
  int64_t calls = 0, total_ns = 0;
  double avg_ns = 0;
  int64_t max_ns = 0, window_ns = 0;
  std::optional<int64_t> bytes;
};
const RelationOf<MpiNameRow>& MpiNameRelation();

std::vector<MpiNameRow> ComputeMpiNames(const Context& context);

}  // namespace dladvisor
