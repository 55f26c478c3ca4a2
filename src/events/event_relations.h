// SPDX-License-Identifier: Apache-2.0
// The events of a trace as relations, for team rules and `dladvisor query`: views over the columns, no
// copies. Which columns they have is declared beside the tables (src/trace/events.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/store/relation.h"
#include "src/trace/trace.h"

namespace dladvisor {

// kernel, memcpy, memset, graph_launch, api_call, sync, range, os_call, overhead, memory_event, cpu_sample,
// cpu_run, mpi_call, page_fault, gpu_sample, network_sample, telemetry_sample. Sorted by start_ns where the
// trace is. The trace must outlive them.
std::vector<std::unique_ptr<Relation>> EventRelations(const Trace& trace);

// Theirs, in the same order.
const std::vector<const Schema*>& EventSchemas();

}  // namespace dladvisor
