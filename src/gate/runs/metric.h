// SPDX-License-Identifier: Apache-2.0
// What a gate measures of a run. Those of step.time and its like have a value per step, whose spread is the
// noise within the run; ops and kernels have one value.
//
//   step.time               a steady step of the rank that sets the pace, or an iteration of a log
//   gpu.utilization         mean over GPUs
//   tensor_core.efficiency  of the run
//   run.mfu                 of the run: model FLOPs per second by the peak of its GPUs
//   kernel.efficiency       least time of operators of known work on their GPUs, by the time they took
//   memory.peak             of the GPU that holds most
//   communication.exposed   per step, mean over GPUs
//   throughput              samples per second, where a log has it
//   ledger.time/BUCKET      per step, of the GPU that sets the pace
//   op.time/PATH            per step, of that rank
//   kernel.time/NAME        per step, of that rank
//   range.time/NAME         of one instance on the host
//   op.flops_per_s/OP       of an operator's kernels, over its calls of known work, of that rank
//
// The last five are families, which explain a change.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/database.h"
#include "src/gate/compare/run_mean.h"

namespace dladvisor {

struct MetricKind {
  std::string name;   // "step.time", or "op.time" of "op.time/PATH"
  std::string title;  // "Step time"; of a family "Op"
  Unit unit = Unit::kNanoseconds;
  bool lower_is_better = true;
  bool is_family = false;
  bool absent_is_nothing = false;  // an op that did not run took no time
};
// In the order of reports.
std::span<const MetricKind> MetricKinds();
// The kind of "op.time/PATH"; null for an unknown one.
const MetricKind* FindMetricKind(std::string_view metric);

// SQL of the rank that sets the pace (src/analysis/ranks/pacing_gpu.h); without GPU work the one with the
// longest steps. NULL without either.
extern const std::string kPacingRank;
// SQL of its GPU, among those that have rows in a relation.
std::string PacingDevice(std::string_view relation);

struct Measurement {
  std::string metric;
  RunMean mean;
};

// Metrics from the relations of a run; one that they do not have is left out. In order of kinds, then of
// the largest value.
std::vector<Measurement> MeasureRun(const Database& db);

}  // namespace dladvisor
