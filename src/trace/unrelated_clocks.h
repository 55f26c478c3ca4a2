// SPDX-License-Identifier: Apache-2.0
// Profiles whose rows of GPUs have times on another clock than those of the host.
#pragma once

#include "src/trace/trace.h"

namespace dladvisor {

// Where all work of GPUs lies outside the time of the calls that launched it, so that no time of the host
// says when a GPU worked: leaves out what the host did, says so in a note, and has the trace begin with the
// GPUs'.
void DropHostOfUnrelatedClock(Trace& trace);

}  // namespace dladvisor
