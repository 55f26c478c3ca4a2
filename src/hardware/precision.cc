// SPDX-License-Identifier: Apache-2.0
#include "src/hardware/precision.h"

#include <algorithm>

namespace dladvisor {
namespace {

constexpr std::array<std::string_view, kPrecisions> kNames = {"",     "fp64", "fp32", "tf32", "fp16",
                                                              "bf16", "fp8",  "fp6",  "fp4",  "int8"};

}  // namespace

std::string_view PrecisionName(Precision precision) { return kNames[static_cast<size_t>(precision)]; }

std::optional<Precision> ParsePrecision(std::string_view name) {
  const auto found = std::find(kNames.begin() + 1, kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Precision>(found - kNames.begin());
}

std::string_view ComputeUnitName(ComputeUnit unit) {
  return unit == ComputeUnit::kVector ? "vector" : "matrix";
}

}  // namespace dladvisor
