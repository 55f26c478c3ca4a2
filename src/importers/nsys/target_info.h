// SPDX-License-Identifier: Apache-2.0
// Versions, host, environment, command line, clock and the profiler's own messages.
#pragma once

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

void ReadSystem(Context& context);

// With which the program ended, by what it printed; the GPU's work is read by then.
void ReadProgramError(Context& context);

}  // namespace dladvisor::nsys
