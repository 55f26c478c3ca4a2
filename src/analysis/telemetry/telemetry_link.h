// SPDX-License-Identifier: Apache-2.0
// Whether steps are slow when a sensor of their GPU shows something else than in fast ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/telemetry/step_telemetry.h"

namespace dladvisor {

struct TelemetryLinkRow {
  int64_t rank = 0, device = 0;
  std::string metric;
  int64_t steps = 0, observations = 0;
  double slow_step_ns = 0, fast_step_ns = 0, slow_mean = 0, fast_mean = 0;
  std::optional<double> rho, probability;
};
const RelationOf<TelemetryLinkRow>& TelemetryLinkRelation();

// `steps` in order of rank, device and step. Steps that follow each other between the same samples are one
// observation, with the mean of their durations: nothing else distinguishes them.
std::vector<TelemetryLinkRow> LinkTelemetry(std::span<const StepTelemetryRow> steps);

}  // namespace dladvisor
