// SPDX-License-Identifier: Apache-2.0
// Waits for the next batch in a thread of the framework's own, as TensorFlow's operator IteratorGetNext runs:
// the threads that launch the step do nothing meanwhile, and have no event that says why.
#pragma once

#include <vector>

#include "src/analysis/context/context.h"
#include "src/trace/intervals.h"

namespace dladvisor {

// By process: when it waits in such an operator and makes no call for the GPU for a millisecond or more.
std::vector<IntervalSet> AwaitedInput(const Context& context);

// The operator that waits within `time` on a thread of the process, kNoName where none does most of it.
NameId AwaitedIn(const Context& context, uint32_t process, Interval time);

}  // namespace dladvisor
