// SPDX-License-Identifier: Apache-2.0
// What a server's log reports about its load, a row per printed line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct ServingLogRow {
  int64_t profile = 0, line = 0;
  std::optional<std::string> engine;
  std::optional<int64_t> start_ns, running, waiting, transferring;
  std::optional<double> lasts_ns, prompt_tokens_per_second, generated_tokens_per_second, cache_used,
      prefix_hit_share, accepted_share, accepted_length;
  std::optional<bool> graphs;
};
const RelationOf<ServingLogRow>& ServingLogRelation();

std::vector<ServingLogRow> ComputeServingLog(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<ServingLogRow>>{"serving_log rows", ComputeServingLog};

}  // namespace dladvisor
