// SPDX-License-Identifier: Apache-2.0
// The metrics of Nsight Compute that are read, under each of their names: of the sections that it prints, as
// they were named over the years, and of the counters below them. Their values and units, as printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dladvisor::nsight_compute {

enum class Metric : uint8_t {
  kDuration,
  kCycles,
  kFrequency,
  kActiveCycles,
  kCompute,
  kMemory,
  kDram,
  kL1,
  kL2,
  kGrid,
  kBlock,
  kRegisters,
  kDynamicShared,
  kStaticShared,
  kMultiprocessors,
  kWaves,
  kBlocksBySlots,
  kBlocksByRegisters,
  kBlocksByShared,
  kBlocksByWarps,
  kTheoreticalOccupancy,
  kAchievedOccupancy,
  kLoadEfficiency,
  kStoreEfficiency,
  kLanes,
};

// Nothing where it is none of these: "Memory Throughput" in Gbyte/s is none, as it is of no peak.
std::optional<Metric> MetricOf(std::string_view name, std::string_view unit);

// In ns, bytes, Hz or of 1, by its unit; as it is where it has none. Nothing where it is no number.
// `comma_is_point` in "1.234,5".
std::optional<double> ValueOf(std::string_view value, std::string_view unit, bool comma_is_point);

// Whether it can only be a number in which the comma is the point.
bool HasCommaAsPoint(std::string_view value);

}  // namespace dladvisor::nsight_compute
