// SPDX-License-Identifier: Apache-2.0
// Other runs as relations, which a gate knows besides the run that rules judge: the baseline, and those of
// the history.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"

namespace dladvisor {

// Figures of a run by the names of the gate's metrics (src/gate/runs/metric.h).
struct RunFigures {
  std::optional<double> step_ns, gpu_utilization, tensor_core_efficiency, mfu, kernel_efficiency, peak_bytes,
      exposed_communication_ns, samples_per_second;

  // `value` gives the value of "step.time" and so on, or nothing.
  static RunFigures Of(const std::function<std::optional<double>(const std::string& metric)>& value);
};

struct BaselineRow : RunFigures {
  int64_t runs = 0;
};
const RelationOf<BaselineRow>& BaselineRelation();

struct HistoryRow : RunFigures {
  int64_t age = 1;
  std::string label;
};
const RelationOf<HistoryRow>& HistoryRelation();

// Of both.
const std::vector<const Schema*>& EarlierRunSchemas();

}  // namespace dladvisor
