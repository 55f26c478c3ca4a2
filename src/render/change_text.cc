// SPDX-License-Identifier: Apache-2.0
#include "src/render/change_text.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

constexpr double kTimes = 9;  // more, as a share

std::string FactorText(double share) {
  return std::abs(share) < 1e15 ? WithThousands(std::llround(1 + share)) : fmt::format("{:.3g}", 1 + share);
}

std::string SignedPercent(double share) { return fmt::format("{:+.1f}", 100 * share); }

}  // namespace

std::string ChangeText(double share) {
  if (std::abs(share) < 0.0005) return "±0.0 %";
  return share < kTimes ? SignedPercent(share) + " %" : FactorText(share) + " times";
}

std::string ChangeRangeText(double low, double high) {
  if (high < kTimes) return fmt::format("{} to {} %", SignedPercent(low), SignedPercent(high));
  return fmt::format("{} to {} times", low < kTimes ? SignedPercent(low) + " %" : FactorText(low),
                     FactorText(high));
}

std::string DistanceText(double share) {
  const double distance = std::abs(share);
  return distance < kTimes ? fmt::format("{:.1f} %", 100 * distance) : "a factor of " + FactorText(distance);
}

}  // namespace dladvisor
