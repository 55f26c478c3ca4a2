// SPDX-License-Identifier: Apache-2.0
// What ran on the host: CUDA API calls, OS runtime calls with their call chains, the profiler's own time.
#pragma once

#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

// Plans to read the tables that grow with the run in parts.
void PlanHostEvents(const Database& db, Parts& parts);

void ReadHostEvents(Context& context);

}  // namespace dladvisor::nsys
