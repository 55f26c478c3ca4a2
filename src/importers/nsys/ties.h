// SPDX-License-Identifier: Apache-2.0
// Exports promise no order of their rows. Sorted by start, rows that start together are left in that of the
// file; here they get one that follows from what they hold.
#pragma once

#include "src/trace/trace.h"

namespace dladvisor::nsys {

void OrderRowsThatStartTogether(Trace& trace);

}  // namespace dladvisor::nsys
