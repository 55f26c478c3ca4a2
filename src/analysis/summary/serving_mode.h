// SPDX-License-Identifier: Apache-2.0
// Steps of an inference server by what they do: prefill (new prompts), decode (one token for each request
// that runs), or both at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct ServingModeRow {
  int64_t rank = 0;
  std::string mode;
  int64_t steps = 0;
  double requests = 0;
  std::optional<double> tokens;
};
const RelationOf<ServingModeRow>& ServingModeRelation();

// By the ranges of the engine's steps in the whole profile, as serving_step.h reads them.
std::vector<ServingModeRow> ComputeServingModes(const Context& context);

}  // namespace dladvisor
