// SPDX-License-Identifier: Apache-2.0
// Findings that say the same of several GPUs, ranks or profiles: a report shows them once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// Findings of the advice with the same text here are alike: of one rule, with the same words and subject but
// for the place.
std::string AlikeKey(const Advice& advice, size_t index);

// The one that saves most, as it is shown for all of them: surely saved is only what the least of them saves.
// Of at least one finding.
Finding SavingMostOf(const std::vector<const Finding*>& alike);

// The same of all findings that are alike to this one.
Finding SavingMostOfAlike(const Advice& advice, const Finding& finding);

}  // namespace dladvisor
