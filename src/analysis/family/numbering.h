// SPDX-License-Identifier: Apache-2.0
// What the integers of some columns number. Profiles that are read alone number their ranks, steps and files
// alone; where several are put together these columns, and no others, get the numbers among all.
#pragma once

#include "engine/store/relation.h"

namespace dladvisor {

inline constexpr Numbering kRankNumber{"rank"}, kStepNumber{"step"}, kProfileNumber{"profile"};

}  // namespace dladvisor
