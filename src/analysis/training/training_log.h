// SPDX-License-Identifier: Apache-2.0
// What a training's log reports about its iterations: a row per printed line, whether it took longer than
// others and what coincides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct TrainingLogRow {
  int64_t profile = 0, attempt = 0, iteration = 0;
  std::optional<int64_t> covers;
  std::optional<double> elapsed_ns, excess_ns;
  bool warmup = false;
  std::optional<bool> slow;
  std::optional<std::string> cause, grown_timer;
  std::optional<int64_t> global_batch;
  std::optional<double> samples_per_second, tokens_per_second, tflops_per_gpu, mfu, loss, loss_scale,
      grad_norm, learning_rate;
  std::optional<int64_t> skipped, nan, consumed_samples;
};
const RelationOf<TrainingLogRow>& TrainingLogRelation();

// A row per iteration of the trace's log, in that order.
std::vector<TrainingLogRow> ComputeTrainingLog(const Context& context);

// What a timer of this name measures: "input", "communication", "optimizer", "compute", or "all" for what
// holds the others.
std::string_view TimerKind(std::string_view timer);

template <>
inline constexpr Computed kValue<std::vector<TrainingLogRow>>{"training_log rows", ComputeTrainingLog};

}  // namespace dladvisor
