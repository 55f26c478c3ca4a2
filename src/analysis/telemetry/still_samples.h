// SPDX-License-Identifier: Apache-2.0
// Samples of a log of telemetry that say nothing, as its tool repeats what it read before: a GPU at work
// never draws the same power, to a fraction of a watt, for a minute.
#pragma once

#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// By sample; the first of a row of equal ones is known.
std::vector<bool> StillSamples(const Telemetry& telemetry);

}  // namespace dladvisor
