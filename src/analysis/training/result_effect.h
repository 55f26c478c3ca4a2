// SPDX-License-Identifier: Apache-2.0
// Which setting of a benchmark's table makes a difference: results that differ in nothing but that, compared.
// Of how much is done at once: from where on more brings nothing. Of devices: what several of them do, for
// one.
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
  std::string kind;
  std::string best, worst;
  double times = 0;
  std::optional<double> least_times, most_times;
  std::optional<std::string> least_of, most_of;
  int64_t compared = 0, groups = 0, results = 0, failed = 0;
  std::optional<std::string> enough, before, last, full_from;
  std::optional<double> enough_share, last_share, last_growth, efficiency;
  std::optional<std::string> efficient_to;
};
const RelationOf<ResultEffectRow>& ResultEffectRelation();

std::vector<ResultEffectRow> ComputeResultEffects(const Context& context);

// In words: "160 results, total_latency_ms 62,437 to 235,397"; "" for none.
std::string ResultsText(const std::optional<ResultTable>& table);

template <>
inline constexpr Computed kValue<std::vector<ResultEffectRow>>{"result_effect rows", ComputeResultEffects};

}  // namespace dladvisor
