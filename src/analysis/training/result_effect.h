// SPDX-License-Identifier: Apache-2.0
// Which setting of a benchmark's table makes a difference: results that differ in nothing but that, compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/trace/program_output.h"

namespace dladvisor {

struct ResultEffectRow {
  int64_t profile = 0, effect = 0;
  std::string measure;
  std::optional<std::string> setting;
  std::string best, worst;
  double times = 0;
  int64_t compared = 0, groups = 0, results = 0, failed = 0;
};
const RelationOf<ResultEffectRow>& ResultEffectRelation();

std::vector<ResultEffectRow> ComputeResultEffects(const Context& context);

// In words: "160 results, total_latency_ms 62,437 to 235,397"; "" for none.
std::string ResultsText(const std::optional<ResultTable>& table);

template <>
inline constexpr Computed kValue<std::vector<ResultEffectRow>>{"result_effect rows", ComputeResultEffects};

}  // namespace dladvisor
