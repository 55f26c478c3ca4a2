// SPDX-License-Identifier: Apache-2.0
// NVTX: what the program says of itself.
#pragma once

#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

// Plans to read the tables that grow with the run in parts.
void PlanNvtx(const Database& db, Parts& parts);

// After the other events: an unpopped range ends with its thread's last event.
void ReadNvtx(Context& context);

}  // namespace dladvisor::nsys
