// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/importers/nvidia_smi/log_cell.h"

namespace dladvisor::nvidia_smi {
namespace {

using Kind = LogColumn::Kind;
using Metric = TelemetryMetric;

// The words of a name, sorted, without a unit at its end.
std::string WordsOf(std::string_view name, std::string& unit) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9'))
      words.back() += lower;
    else if (!words.back().empty())
      words.emplace_back();
    if (c == '%') unit = "%";
  }
  if (words.back().empty()) words.pop_back();
  if (words.size() > 1 && FactorOfUnit(words.back())) {
    unit = words.back();
    words.pop_back();
  }
  std::sort(words.begin(), words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

struct Named {
  std::string_view words;
  Kind kind;
  Metric metric = Metric::kGpuUtilization;
};

// Words are in alphabetical order.
constexpr std::array kByWords = std::to_array<Named>({
    {"timestamp", Kind::kTime},
    {"time", Kind::kTime},
    {"datetime", Kind::kTime},
    {"date time", Kind::kTime},
    {"elapsed", Kind::kTime},
    {"elapsed sec", Kind::kTime},
    {"elapsed seconds", Kind::kTime},
    {"elapsed time", Kind::kTime},
    {"index", Kind::kIdentity},
    {"gpu", Kind::kIdentity},
    {"gpu index", Kind::kIdentity},
    {"gpu id", Kind::kIdentity},
    {"device gpu", Kind::kIdentity},
    {"device id", Kind::kIdentity},
    {"device index", Kind::kIdentity},
    {"device", Kind::kIdentity},
    {"uuid", Kind::kIdentity},
    {"gpu uuid", Kind::kIdentity},
    {"bus id pci", Kind::kIdentity},
    {"bus gpu id", Kind::kIdentity},
    {"name", Kind::kName},
    {"gpu name", Kind::kName},
    {"gpu util", Kind::kMetric, Metric::kGpuUtilization},
    {"gpu utilization", Kind::kMetric, Metric::kGpuUtilization},
    {"gpu utilisation", Kind::kMetric, Metric::kGpuUtilization},
    {"gpu use", Kind::kMetric, Metric::kGpuUtilization},
    {"gpu load", Kind::kMetric, Metric::kGpuUtilization},
    {"gpu usage", Kind::kMetric, Metric::kGpuUtilization},
    // Beside a column that identifies a GPU.
    {"utilization", Kind::kMetric, Metric::kGpuUtilization},
    {"utilisation", Kind::kMetric, Metric::kGpuUtilization},
    {"util", Kind::kMetric, Metric::kGpuUtilization},
    {"memory used", Kind::kMetric, Metric::kMemoryUsed},
    {"mem used", Kind::kMetric, Metric::kMemoryUsed},
    {"gpu memory used", Kind::kMetric, Metric::kMemoryUsed},
    {"gpu mem used", Kind::kMetric, Metric::kMemoryUsed},
    {"memory total", Kind::kMetric, Metric::kMemoryTotal},
    {"mem total", Kind::kMetric, Metric::kMemoryTotal},
    {"gpu memory total", Kind::kMetric, Metric::kMemoryTotal},
    {"gpu mem total", Kind::kMetric, Metric::kMemoryTotal},
    {"power", Kind::kMetric, Metric::kPower},
    {"draw power", Kind::kMetric, Metric::kPower},
    {"draw instant power", Kind::kMetric, Metric::kPower},
    {"average draw power", Kind::kMetric, Metric::kPower},
    {"gpu power", Kind::kMetric, Metric::kPower},
    {"power usage", Kind::kMetric, Metric::kPower},
    {"power watts", Kind::kMetric, Metric::kPower},
    {"limit power", Kind::kMetric, Metric::kPowerLimit},
    {"enforced limit power", Kind::kMetric, Metric::kPowerLimit},
    {"gpu temperature", Kind::kMetric, Metric::kTemperature},
    {"gpu temp", Kind::kMetric, Metric::kTemperature},
    {"temperature", Kind::kMetric, Metric::kTemperature},
    {"temp", Kind::kMetric, Metric::kTemperature},
    {"memory temperature", Kind::kMetric, Metric::kMemoryTemperature},
    {"clocks sm", Kind::kMetric, Metric::kSmClock},
    {"clocks current sm", Kind::kMetric, Metric::kSmClock},
    {"clocks gr", Kind::kMetric, Metric::kSmClock},
    {"clocks current graphics", Kind::kMetric, Metric::kSmClock},
    {"clock sm", Kind::kMetric, Metric::kSmClock},
    {"clock gpu", Kind::kMetric, Metric::kSmClock},
    {"clocks max sm", Kind::kMetric, Metric::kSmClockLimit},
    {"clocks gr max", Kind::kMetric, Metric::kSmClockLimit},
    {"clocks graphics max", Kind::kMetric, Metric::kSmClockLimit},
    {"clocks mem", Kind::kMetric, Metric::kMemoryClock},
    {"clocks current memory", Kind::kMetric, Metric::kMemoryClock},
    {"clock mem", Kind::kMetric, Metric::kMemoryClock},
    // rocm-smi's, and of scripts around it.
    {"memory total vram", Kind::kMetric, Metric::kMemoryTotal},
    {"total vram", Kind::kMetric, Metric::kMemoryTotal},
    {"memory total used vram", Kind::kMetric, Metric::kMemoryUsed},
    {"used vram", Kind::kMetric, Metric::kMemoryUsed},
    {"average graphics package power", Kind::kMetric, Metric::kPower},
    {"current graphics package power socket", Kind::kMetric, Metric::kPower},
    {"edge sensor temperature", Kind::kMetric, Metric::kTemperature},
    {"junction sensor temperature", Kind::kMetric, Metric::kTemperature},
    {"memory sensor temperature", Kind::kMetric, Metric::kMemoryTemperature},
    // amd-smi's.
    {"gfx", Kind::kMetric, Metric::kGpuUtilization},
    {"activity gfx", Kind::kMetric, Metric::kGpuUtilization},
    {"activity umc", Kind::kMetric, Metric::kMemoryUtilization},
    {"power socket", Kind::kMetric, Metric::kPower},
    {"hotspot temperature", Kind::kMetric, Metric::kTemperature},
    {"clock gfx", Kind::kMetric, Metric::kSmClock},
    // DCGM's, after DCGM_FI_DEV_.
    {"copy mem util", Kind::kMetric, Metric::kMemoryUtilization},
    {"fb used", Kind::kMetric, Metric::kMemoryUsed},
    {"fb total", Kind::kMetric, Metric::kMemoryTotal},
    {"limit mgmt power", Kind::kMetric, Metric::kPowerLimit},
    {"clock max sm", Kind::kMetric, Metric::kSmClockLimit},
});
constexpr std::string_view kDcgmField = "DCGM_FI_DEV_";

// Names of --query-gpu that their words alone would not identify, without the prefixes that drivers have
// changed.
constexpr std::array kThrottling = std::to_array<std::pair<std::string_view, Metric>>({
    {"hw_thermal_slowdown", Metric::kThrottledByHeat},
    {"sw_thermal_slowdown", Metric::kThrottledByHeat},
    {"sw_power_cap", Metric::kThrottledByPower},
    {"hw_power_brake_slowdown", Metric::kThrottledByPower},
});

constexpr std::array kDmon = std::to_array<Named>({
    {"gpu", Kind::kIdentity},
    {"pwr", Kind::kMetric, Metric::kPower},
    {"gtemp", Kind::kMetric, Metric::kTemperature},
    {"temp", Kind::kMetric, Metric::kTemperature},
    {"mtemp", Kind::kMetric, Metric::kMemoryTemperature},
    {"sm", Kind::kMetric, Metric::kGpuUtilization},
    {"mem", Kind::kMetric, Metric::kMemoryUtilization},
    {"mclk", Kind::kMetric, Metric::kMemoryClock},
    {"pclk", Kind::kMetric, Metric::kSmClock},
    {"pviol", Kind::kMetric, Metric::kThrottledByPower},
    {"tviol", Kind::kMetric, Metric::kThrottledByHeat},
    {"fb", Kind::kMetric, Metric::kMemoryUsed},
});

}  // namespace

LogColumn CsvColumn(std::string_view name) {
  LogColumn column;
  if (const size_t bracket = name.find('['); bracket != std::string_view::npos) {
    column.unit = TrimCell(name.substr(bracket + 1, name.find(']', bracket) - bracket - 1));
    if (!FactorOfUnit(column.unit)) column.unit.clear();
    name = TrimCell(name.substr(0, bracket));
  }
  column.names_gpu = column.dotted = name.find('.') != std::string_view::npos;
  if (name == "utilization.memory") {
    column.kind = Kind::kMetric;
    column.metric = Metric::kMemoryUtilization;
    return column;
  }
  if (name == "memory.free") {
    column.kind = Kind::kMemoryFree;
    return column;
  }
  for (const std::string_view prefix : {"clocks_throttle_reasons.", "clocks_event_reasons."}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view reason = name.substr(prefix.size());
    if (reason == "active") column.kind = Kind::kThrottleReasons;
    for (const auto& [known, metric] : kThrottling)
      if (reason == known) {
        column.kind = Kind::kMetric;
        column.metric = metric;
      }
    return column;
  }
  // Scripts write DCGM's fields under their own names.
  const bool dcgm = name.starts_with(kDcgmField);
  if (dcgm) name.remove_prefix(kDcgmField.size());
  std::string unit = dcgm && name.starts_with("FB_") ? "MiB" : "";
  const std::string words = WordsOf(name, unit);
  if (column.unit.empty()) column.unit = unit;
  column.names_gpu = column.names_gpu || dcgm;
  for (const char* word : {" gpu ", " vram ", " gfx "})
    column.names_gpu = column.names_gpu || (" " + words + " ").find(word) != std::string::npos;
  for (const Named& named : kByWords)
    if (named.words == words) {
      column.kind = named.kind;
      column.metric = named.metric;
    }
  if (words == "gpu" && FactorOfUnit(column.unit) == 0.01) column.kind = Kind::kMetric;  // "gpu_percent"
  return column;
}

LogColumn DmonColumn(std::string_view name, std::string_view unit) {
  LogColumn column;
  for (const Named& named : kDmon)
    if (named.words == name) {
      column.kind = named.kind;
      column.metric = named.metric;
      column.unit = unit;
      column.names_gpu = true;
    }
  return column;
}

}  // namespace dladvisor::nvidia_smi
