// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/table_log.h"

#include <re2/re2.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"

namespace dladvisor {
namespace {

// "|   0  NVIDIA GeForce RTX 4090        On  |   00000000:01:00.0  On |                  Off |"
const RE2& GpuLine() {
  static const RE2 line(
      R"(\| +(\d+)  (\S.*?) +(?:On|Off|N/A|WDDM|TCC|MCDM|WDDM/?\w*) *\| *[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f] .*)");
  return line;
}

}  // namespace

namespace nvidia_smi {

void TableReader::Line(std::string_view line) {
  constexpr size_t kLongest = 1000;  // of what is worth a look
  if (line.size() > kLongest) return;
  static const RE2 date(
      R"((?:.* )?([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})(?: +[\d.]+)? *)"),
      versions(R"(\| NVIDIA-SMI (\S+) +(?:KMD|Driver) Version: (\S+) +CUDA (?:UMD )?Version: (\S+) +\|)");
  const std::string_view trimmed = TrimCell(line);
  std::string text, driver, cuda;
  if (std::exchange(second_, false) && Values(trimmed)) return;
  if (RE2::FullMatch(trimmed, GpuLine(), &gpu_, &name_)) {
    second_ = true;
  } else if (RE2::FullMatch(trimmed, date, &text)) {
    time_ = ParseTime(text);
  } else if (RE2::FullMatch(trimmed, versions, &text, &driver, &cuda)) {
    log.trace().producer_version = text;
    log.trace().facts["profiler"] = "nvidia-smi " + text;
    log.trace().facts["driver_version"] = driver;
    if (cuda != "N/A") log.trace().facts["cuda_version"] = cuda;
  } else {
    vendors_.Line(line, time_, log);
  }
}

// "|  0%   35C    P8             32W /  450W |    1039MiB /  24564MiB |      1%      Default |"
bool TableReader::Values(std::string_view line) {
  static const RE2 values(
      R"(\| *(?:\S+) +(\S+) +(?:P\d+|N/A|ERR!|Unknow\w*) +(\S+) */ *(\S+) *\| *(\S+) */ *(\S+) *\| *(\S+) .*)");
  std::array<std::string, 6> cells;
  if (!RE2::FullMatch(line, values, &cells[0], &cells[1], &cells[2], &cells[3], &cells[4], &cells[5])) {
    log.Skip("rows");
    return false;
  }
  constexpr std::array kMetrics = {TelemetryMetric::kTemperature, TelemetryMetric::kPower,
                                   TelemetryMetric::kPowerLimit,  TelemetryMetric::kMemoryUsed,
                                   TelemetryMetric::kMemoryTotal, TelemetryMetric::kGpuUtilization};
  log.Begin(time_, log.Device(gpu_, name_));
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto quantity = ParseQuantity(cells[i]);
    if (quantity && !quantity->unit.empty())
      log.Add(kMetrics[i], *quantity);
    else if (!IsAbsent(cells[i]))
      log.Skip("cells");
  }
  return true;
}

}  // namespace nvidia_smi

bool LooksLikeSmiTable(std::string_view head) {
  return head.find("NVIDIA-SMI") != std::string_view::npos &&
         RE2::PartialMatch(head, R"(\| +(GPU +Name|GPU +Fan)|\| +Fan +Temp +Perf)");
}

}  // namespace dladvisor
