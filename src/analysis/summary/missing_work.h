// SPDX-License-Identifier: Apache-2.0
// Of a profile without kernels: what to capture next time, and the sentence that says why.
#pragma once

#include "src/analysis/summary/profile.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Sets the columns truncated, gpu_traced, missing_capture and notes, by those that count.
void ExplainMissingWork(const Trace& trace, ProfileRow& row);

}  // namespace dladvisor
