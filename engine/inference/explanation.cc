// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/explanation.h"

#include <fmt/format.h>

#include <cmath>

namespace dladvisor {

std::string DistanceText(const ComparedValues& compared) {
  const auto left = AsNumber(compared.left_value), right = AsNumber(compared.right_value);
  if (!left || !right) return "";
  const double distance = *left - *right;
  if (distance == 0) return "equal";
  const char* side = distance > 0 ? "above" : "below";
  if (compared.unit == Unit::kRatio)
    return fmt::format("{:.1f} percentage points {}", std::abs(distance) * 100, side);
  const bool whole = std::holds_alternative<int64_t>(compared.left_value) &&
                     std::holds_alternative<int64_t>(compared.right_value);
  const Value apart = whole && std::abs(distance) < 9e18
                          ? Value(static_cast<int64_t>(std::llround(std::abs(distance))))
                          : Value(std::abs(distance));
  return fmt::format("{} {}", FormatValue(apart, compared.unit), side);
}

std::string ComparisonText(const ComparedValues& compared) {
  const std::string distance = DistanceText(compared);
  return fmt::format("{} {} {}{}{}", FormatValue(compared.left_value, compared.unit), compared.op,
                     FormatValue(compared.right_value, compared.unit), distance.empty() ? "" : ", ",
                     distance);
}

std::string TruthText(const std::optional<bool>& holds) {
  return !holds ? "unknown" : *holds ? "true" : "false";
}

}  // namespace dladvisor
