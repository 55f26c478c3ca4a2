// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvprof_text/metric_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/base/trim.h"

namespace dladvisor::nvprof_text {
namespace {

struct Named {
  std::string_view metric, name;
};

// Units that compute, as Nsight Compute calls them.
constexpr auto kPipes = std::to_array<Named>({{"single_precision_fu_utilization", "FP32"},
                                              {"double_precision_fu_utilization", "FP64"},
                                              {"half_precision_fu_utilization", "FP16"},
                                              {"tensor_precision_fu_utilization", "Tensor"},
                                              {"tensor_int_fu_utilization", "Tensor (INT)"},
                                              {"special_fu_utilization", "XU"},
                                              {"alu_fu_utilization", "ALU"}});

constexpr auto kStalls = std::to_array<Named>({
    {"stall_memory_dependency", "for data from memory"},
    {"stall_memory_throttle", "for room in the queue of accesses to memory"},
    {"stall_texture", "for data of textures from memory"},
    {"stall_constant_memory_dependency", "for constants from memory"},
    {"stall_exec_dependency", "for results of instructions before"},
    {"stall_sync", "at barriers (__syncthreads)"},
    {"stall_pipe_busy", "for a unit that computes"},
    {"stall_inst_fetch", "for instructions to be fetched"},
});

constexpr auto kOthers = std::to_array<std::string_view>(
    {"achieved_occupancy", "sm_efficiency", "dram_utilization", "l2_utilization", "tex_utilization",
     "l1_shared_utilization", "shared_utilization", "ldst_fu_utilization", "issue_slot_utilization",
     "flop_sp_efficiency", "flop_dp_efficiency", "gld_efficiency", "gst_efficiency", "gld_throughput",
     "gst_throughput", "warp_execution_efficiency", "stall_other", "stall_not_selected"});

// "61.97%" and "Mid (5)" as shares of 1, "1.9424GB/s" in bytes per second.
std::optional<double> ValueOf(std::string_view text) {
  text = Trim(text);
  double scale = 1;
  if (text.ends_with(')')) {
    const size_t open = text.rfind('(');
    if (open == text.npos) return std::nullopt;
    text = text.substr(open + 1, text.size() - open - 2);
    scale = 0.1;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit == "%") scale = 0.01;
  if (unit == "KB/s") scale = 1e3;
  if (unit == "MB/s") scale = 1e6;
  if (unit == "GB/s") scale = 1e9;
  if (unit == "TB/s") scale = 1e12;
  return number * scale;
}

std::optional<double> Largest(std::initializer_list<std::optional<double>> values) {
  std::optional<double> largest;
  for (const auto& value : values)
    if (value && value.value() >= largest.value_or(0)) largest = value;
  return largest;
}

}  // namespace

void MetricValues::Take(std::string_view metric, std::string_view value) {
  const auto is = [&](const Named& named) { return named.metric == metric; };
  if (!std::ranges::any_of(kPipes, is) && !std::ranges::any_of(kStalls, is) &&
      std::ranges::find(kOthers, metric) == kOthers.end())
    return;
  if (const auto number = ValueOf(value)) values_.insert_or_assign(std::string(metric), *number);
}

std::optional<double> MetricValues::Of(std::string_view metric) const {
  const auto found = values_.find(metric);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

// Rounding and passes that differ make a little more of what is whole.
std::optional<double> MetricValues::Share(std::string_view metric) const {
  constexpr double kLargestShare = 1.5;
  const auto share = Of(metric);
  return share && *share <= kLargestShare ? std::optional(std::min(*share, 1.0)) : std::nullopt;
}

void MetricValues::FindPipe(KernelMeasurement& kernel) const {
  for (const Named& pipe : kPipes)
    if (const auto share = Share(pipe.metric); share && *share > kernel.pipe_share.value_or(0)) {
      kernel.pipe = pipe.name;
      kernel.pipe_share = share;
    }
  kernel.compute_share = Largest({Share("issue_slot_utilization"), kernel.pipe_share});
}

// Where it reads and writes, by what each moves; where that was not counted, of what is used least.
void MetricValues::FindEfficiency(KernelMeasurement& kernel) const {
  const auto efficiency = [&](std::string_view metric) {
    const auto of = Of(metric);  // above 1 where threads read the same, 0 where there is no access
    return of && *of > 0 ? std::optional(std::min(*of, 1.0)) : std::nullopt;
  };
  const auto loads = efficiency("gld_efficiency"), stores = efficiency("gst_efficiency");
  kernel.load_efficiency = loads;
  kernel.store_efficiency = stores;
  kernel.access_efficiency = loads && stores ? std::min(*loads, *stores) : loads ? loads : stores;
  const auto loaded = Of("gld_throughput"), stored = Of("gst_throughput");
  if (loads && stores && loaded && stored && *loaded + *stored > 0)
    kernel.access_efficiency = (*loads * *loaded + *stores * *stored) / (*loaded + *stored);
}

void MetricValues::FindStall(KernelMeasurement& kernel) const {
  for (const Named& stall : kStalls)
    if (const auto share = Share(stall.metric); share && *share > kernel.waits_share.value_or(0)) {
      kernel.waits_for = stall.name;
      kernel.waits_share = share;
    }
}

KernelMeasurement MetricValues::Measurement() const {
  KernelMeasurement kernel;
  kernel.achieved_occupancy = Share("achieved_occupancy");
  kernel.multiprocessor_share = Share("sm_efficiency");
  kernel.dram_share = Share("dram_utilization");
  kernel.l2_share = Share("l2_utilization");
  kernel.l1_share = Largest({Share("tex_utilization"), Share("l1_shared_utilization"),
                             Share("shared_utilization"), Share("ldst_fu_utilization")});
  kernel.fp32_share = Share("flop_sp_efficiency");
  kernel.fp64_share = Share("flop_dp_efficiency");
  kernel.lane_share = Share("warp_execution_efficiency");
  FindPipe(kernel);
  FindEfficiency(kernel);
  FindStall(kernel);
  return kernel;
}

}  // namespace dladvisor::nvprof_text
