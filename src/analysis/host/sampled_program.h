// SPDX-License-Identifier: Apache-2.0
// What samples show the program in while the GPU has nothing of it: before its first work and after its last,
// or all the time where it has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct SampledProgramRow {
  int64_t profile = 0;
  std::string place;
  int64_t samples = 0, threads = 0;
  std::optional<std::string> functions = {};
};
const RelationOf<SampledProgramRow>& SampledProgramRelation();

std::vector<SampledProgramRow> ComputeSampledProgram(const Context& context);

}  // namespace dladvisor
