// SPDX-License-Identifier: Apache-2.0
// Which range a launch belongs to, by one stack sweep over ranges and API calls in order of time.
#pragma once

#include "src/analysis/context/context.h"

namespace dladvisor {

// Ranges nest per thread; an API call belongs to the innermost range open on its thread at its start, a GPU
// operation to the range of its launching call. Where a thread has no range open (autograd's: it has none of
// its own, or only those of the collectives it launches) the call inherits the innermost range open at that
// time on the process's main thread: the one that waits for it. Ranges that overlap without nesting, and
// those never closed, keep the latest opened on top.
Attribution Attribute(const Trace& trace, const Launches& launches);

}  // namespace dladvisor
