// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsight_compute/kernel_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace dladvisor::nsight_compute {
namespace {

// What its unit must be.
enum class Kind : uint8_t { kTime, kFrequency, kShare, kBytes, kNumber };

struct Name {
  std::string_view name;
  Metric metric;
  Kind kind;
};

constexpr auto kNames = std::to_array<Name>({
    {"Duration", Metric::kDuration, Kind::kTime},
    {"gpu__time_duration.sum", Metric::kDuration, Kind::kTime},
    {"gpu__time_duration.avg", Metric::kDuration, Kind::kTime},
    {"gpu__time_duration.max", Metric::kDuration, Kind::kTime},
    {"gpu__time_duration_measured_user.sum", Metric::kDuration, Kind::kTime},
    {"gpu__time_active.sum", Metric::kDuration, Kind::kTime},
    {"gpu__time_active.avg", Metric::kDuration, Kind::kTime},
    {"Elapsed Cycles", Metric::kCycles, Kind::kNumber},
    {"gpc__cycles_elapsed.max", Metric::kCycles, Kind::kNumber},
    {"gpc__cycles_elapsed.avg", Metric::kCycles, Kind::kNumber},
    {"sm__cycles_elapsed.max", Metric::kCycles, Kind::kNumber},
    {"sm__cycles_elapsed.avg", Metric::kCycles, Kind::kNumber},
    {"Cycles", Metric::kCycles, Kind::kNumber},
    {"SM Active Cycles", Metric::kActiveCycles, Kind::kNumber},
    {"sm__cycles_active.avg", Metric::kActiveCycles, Kind::kNumber},
    {"SM Frequency", Metric::kFrequency, Kind::kFrequency},
    {"gpc__cycles_elapsed.avg.per_second", Metric::kFrequency, Kind::kFrequency},
    {"sm__cycles_elapsed.avg.per_second", Metric::kFrequency, Kind::kFrequency},
    {"smsp__cycles_elapsed.avg.per_second", Metric::kFrequency, Kind::kFrequency},
    {"Compute (SM) Throughput", Metric::kCompute, Kind::kShare},
    {"Compute Throughput", Metric::kCompute, Kind::kShare},
    {"Compute (SM) [%]", Metric::kCompute, Kind::kShare},
    {"SM [%]", Metric::kCompute, Kind::kShare},
    {"SOL SM", Metric::kCompute, Kind::kShare},
    {"SM Throughput", Metric::kCompute, Kind::kShare},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Metric::kCompute, Kind::kShare},
    {"Memory Throughput", Metric::kMemory, Kind::kShare},
    {"Memory [%]", Metric::kMemory, Kind::kShare},
    {"SOL Memory", Metric::kMemory, Kind::kShare},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", Metric::kMemory, Kind::kShare},
    {"DRAM Throughput", Metric::kDram, Kind::kShare},
    {"SOL DRAM", Metric::kDram, Kind::kShare},
    {"SOL FB", Metric::kDram, Kind::kShare},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Metric::kDram, Kind::kShare},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Metric::kDram, Kind::kShare},
    {"L1/TEX Cache Throughput", Metric::kL1, Kind::kShare},
    {"SOL L1/TEX Cache", Metric::kL1, Kind::kShare},
    {"SOL TEX", Metric::kL1, Kind::kShare},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", Metric::kL1, Kind::kShare},
    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", Metric::kL1, Kind::kShare},
    {"L2 Cache Throughput", Metric::kL2, Kind::kShare},
    {"SOL L2 Cache", Metric::kL2, Kind::kShare},
    {"SOL L2", Metric::kL2, Kind::kShare},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", Metric::kL2, Kind::kShare},
    {"Grid Size", Metric::kGrid, Kind::kNumber},
    {"launch__grid_size", Metric::kGrid, Kind::kNumber},
    {"Block Size", Metric::kBlock, Kind::kNumber},
    {"launch__block_size", Metric::kBlock, Kind::kNumber},
    {"# Registers", Metric::kRegisters, Kind::kNumber},
    {"Registers Per Thread", Metric::kRegisters, Kind::kNumber},
    {"launch__registers_per_thread", Metric::kRegisters, Kind::kNumber},
    {"Dynamic Shared Memory Per Block", Metric::kDynamicShared, Kind::kBytes},
    {"launch__shared_mem_per_block_dynamic", Metric::kDynamicShared, Kind::kBytes},
    {"Static Shared Memory Per Block", Metric::kStaticShared, Kind::kBytes},
    {"launch__shared_mem_per_block_static", Metric::kStaticShared, Kind::kBytes},
    {"# SMs", Metric::kMultiprocessors, Kind::kNumber},
    {"launch__sm_count", Metric::kMultiprocessors, Kind::kNumber},
    {"device__attribute_multiprocessor_count", Metric::kMultiprocessors, Kind::kNumber},
    {"Waves Per SM", Metric::kWaves, Kind::kNumber},
    {"launch__waves_per_multiprocessor", Metric::kWaves, Kind::kNumber},
    {"Block Limit SM", Metric::kBlocksBySlots, Kind::kNumber},
    {"launch__occupancy_limit_blocks", Metric::kBlocksBySlots, Kind::kNumber},
    {"Block Limit Registers", Metric::kBlocksByRegisters, Kind::kNumber},
    {"launch__occupancy_limit_registers", Metric::kBlocksByRegisters, Kind::kNumber},
    {"Block Limit Shared Mem", Metric::kBlocksByShared, Kind::kNumber},
    {"launch__occupancy_limit_shared_mem", Metric::kBlocksByShared, Kind::kNumber},
    {"Block Limit Warps", Metric::kBlocksByWarps, Kind::kNumber},
    {"launch__occupancy_limit_warps", Metric::kBlocksByWarps, Kind::kNumber},
    {"Theoretical Occupancy", Metric::kTheoreticalOccupancy, Kind::kShare},
    {"sm__maximum_warps_per_active_cycle_pct", Metric::kTheoreticalOccupancy, Kind::kShare},
    {"Achieved Occupancy", Metric::kAchievedOccupancy, Kind::kShare},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", Metric::kAchievedOccupancy, Kind::kShare},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", Metric::kLoadEfficiency, Kind::kShare},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", Metric::kStoreEfficiency, Kind::kShare},
    {"smsp__thread_inst_executed_per_inst_executed.pct", Metric::kLanes, Kind::kShare},
});

