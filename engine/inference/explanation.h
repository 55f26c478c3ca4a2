// SPDX-License-Identifier: Apache-2.0
// Words for why a rule decided as it did, shared by all that show it.
#pragma once

#include <string>

#include "engine/model/advice.h"

namespace dladvisor {

// How far both sides are apart: "55.5 percentage points above", "3 below", "equal"; "" where one is no
// number.
std::string DistanceText(const ComparedValues& compared);

// The values of both sides and how far they are apart: "70.5 % > 15.0 %, 55.5 percentage points above".
std::string ComparisonText(const ComparedValues& compared);

// "true", "false" or "unknown".
std::string TruthText(const std::optional<bool>& holds);

}  // namespace dladvisor
