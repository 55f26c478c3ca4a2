// SPDX-License-Identifier: Apache-2.0
// Number formats that GPUs compute in, and the units that do it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dladvisor {

enum class Precision : uint8_t { kUnknown, kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kFp6, kFp4, kInt8 };
inline constexpr size_t kPrecisions = 10;

// Vector units compute element by element, matrix units (tensor cores, matrix cores) products of tiles.
enum class ComputeUnit : uint8_t { kVector, kMatrix };

std::string_view PrecisionName(Precision precision);  // "fp16", ...; "" for kUnknown
std::optional<Precision> ParsePrecision(std::string_view name);
std::string_view ComputeUnitName(ComputeUnit unit);  // "vector", "matrix"

}  // namespace dladvisor
