// SPDX-License-Identifier: Apache-2.0
// What a finding and those that it explains save together, as the headline weighs and says it.
#pragma once

#include <cstddef>

#include "engine/model/advice.h"

namespace dladvisor {

// A finding that says what it saves itself, else of what it explains the one that saves most: a cause often
// leaves the claim to its symptom.
const Finding& MostSaving(const Advice& advice, size_t root);

// What MostSaving says, of which a cause that borrows it from its symptom is sure of nothing.
Finding Claiming(const Advice& advice, size_t root);

// The same as the report shows it: of one finding for all that are alike.
Finding ClaimingOfAlike(const Advice& advice, size_t root);

// What a replay of the profile refutes is not what to begin with promises.
Finding AsRecorded(Finding claim);

}  // namespace dladvisor
