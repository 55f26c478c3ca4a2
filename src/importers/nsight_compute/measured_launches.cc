// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsight_compute/measured_launches.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "src/importers/nsight_compute/profiler_messages.h"

namespace dladvisor::nsight_compute {
namespace {

// "32, 32, 1" -> 1024.
std::optional<double> Product(std::string_view sizes) {
  if (sizes.empty()) return std::nullopt;
  double product = 1;
  while (!sizes.empty()) {
    std::string_view part = sizes.substr(0, sizes.find(','));
    sizes.remove_prefix(std::min(sizes.size(), part.size() + 1));
    const size_t begin = part.find_first_not_of(' ');
    const auto number = begin == part.npos ? std::nullopt : ValueOf(part.substr(begin), "", false);
    if (!number || *number < 1) return std::nullopt;
    product *= *number;
  }
  return product;
}

class Values {
 public:
  Values(const Launch& launch, bool comma_is_point) : launch_(launch), comma_is_point_(comma_is_point) {}

  std::optional<double> Of(Metric metric) const {
    for (const MetricCell& cell : launch_.cells)
      if (cell.metric == metric)
        if (const auto value = ValueOf(cell.value, cell.unit, comma_is_point_); value && *value >= 0)
          return value;
    return std::nullopt;
  }

  // Rounding and parts of a pass make a little more of what is whole.
  std::optional<double> Share(Metric metric) const {
    constexpr double kLargestShare = 1.5;
    const auto share = Of(metric);
    return share && *share <= kLargestShare ? std::optional(std::min(*share, 1.0)) : std::nullopt;
  }

 private:
  const Launch& launch_;
  bool comma_is_point_;
};

// For each launch; by its cycles where its time is not printed.
std::optional<double> TimeOf(const Values& values) {
  if (const auto time = values.Of(Metric::kDuration); time && *time > 0) return time;
  const auto cycles = values.Of(Metric::kCycles), frequency = values.Of(Metric::kFrequency);
  if (!cycles || !frequency || *cycles <= 0 || *frequency <= 0) return std::nullopt;
  return *cycles / *frequency * 1e9;
}

std::optional<double> Sum(std::optional<double> a, std::optional<double> b) {
  return a || b ? std::optional(a.value_or(0) + b.value_or(0)) : std::nullopt;
}

KernelMeasurement MeasurementOf(const Launch& launch, bool comma_is_point) {
  const Values values(launch, comma_is_point);
  KernelMeasurement kernel;
  kernel.grid_blocks = Product(launch.grid);
  if (!kernel.grid_blocks) kernel.grid_blocks = values.Of(Metric::kGrid);
  kernel.block_threads = Product(launch.block);
  if (!kernel.block_threads) kernel.block_threads = values.Of(Metric::kBlock);
  kernel.registers = values.Of(Metric::kRegisters);
  kernel.shared_bytes = Sum(values.Of(Metric::kDynamicShared), values.Of(Metric::kStaticShared));
  kernel.multiprocessors = values.Of(Metric::kMultiprocessors);
  kernel.waves = values.Of(Metric::kWaves);
  kernel.theoretical_occupancy = values.Share(Metric::kTheoreticalOccupancy);
  kernel.achieved_occupancy = values.Share(Metric::kAchievedOccupancy);
  kernel.blocks_by_slots = values.Of(Metric::kBlocksBySlots);
  kernel.blocks_by_registers = values.Of(Metric::kBlocksByRegisters);
  kernel.blocks_by_shared_memory = values.Of(Metric::kBlocksByShared);
  kernel.blocks_by_warps = values.Of(Metric::kBlocksByWarps);
  kernel.compute_share = values.Share(Metric::kCompute);
  kernel.memory_share = values.Share(Metric::kMemory);
  kernel.dram_share = values.Share(Metric::kDram);
  kernel.l1_share = values.Share(Metric::kL1);
  kernel.l2_share = values.Share(Metric::kL2);
  kernel.lane_share = values.Share(Metric::kLanes);
  const auto efficiency = [&](Metric metric) {
    const auto share = values.Share(metric);  // 0 where there is no access
    return share && *share > 0 ? share : std::nullopt;
  };
  kernel.load_efficiency = efficiency(Metric::kLoadEfficiency);
  kernel.store_efficiency = efficiency(Metric::kStoreEfficiency);
  kernel.access_efficiency = kernel.load_efficiency ? kernel.load_efficiency : kernel.store_efficiency;
  if (kernel.load_efficiency && kernel.store_efficiency)
    kernel.access_efficiency = std::min(*kernel.load_efficiency, *kernel.store_efficiency);
  // Those of one multiprocessor on average, of the longest clock there is.
  const auto active = values.Of(Metric::kActiveCycles), elapsed = values.Of(Metric::kCycles);
  if (active && elapsed && *elapsed > 0 && *active <= 1.05 * *elapsed)
    kernel.multiprocessor_share = std::min(*active / *elapsed, 1.0);
  for (const ProfilerMessage& message : launch.messages) TakeMessage(message, kernel);
  return kernel;
}

struct Longest {
  const Launch* launch = nullptr;
  double time = -1, blocks = -1;
};

}  // namespace

SummaryTable TableOf(const Launches& launches, bool comma_is_point) {
  SummaryTable table;
  table.tool = "Nsight Compute";
  table.title = launches.process;
  table.has_device = true;
  table.is_one_by_one = true;
  std::map<std::string_view, size_t, std::less<>> row_of;
  std::vector<Longest> longest;
  for (const Launch& launch : launches.all) {
    const auto [found, is_new] = row_of.try_emplace(launch.name, table.rows.size());
    if (is_new) {
      table.rows.emplace_back().name = launch.name;
      longest.emplace_back();
    }
    SummaryRow& row = table.rows[found->second];
    row.calls += launch.count;
    const auto time = TimeOf(Values(launch, comma_is_point));
    if (time) {
      row.total_ns += *time * static_cast<double>(launch.count);
      row.min_ns = std::min(row.min_ns.value_or(*time), *time);
      row.max_ns = std::max(row.max_ns.value_or(*time), *time);
    }
    Longest& of = longest[found->second];
    const double blocks = Product(launch.grid).value_or(0);
    if (time.value_or(0) > of.time || (time.value_or(0) == of.time && blocks > of.blocks))
      of = {&launch, time.value_or(0), blocks};
  }
  for (size_t row = 0; row < table.rows.size(); ++row) {
    KernelMeasurement kernel = MeasurementOf(*longest[row].launch, comma_is_point);
    kernel.row = static_cast<int64_t>(row);
    table.kernels.push_back(std::move(kernel));
  }
  return table;
}

}  // namespace dladvisor::nsight_compute
