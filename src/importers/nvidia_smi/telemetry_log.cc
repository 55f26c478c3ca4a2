// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/telemetry_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "src/trace/event_tables.h"

namespace dladvisor::nvidia_smi {
namespace {

// Earlier times are those of a clock that counts from the log's start.
constexpr Ns kYear2000 = 946'684'800'000'000'000;

bool IsThrottling(TelemetryMetric m) {
  return m == TelemetryMetric::kThrottledByHeat || m == TelemetryMetric::kThrottledByPower;
}

// The factor of numbers without unit, the largest of which is `most`. nvidia-smi leaves out "%", "MiB", "W",
// "C" and "MHz"; NVML itself counts bytes and milliwatts, and some scripts write shares.
double FactorOf(TelemetryMetric metric, double most, bool whole) {
  constexpr double kMostMebibytes = 1e7, kMostWatts = 1e4, kMebibyte = 1048576;
  switch (metric) {
    case TelemetryMetric::kGpuUtilization:
    case TelemetryMetric::kMemoryUtilization:
    case TelemetryMetric::kSmActive:
    case TelemetryMetric::kTensorActive:
    case TelemetryMetric::kDramActive:
      return most <= 1 && !whole ? 1 : 0.01;
    case TelemetryMetric::kMemoryUsed:
    case TelemetryMetric::kMemoryTotal:
      return most < kMostMebibytes ? kMebibyte : 1;
    case TelemetryMetric::kPower:
    case TelemetryMetric::kPowerLimit:
      return most < kMostWatts ? 1 : 1e-3;
    case TelemetryMetric::kSmClock:
    case TelemetryMetric::kSmClockLimit:
    case TelemetryMetric::kMemoryClock:
      return 1e6;
    case TelemetryMetric::kTemperature:
    case TelemetryMetric::kMemoryTemperature:
    case TelemetryMetric::kThrottledByHeat:
    case TelemetryMetric::kThrottledByPower:
      break;
  }
  return 1;
}

// Whether the unit, which is known, is one of the metric's: a cell of another column has another one.
bool IsUnitOf(TelemetryMetric metric, std::string_view unit) {
  std::string lower(unit);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool share = lower.starts_with('%') || lower.starts_with('p'), clock = lower.ends_with("hz");
  switch (metric) {
    case TelemetryMetric::kGpuUtilization:
    case TelemetryMetric::kMemoryUtilization:
    case TelemetryMetric::kSmActive:
    case TelemetryMetric::kTensorActive:
    case TelemetryMetric::kDramActive:
      return share;
    case TelemetryMetric::kMemoryUsed:
    case TelemetryMetric::kMemoryTotal:
      return lower.find('b') != std::string::npos && lower != "bool";
    case TelemetryMetric::kPower:
    case TelemetryMetric::kPowerLimit:
      return lower.find('w') != std::string::npos;
    case TelemetryMetric::kSmClock:
    case TelemetryMetric::kSmClockLimit:
    case TelemetryMetric::kMemoryClock:
      return clock;
    case TelemetryMetric::kTemperature:
    case TelemetryMetric::kMemoryTemperature:
      return !share && !clock && lower.find('b') == std::string::npos;
    case TelemetryMetric::kThrottledByHeat:
    case TelemetryMetric::kThrottledByPower:
      break;
  }
  return true;
}

// Metrics whose numbers have one unit.
TelemetryMetric UnitGroup(TelemetryMetric metric) {
  switch (metric) {
    case TelemetryMetric::kMemoryTotal:
      return TelemetryMetric::kMemoryUsed;
    case TelemetryMetric::kPowerLimit:
      return TelemetryMetric::kPower;
    default:
      return metric;
  }
}

}  // namespace

uint32_t TelemetryLog::Device(std::string_view identity, std::string_view name) {
  const auto known = devices_.find(identity);
  if (known != devices_.end()) return known->second;
  const auto index = static_cast<uint32_t>(trace_.devices.size());
  devices_.emplace(identity, index);
  dladvisor::Device& device = trace_.devices.emplace_back();
  device.ordinal = index;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(identity.data(), identity.data() + identity.size(), number);
  if (error == std::errc() && end == identity.data() + identity.size() && number >= 0)
    device.ordinal = number;
  if (identity.starts_with("GPU-")) device.uuid = identity;
  if (identity.find(':') != std::string_view::npos) device.bus = identity;
  device.name = name;
  return index;
}

void TelemetryLog::Begin(std::optional<Time> time, uint32_t device) {
  sample_ += trace_.telemetry.size() > begin_;
  begin_ = trace_.telemetry.size();
  time_ = time;
  device_ = device;
}

void TelemetryLog::AddThrottling(double bits) {
  constexpr uint64_t kPowerReasons = 0x4 | 0x80, kHeatReasons = 0x20 | 0x40;
  const auto reasons = bits >= 0 && bits < 1e15 ? static_cast<uint64_t>(bits) : 0;
  Add(TelemetryMetric::kThrottledByPower, {(reasons & kPowerReasons) != 0 ? 1.0 : 0.0, ""});
  Add(TelemetryMetric::kThrottledByHeat, {(reasons & kHeatReasons) != 0 ? 1.0 : 0.0, ""});
}

void TelemetryLog::Add(TelemetryMetric metric, const Quantity& quantity) {
  Telemetry& t = trace_.telemetry;
  const std::optional<double> factor =
      quantity.unit.empty() ? std::optional(1.0) : FactorOfUnit(quantity.unit);
  if (!factor) return;
  if (!quantity.unit.empty() && !IsUnitOf(metric, quantity.unit)) return Skip("cells");
  const double value = quantity.number * *factor;
  const bool is_share = IsUnitOf(metric, "%") && !IsThrottling(metric);
  constexpr double kWhole = 1 + 1e-9;
  if (is_share && value > (quantity.unit.empty() ? 100 : kWhole)) return Skip("cells");  // damage
  for (size_t i = begin_; i < t.size(); ++i)
    if (t.metric[i] == metric) {
      if (IsThrottling(metric)) t.value[i] = std::max(t.value[i], value);
      return;
    }
  t.time.push_back(time_ ? time_->ns : -1);
  t.sample.push_back(sample_);
  t.device.push_back(device_);
  t.metric.push_back(metric);
  t.value.push_back(value);
  no_unit_.push_back(quantity.unit.empty());
  timed_ = timed_ && time_;
  utc_ = utc_ && time_ && time_->utc;
}

bool TelemetryLog::LeavesOutCutLine() {
  if (trace_.telemetry.size() == 0) return false;
  trace_.health.notes.push_back("The last line has no end and was left out.");
  return true;
}

void TelemetryLog::ScaleNumbers() {
  Telemetry& t = trace_.telemetry;
  std::array<double, kTelemetryMetrics> most{};
  std::array<bool, kTelemetryMetrics> whole{};
  whole.fill(true);
  const auto group = [&](size_t row) { return static_cast<size_t>(UnitGroup(t.metric[row])); };
  for (size_t i = 0; i < t.size(); ++i) {
    if (no_unit_[i] == 0) continue;
    most[group(i)] = std::max(most[group(i)], t.value[i]);
    whole[group(i)] = whole[group(i)] && t.value[i] == std::floor(t.value[i]);
  }
  for (size_t i = 0; i < t.size(); ++i)
    if (no_unit_[i] != 0) t.value[i] *= FactorOf(t.metric[i], most[group(i)], whole[group(i)]);
}

void TelemetryLog::SetTimes() {
  Telemetry& t = trace_.telemetry;
  if (!timed_) {
    std::fill(t.time.begin(), t.time.end(), -1);
    trace_.health.notes.push_back("The log does not record when its samples were taken.");
    return;
  }
  const auto [first, last] = std::minmax_element(t.time.begin(), t.time.end());
  const Ns begin = *first;
  trace_.session_duration_ns = *last - begin;
  if (utc_)
    trace_.clock_origin_utc_ns = begin;
  else if (begin > kYear2000)
    trace_.facts["clock_origin_local_ns"] = std::to_string(begin);
  for (Ns& time : t.time) time -= begin;
}

void TelemetryLog::Sort() {
  Telemetry& t = trace_.telemetry;
  for (size_t i = 1; i < t.size(); ++i) trace_.health.out_of_order += t.time[i] < t.time[i - 1];
  SortByStart(t);
}

Trace TelemetryLog::Finish(const std::string& path, const std::string& what) {
  if (trace_.telemetry.size() == 0)
    throw Error(path, what + " without a sample",
                "log for as long as the program runs, e.g. with nvidia-smi -l 1");
  Begin(std::nullopt, kNoIndex);  // counts the last one
  trace_.path = path;
  trace_.format = "nvidia-smi";
  trace_.health.rows_read["samples"] = sample_;
  ScaleNumbers();
  SetTimes();
  Sort();
  const Telemetry& t = trace_.telemetry;
  for (size_t i = 0; i < t.size(); ++i)
    if (t.metric[i] == TelemetryMetric::kMemoryTotal && t.value[i] > 0 && t.value[i] < 1e18)
      trace_.devices[t.device[i]].memory_bytes = std::llround(t.value[i]);
  return std::move(trace_);
}

}  // namespace dladvisor::nvidia_smi
