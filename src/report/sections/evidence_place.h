// SPDX-License-Identifier: Apache-2.0
// Where evidence is: times on a profile's clock mean nothing to a reader, "12.3 ms into step 7" does.
#pragma once

#include "engine/model/advice.h"
#include "engine/store/database.h"

namespace dladvisor {

// Adds a column `place` beside `start_ns` in the evidence of fired findings, unknown outside of steps; none
// where no row is within a step.
void PlaceEvidence(Advice& advice, const Database& database);

}  // namespace dladvisor
