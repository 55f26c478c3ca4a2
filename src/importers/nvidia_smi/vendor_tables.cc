// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/vendor_tables.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace dladvisor::nvidia_smi {
namespace {

using Metric = TelemetryMetric;

constexpr size_t kLongestRow = 512;

struct AmdColumn {
  std::string_view name;
  Metric metric;
};
// In the versions of amd-smi.
constexpr std::array kAmdColumns = std::to_array<AmdColumn>({{"POWER", Metric::kPower},
                                                             {"GPU_TEMP", Metric::kTemperature},
                                                             {"GPU_T", Metric::kTemperature},
                                                             {"MEM_TEMP", Metric::kMemoryTemperature},
                                                             {"MEM_T", Metric::kMemoryTemperature},
                                                             {"GFX_UTIL", Metric::kGpuUtilization},
                                                             {"GFX%", Metric::kGpuUtilization},
                                                             {"GFX_CLOCK", Metric::kSmClock},
                                                             {"GFX_CLK", Metric::kSmClock},
                                                             {"MEM_CLOCK", Metric::kMemoryClock},
                                                             {"VRAM_USED", Metric::kMemoryUsed},
                                                             {"VRAM_TOTAL", Metric::kMemoryTotal}});

void AddNumber(TelemetryLog& log, Metric metric, const std::string& text, std::string_view unit) {
  if (const auto quantity = ParseQuantity(text); quantity && quantity->number >= 0)
    log.Add(metric, {quantity->number, unit});
}

bool IsUnit(std::string_view word) {
  return word == "%" || word == "W" || word == "C" || word == "°C" || word == "MHz" || word == "MB" ||
         word == "GB" || word == "Mb/s" || word == "MB/s";
}

}  // namespace

void VendorTableReader::Line(std::string_view line, const std::optional<Time>& time, TelemetryLog& log) {
  if (line.size() > kLongestRow) return;
  if (line.find("VRAM%") != std::string_view::npos && line.find("GPU%") != std::string_view::npos) {
    rocm_ = true;
    return;
  }
  if (line.find("npu-smi ") != std::string_view::npos ||
      (line.find("AICore(%)") != std::string_view::npos && line.find('|') != std::string_view::npos))
    npu_ = true;
  if (line.starts_with('[') && Stat(line, time, log)) return;
  if (rocm_ && Rocm(line, time, log)) return;
  if (Amd(line, time, log)) return;
  if (npu_) Npu(line, time, log);
}

// "[0] NVIDIA A100-SXM4-80GB | 61°C,  98 % | 61440 / 81920 MB | alice(61000M)", of gpustat, with the fan's
// and the power's where they are asked for.
bool VendorTableReader::Stat(std::string_view line, const std::optional<Time>& time, TelemetryLog& log) {
  static const RE2 row(
      R"(^\[(\d{1,3})\] (\S.*?) *\| *(\d{1,3}|\?\?) ?(?:°C|'C|C),(?: *\d{1,3} %,)? *(\d{1,3}) % *(?:[,|] *(\d{1,5}) / *(\d{1,5}) W)? *\| *(\d{1,7}) / *(\d{1,7}) MB\b)");
  std::string gpu, name, heat, use, power, limit, used, total;
  if (!RE2::PartialMatch(line, row, &gpu, &name, &heat, &use, &power, &limit, &used, &total)) return false;
  log.trace().facts["profiler"] = "gpustat";
  log.Begin(time, log.Device(gpu, name));
  AddNumber(log, Metric::kGpuUtilization, use, "%");
  AddNumber(log, Metric::kTemperature, heat, "C");
  AddNumber(log, Metric::kPower, power, "W");
  AddNumber(log, Metric::kPowerLimit, limit, "W");
  AddNumber(log, Metric::kMemoryUsed, used, "MiB");
  AddNumber(log, Metric::kMemoryTotal, total, "MiB");
  return true;
}

