// SPDX-License-Identifier: Apache-2.0
// The events of a trace as relations, for team rules and `dladvisor query`: views over the columns, no
// copies. Which columns they have is declared beside the tables (src/trace/events.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/store/relation.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Where events belong, which a trace alone does not say. By process, its rank, or -1; by rank, its steps in
// order of time.
struct EventPlaces {
  struct Step {
    int64_t number = 0;
    Ns begin = 0, end = 0;  // half-open
  };
  std::vector<int64_t> rank_of_process;
  std::map<int64_t, std::vector<Step>> steps;

  std::optional<int64_t> RankOf(uint32_t process) const;
  std::optional<int64_t> StepAt(int64_t rank, Ns time) const;
};

// kernel, memcpy, memset, graph_launch, api_call, sync, range, os_call, overhead, memory_event, cpu_sample,
// cpu_run, mpi_call, page_fault, gpu_sample, network_sample, telemetry_sample. Sorted by start_ns where the
// trace is. The trace must outlive them.
std::vector<std::unique_ptr<Relation>> EventRelations(const Trace& trace, EventPlaces places = {});

// Theirs, in the same order.
const std::vector<const Schema*>& EventSchemas();

}  // namespace dladvisor