struct UnitName {
  std::string_view name;
  Kind kind;
  double factor;
};

constexpr auto kUnits = std::to_array<UnitName>({
    {"ns", Kind::kTime, 1},
    {"nsecond", Kind::kTime, 1},
    {"us", Kind::kTime, 1e3},
    {"usecond", Kind::kTime, 1e3},
    {"ms", Kind::kTime, 1e6},
    {"msecond", Kind::kTime, 1e6},
    {"s", Kind::kTime, 1e9},
    {"second", Kind::kTime, 1e9},
    {"hz", Kind::kFrequency, 1},
    {"Khz", Kind::kFrequency, 1e3},
    {"Mhz", Kind::kFrequency, 1e6},
    {"Ghz", Kind::kFrequency, 1e9},
    {"cycle/second", Kind::kFrequency, 1},
    {"cycle/msecond", Kind::kFrequency, 1e3},
    {"cycle/usecond", Kind::kFrequency, 1e6},
    {"cycle/nsecond", Kind::kFrequency, 1e9},
    {"cycle/s", Kind::kFrequency, 1},
    {"cycle/us", Kind::kFrequency, 1e6},
    {"cycle/ns", Kind::kFrequency, 1e9},
    {"%", Kind::kShare, 0.01},
    {"byte", Kind::kBytes, 1},
    {"Kbyte", Kind::kBytes, 1e3},
    {"Mbyte", Kind::kBytes, 1e6},
});

// "Kbyte/block" as "Kbyte".
const UnitName* FindUnit(std::string_view unit) {
  if (unit.ends_with("/block")) unit.remove_suffix(6);
  const auto found = std::ranges::find(kUnits, unit, &UnitName::name);
  return found == kUnits.end() ? nullptr : &*found;
}

constexpr double kLargest = 1e18;

}  // namespace

std::optional<Metric> MetricOf(std::string_view name, std::string_view unit) {
  const auto found = std::ranges::find(kNames, name, &Name::name);
  if (found == kNames.end()) return std::nullopt;
  const UnitName* known = FindUnit(unit);
  const bool fits = found->kind == Kind::kNumber || (known != nullptr && known->kind == found->kind);
  return fits ? std::optional(found->metric) : std::nullopt;
}

bool HasCommaAsPoint(std::string_view value) {
  const size_t comma = value.rfind(',');
  if (comma == std::string_view::npos) return std::ranges::count(value, '.') > 1;
  if (value.find('.', comma) != std::string_view::npos) return false;
  const std::string_view behind = value.substr(comma + 1);
  const bool digits =
      !behind.empty() && std::ranges::all_of(behind, [](char c) { return c >= '0' && c <= '9'; });
  return digits && (behind.size() != 3 || value.find('.') != std::string_view::npos);
}

std::optional<double> ValueOf(std::string_view value, std::string_view unit, bool comma_is_point) {
  std::string plain;
  for (const char c : value.substr(0, value.find(' '))) {
    if (c == (comma_is_point ? ',' : '.'))
      plain += '.';
    else if ((c >= '0' && c <= '9') || c == '-' || c == 'e' || c == '+')
      plain += c;
    else if (c != ',' && c != '.' && static_cast<unsigned char>(c) < 0x80)
      return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  const UnitName* known = FindUnit(unit);
  number *= known != nullptr ? known->factor : 1;
  return std::isfinite(number) && std::abs(number) < kLargest ? std::optional(number) : std::nullopt;
}

}  // namespace dladvisor::nsight_compute