// "0    43.0c  39.0W   1700Mhz 1600Mhz  0%  auto  560.0W  12%  97%": the last two are of memory and GPU.
bool VendorTableReader::Rocm(std::string_view line, const std::optional<Time>& time, TelemetryLog& log) {
  static const RE2 row(
      R"(^\s*(\d{1,3})\s+.*?([\d.]+)\s*(?:c|°C)\s+(?:([\d.]+)\s*W|N/A)\s+(?:.*?\s)?(?:(\d+)Mhz|None)\s+(?:\d+Mhz|None)\s+\S+\s+\S+\s+([\d.]+|\S+?)W?\s+\S+\s+(\d{1,3})%\s*$)");
  std::string gpu, heat, power, clock, limit, use;
  if (!RE2::PartialMatch(line, row, &gpu, &heat, &power, &clock, &limit, &use)) return false;
  log.trace().facts["profiler"] = "rocm-smi";
  log.Begin(time, log.Device(gpu, ""));
  AddNumber(log, Metric::kGpuUtilization, use, "%");
  AddNumber(log, Metric::kTemperature, heat, "C");
  AddNumber(log, Metric::kPower, power, "W");
  AddNumber(log, Metric::kPowerLimit, limit, "W");
  AddNumber(log, Metric::kSmClock, clock, "MHz");
  return true;
}

// "TIMESTAMP   GPU  POWER  GPU_T  GFX_CLK  GFX%" and then "1728408462  0  151 W  39 °C  132 MHz  97 %".
bool VendorTableReader::Amd(std::string_view line, const std::optional<Time>& time, TelemetryLog& log) {
  const bool head =
      line.find("GPU ") != std::string_view::npos && line.find("POWER") != std::string_view::npos;
  if (!head && names_.empty()) return false;
  std::vector<std::pair<std::string_view, std::string_view>> cells;
  for (const std::string_view word : SplitAtBlanks(line)) {
    if (!head && !cells.empty() && IsUnit(word))
      cells.back().second = word;
    else
      cells.emplace_back(word, "");
  }
  if (head) {
    names_.clear();
    const auto is_name = [](const auto& cell) {
      return std::ranges::all_of(cell.first, [](unsigned char c) {
        return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '%';
      });
    };
    if (!std::ranges::all_of(cells, is_name)) return false;
    for (const auto& cell : cells) names_.emplace_back(cell.first);
    return true;
  }
  if (cells.size() != names_.size()) return false;
  std::string_view gpu;
  std::optional<Time> own = time;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (names_[i] == "GPU") gpu = cells[i].first;
    if (names_[i] == "TIMESTAMP") own = ParseTime(cells[i].first);
  }
  if (gpu.empty() || std::isdigit(static_cast<unsigned char>(gpu.front())) == 0) return false;
  log.trace().facts["profiler"] = "amd-smi";
  log.Begin(own, log.Device(gpu, ""));
  for (size_t i = 0; i < cells.size(); ++i)
    for (const AmdColumn& column : kAmdColumns)
      if (column.name == names_[i])
        AddNumber(log, column.metric, std::string(cells[i].first),
                  cells[i].second == "°C" ? "C" : cells[i].second);
  return true;
}

// "| 0     910B3 | OK | 93.6  42  0 / 0 |" and then "| 0 | 0000:C1:00.0 | 97  0 / 0  3318 / 65536 |".
void VendorTableReader::Npu(std::string_view line, const std::optional<Time>& time, TelemetryLog& log) {
  static const RE2 first(R"(^\| *(\d{1,3}) +([A-Za-z0-9]\S*) +\| *\S+ +\| *([\d.]+|-|NA) +(\d+|-|NA)\b)"),
      second(
          R"(^\| *\d{1,3}(?: +(\d{1,3}))? +\| *\S+ +\| *(\d{1,3}) +(\d+) */ *(\d+)(?: +(\d+) */ *(\d+))? *\|)");
  // Of a card with several chips each has a physical number.
  std::string chip, use, used, total, hbm_used, hbm_total;
  if (!number_.empty() &&
      RE2::PartialMatch(line, second, &chip, &use, &used, &total, &hbm_used, &hbm_total)) {
    log.trace().facts["profiler"] = "npu-smi";
    log.Begin(time, log.Device(chip.empty() ? number_ : chip,
                               name_.starts_with("Ascend") ? name_ : "Ascend " + name_));
    AddNumber(log, Metric::kGpuUtilization, use, "%");
    AddNumber(log, Metric::kPower, power_, "W");
    AddNumber(log, Metric::kTemperature, heat_, "C");
    number_.clear();
    const bool hbm = !hbm_total.empty() && hbm_total != "0";
    AddNumber(log, Metric::kMemoryUsed, hbm ? hbm_used : used, "MiB");
    AddNumber(log, Metric::kMemoryTotal, hbm ? hbm_total : total, "MiB");
    return;
  }
  if (!RE2::PartialMatch(line, first, &number_, &name_, &power_, &heat_)) number_.clear();
}

}  // namespace dladvisor::nvidia_smi
