// SPDX-License-Identifier: Apache-2.0
// A name of a finding that stays the same from run to run: it follows from the rule and its subject alone.
#pragma once

#include <string>

#include "engine/model/advice.h"

namespace dladvisor {

// "slow-host/5f3a9c21e07b4d68", or "slow-host" where the rule judges one subject, which has no key.
std::string FindingId(const Finding& finding);

}  // namespace dladvisor
