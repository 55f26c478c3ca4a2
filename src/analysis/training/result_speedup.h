// SPDX-License-Identifier: Apache-2.0
// What a benchmark's own table says of how much faster its results are than a reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct ResultSpeedupRow {
  int64_t profile = 0, speedup = 0;
  std::string name;
  bool of_all = false;
  int64_t rows = 0, below = 0;
  double below_share = 0, least = 0, median = 0, most = 0;
  std::optional<std::string> setting, from;
};
const RelationOf<ResultSpeedupRow>& ResultSpeedupRelation();

std::vector<ResultSpeedupRow> ComputeResultSpeedups(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<ResultSpeedupRow>>{"result_speedup rows", ComputeResultSpeedups};

}  // namespace dladvisor
