// SPDX-License-Identifier: Apache-2.0
// Timers that a training's log prints, and of what its ranks differ in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct TrainingTimerRow {
  int64_t profile = 0, attempt = 0, iteration = 0;
  std::string timer, kind;
  std::optional<double> ns, min_ns, max_ns;
  std::optional<int64_t> max_rank;
  std::optional<double> share;
};
const RelationOf<TrainingTimerRow>& TrainingTimerRelation();
std::vector<TrainingTimerRow> ComputeTrainingTimers(const Context& context);

struct TrainingExtremeRow {
  int64_t profile = 0, attempt = 0, iteration = 0;
  std::string metric, unit;
  double min = 0, max = 0;
  int64_t min_rank = 0, max_rank = 0;
};
const RelationOf<TrainingExtremeRow>& TrainingExtremeRelation();
std::vector<TrainingExtremeRow> ComputeTrainingExtremes(const Context& context);

}  // namespace dladvisor
