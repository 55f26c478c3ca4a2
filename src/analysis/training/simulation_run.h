// SPDX-License-Identifier: Apache-2.0
// What a program of molecular dynamics counts of its own time, and what its parts are for.
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

struct SimulationRunRow {
  int64_t profile = 0;
  std::string program;
  double ns = 0;
  std::optional<int64_t> steps, tasks, threads;
  std::optional<double> busy_share, imbalance_share, mesh_imbalance_share;
  bool on_gpu = false;
  std::string parts;
};
const RelationOf<SimulationRunRow>& SimulationRunRelation();

struct SimulationPartRow {
  int64_t profile = 0, part = 0;
  std::string name;
  std::optional<std::string> purpose;
  double ns = 0, share = 0;
  std::optional<double> least_ns, most_ns;
};
const RelationOf<SimulationPartRow>& SimulationPartRelation();

std::vector<SimulationRunRow> ComputeSimulationRuns(const Context& context);
std::vector<SimulationPartRow> ComputeSimulationParts(const Context& context);

// In words: "500 steps in 20.6 s: Pair 45.6 %, Modify 20.0 %, Neigh 14.1 %"; "" for none.
std::string SimulationText(const std::optional<SimulationRun>& run);

template <>
inline constexpr Computed kValue<std::vector<SimulationRunRow>>{"simulation_run rows", ComputeSimulationRuns};
template <>
inline constexpr Computed kValue<std::vector<SimulationPartRow>>{"simulation_part rows",
                                                                 ComputeSimulationParts};

}  // namespace dladvisor
