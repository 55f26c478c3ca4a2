// SPDX-License-Identifier: Apache-2.0
// How changes are said, given as shares of what was before: 0.231 is 23.1 % more. From ten times as much on
// percents are hard to read, and the factor is told.
#pragma once

#include <string>

namespace dladvisor {

// "+23.1 %", "-4.0 %", "±0.0 %", "124 times".
std::string ChangeText(double share);
// "+21.0 to +25.2 %", "121 to 128 times", "+450.0 % to 12 times".
std::string ChangeRangeText(double low, double high);
// How far apart, without a direction: "23.1 %", "a factor of 124".
std::string DistanceText(double share);

}  // namespace dladvisor
