// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/monitor_log.h"

#include <re2/re2.h>

#include <utility>

namespace dladvisor::nvidia_smi {
namespace {

using Metric = TelemetryMetric;

constexpr size_t kLongestOfMonitor = 256;
// Samples of the load that are a log, and lines of it for each of its metrics at most.
constexpr int64_t kLeastLoads = 20, kMostLinesOfMetric = 4;

std::optional<Metric> MetricOf(std::string_view name) {
  switch (name[0]) {
    case 'L':
    case 'U':
      return Metric::kGpuUtilization;
    case 'M':
      return Metric::kMemoryUsed;
    case 'T':
      return Metric::kTemperature;
    case 'P':
      return Metric::kPower;
    default:
      return std::nullopt;
  }
}

}  // namespace

void MonitorReader::Line(std::string_view line) {
  if (line.size() > kLongestOfMonitor) return;
  static const RE2 date(R"((\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d))"),
      metric(
          R"(^\s*(?:- )?GPU ?(\d{1,2})? ?(Load|Util(?:ization)?|Usage|Memory(?: Used| Usage)?|Temp(?:erature)?|Power(?: Draw)?) ?[:=] *(\d{1,9}(?:\.\d+)?) ?(%|[KMGT]i?B|W|°?C)(?: */ *(\d{1,9}(?:\.\d+)?) ?([KMGT]i?B|W))?)");
  const re2::StringPiece text(line.data(), line.size());
  std::string when;
  if (line.find(':') == line.npos) return;
  if (line.find("GPU") == line.npos) {
    if (RE2::PartialMatch(text, date, &when)) {
      time_ = ParseTime(when);
      given_.clear();
    }
    return;
  }
  std::string gpu, name, unit, most_unit;
  double value = 0;
  std::string most;
  if (!time_ || !RE2::PartialMatch(text, metric, &gpu, &name, &value, &unit, &most, &most_unit)) return;
  const auto of = MetricOf(name);
  if (!of) return;
  if (given_.empty() || gpu != gpu_ || given_.contains(*of)) {
    log.Begin(time_, log.Device(gpu, ""));
    given_.clear();
  }
  gpu_ = std::move(gpu);
  given_.insert(*of);
  ++metrics_;
  loads_ += *of == Metric::kGpuUtilization;
  log.Add(*of, {value, unit == "°C" ? std::string_view("C") : std::string_view(unit)});
  const auto limit = ParseQuantity(most);
  if (limit && *of == Metric::kMemoryUsed) log.Add(Metric::kMemoryTotal, {limit->number, most_unit});
  if (limit && *of == Metric::kPower) log.Add(Metric::kPowerLimit, {limit->number, most_unit});
}

bool MonitorReader::IsLog(int64_t lines) const {
  return loads_ >= kLeastLoads && lines <= kMostLinesOfMetric * metrics_;
}

}  // namespace dladvisor::nvidia_smi
