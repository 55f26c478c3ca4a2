// SPDX-License-Identifier: Apache-2.0
// What ran on GPUs, and the host's waits for it as CUPTI reports them.
#pragma once

#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

// Plans to read the tables that grow with the run in parts.
void PlanGpuEvents(const Database& db, Parts& parts);

// Kernels, copies, sets, graph launches, synchronisation, event records.
void ReadGpuEvents(Context& context);

// Kinds of streams; after all events, which name the processes.
void ReadStreams(Context& context);

}  // namespace dladvisor::nsys
