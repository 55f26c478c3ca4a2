// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/telemetry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/telemetry/still_samples.h"
#include "src/capture/capability.h"
#include "src/statistics/distribution.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// A GPU that runs kernels half of the time works; it reaches its limit within a twentieth of it.
constexpr double kBusy = 0.5, kNearLimit = 0.95;
// Below it a GPU has not begun, or has done; desktops and idle contexts take some percent.
constexpr double kActive = 0.1;
// Of a GPU that reports so much, power shows how much its kernels do: 40 % less than is usual is little.
constexpr double kSaturated = 0.95, kDropped = 0.6;
// Power is a mean over the second before the sample: what was read sooner after another utilisation tells of
// that one as well.
constexpr Ns kPowerMean = 900'000'000;

// Memory that a job takes is given back at its end: with less than this part of it a GPU has no job any more,
// or not yet. Of one whose memory varies by less than half nothing follows.
constexpr double kGivenBack = 0.1, kTaken = 0.5;

using Key = std::pair<uint32_t, TelemetryMetric>;
using Rows = std::vector<size_t>;  // of the trace's telemetry

struct Still {
  int64_t samples = 0;
  Ns ns = 0, before = -1;  // of these; time of the sample before
};

Unit UnitOf(TelemetryMetric metric) {
  switch (metric) {
    case TelemetryMetric::kGpuUtilization:
    case TelemetryMetric::kMemoryUtilization:
    case TelemetryMetric::kThrottledByHeat:
    case TelemetryMetric::kThrottledByPower:
    case TelemetryMetric::kSmActive:
    case TelemetryMetric::kTensorActive:
    case TelemetryMetric::kDramActive:
      return Unit::kRatio;
    case TelemetryMetric::kMemoryUsed:
    case TelemetryMetric::kMemoryTotal:
      return Unit::kBytes;
    case TelemetryMetric::kPower:
    case TelemetryMetric::kPowerLimit:
      return Unit::kWatts;
    case TelemetryMetric::kTemperature:
    case TelemetryMetric::kMemoryTemperature:
      return Unit::kCelsius;
    case TelemetryMetric::kSmClock:
    case TelemetryMetric::kSmClockLimit:
    case TelemetryMetric::kMemoryClock:
      return Unit::kHertz;
  }
  return Unit::kNone;
}

// How long each sample holds; equal where the log has no times.
std::vector<double> Weights(const Telemetry& t, const Rows& rows) {
  std::vector<Ns> holds;
  for (size_t i = 1; i < rows.size(); ++i) holds.push_back(t.time[rows[i]] - t.time[rows[i - 1]]);
  std::vector<double> weights(rows.size(), 1);
  if (holds.empty() || holds.back() < 0 || t.time[rows.front()] == t.time[rows.back()]) return weights;
  const Ns median = std::max<Ns>(IntegerMedian(std::vector<Ns>(holds)), 1);
  holds.push_back(median);
  const Ns longest = std::min(median, std::numeric_limits<Ns>::max() / kLongestHold) * kLongestHold;
  for (size_t i = 0; i < rows.size(); ++i) weights[i] = static_cast<double>(std::min(holds[i], longest));
  return weights;
}

// The memory below which each GPU has no job, by device; none where it does not show.
std::map<uint32_t, double> JobMemory(const Telemetry& t) {
  std::map<uint32_t, std::pair<double, double>> extremes;
  for (size_t i = 0; i < t.size(); ++i) {
    if (t.metric[i] != TelemetryMetric::kMemoryUsed) continue;
    auto& [least, most] = extremes.try_emplace(t.device[i], t.value[i], t.value[i]).first->second;
    least = std::min(least, t.value[i]);
    most = std::max(most, t.value[i]);
  }
  std::map<uint32_t, double> memory;
  for (const auto& [device, range] : extremes)
    if (range.second - range.first > kTaken * range.second)
      memory[device] = range.first + kGivenBack * (range.second - range.first);
  return memory;
}

// By row, whether the GPU was saturated for all the time that the value is a mean of.
std::vector<bool> Saturated(const Telemetry& t, const Rows& rows, TelemetryMetric metric,
                            const std::vector<double>& utilization) {
  std::vector<bool> saturated(rows.size());
  std::optional<Ns> other;  // the last sample before with another utilisation
  for (size_t i = 0; i < rows.size(); ++i) {
    const Ns time = t.time[rows[i]];
    saturated[i] = utilization[t.sample[rows[i]]] >= kSaturated;
    if (!saturated[i])
      other = time;
    else if (metric == TelemetryMetric::kPower && time >= 0 && other && time - *other < kPowerMean)
      saturated[i] = false;
  }
  return saturated;
}

class WeightedMean {
 public:
  void Add(double value, double weight) {
    sum_ += value * weight;
    weight_ += weight;
  }
  std::optional<double> value() const { return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt; }

 private:
  double sum_ = 0, weight_ = 0;
};

// What is idle before, within and behind the work, which is from row `first` to `last` of the metric's.
void SetIdle(const Telemetry& t, const Rows& rows, size_t first, size_t last,
             const std::vector<double>& utilization, TelemetryRow& row) {
  if (first >= rows.size()) return;
  row.idle_samples = 0;
  if (row.first_ns) {
    row.before_ns = t.time[rows[first]] - *row.first_ns;
    row.after_ns = *row.last_ns - t.time[rows[last]];
    row.longest_idle_ns = 0;
  }
  std::optional<Ns> since;
  for (size_t i = first; i <= last; ++i) {
    const bool idle = utilization[t.sample[rows[i]]] < kActive;
    *row.idle_samples += idle;
    if (!row.first_ns) continue;
    if (idle && !since) since = t.time[rows[i]];
    if (idle || !since) continue;
    row.longest_idle_ns = std::max(*row.longest_idle_ns, t.time[rows[i]] - *since);
    since.reset();
  }
}

// What a metric cannot exceed, and the metric that gives it.
std::optional<double> LimitOf(const Telemetry& t, const std::map<Key, Rows>& by_metric, const Key& key) {
  std::optional<TelemetryMetric> limit;
  switch (key.second) {
    case TelemetryMetric::kGpuUtilization:
    case TelemetryMetric::kMemoryUtilization:
    case TelemetryMetric::kSmActive:
    case TelemetryMetric::kTensorActive:
    case TelemetryMetric::kDramActive:
      return 1.0;
    case TelemetryMetric::kMemoryUsed:
      limit = TelemetryMetric::kMemoryTotal;
      break;
    case TelemetryMetric::kPower:
      limit = TelemetryMetric::kPowerLimit;
      break;
    case TelemetryMetric::kSmClock:
      limit = TelemetryMetric::kSmClockLimit;
      break;
    default:
      return std::nullopt;
  }
  const auto rows = by_metric.find({key.first, *limit});
  if (rows == by_metric.end()) return std::nullopt;
  std::vector<double> values;
  for (const size_t row : rows->second) values.push_back(t.value[row]);
  const std::optional<double> median = Describe(std::move(values)).median;
  return median && *median > 0 ? median : std::nullopt;
}

}  // namespace

const RelationOf<TelemetryRow>& TelemetryRelation() {
  static const auto relation =
      RelationOf<TelemetryRow>(
          "telemetry", "What nvidia-smi, or a tool like it, reported about the GPUs, by device and metric.")
          .Key("profile", &TelemetryRow::profile, kProfileNumber, "Number of the file.")
          .Key("device", &TelemetryRow::device, Unit::kNone, "Index of the GPU, as the log numbers it.")
          .Key(
              "metric", &TelemetryRow::metric, Unit::kText,
              "gpu_utilization (share of time with a kernel running), memory_utilization (with device memory "
              "being read or written), memory_used_bytes, memory_total_bytes, power_w, power_limit_w, "
              "temperature_c, memory_temperature_c, sm_clock_hz, sm_clock_limit_hz (highest that the GPU "
              "has), memory_clock_hz, throttled_by_heat, throttled_by_power (shares of time); of DCGM's "
              "profiling: sm_active "
              "(share of cycles with work on a multiprocessor, mean of all), tensor_active and dram_active "
              "(with "
              "the tensor cores and the memory at work).")
          .Column("unit", &TelemetryRow::unit, Unit::kText,
                  "Of its values: ratio, bytes, watts, celsius or hertz.")
          .Column("samples", &TelemetryRow::samples, Unit::kCount,
                  "Samples, of which a busy GPU's that only repeat an earlier one are left out.")
          .Column(
              "still_samples", &TelemetryRow::still_samples, Unit::kCount,
              "Samples that are left out: for at least a minute, and in thirty samples, the readings of a "
              "busy GPU stay the same, to a fraction of a watt; unknown without any.")
          .Column("still_ns", &TelemetryRow::still_ns, Unit::kNanoseconds,
                  "Time from the sample before each of these; unknown where the log has no times.",
                  capability::kTelemetry)
          .Column("first_ns", &TelemetryRow::first_ns, Unit::kNanoseconds,
                  "First sample, since the log's first; unknown where it has no times.",
                  capability::kTelemetry)
          .Column("last_ns", &TelemetryRow::last_ns, Unit::kNanoseconds, "Last sample.",
                  capability::kTelemetry)
          .Column("min", &TelemetryRow::min, Unit::kNone, "Least.")
          .Column("mean", &TelemetryRow::mean, Unit::kNone,
                  "Mean over time; of the samples where the log has no times.")
          .Column("median", &TelemetryRow::median, Unit::kNone, "Median of the samples.")
          .Column("max", &TelemetryRow::max, Unit::kNone, "Most.")
          .Column("limit_value", &TelemetryRow::limit_value, Unit::kNone,
                  "1 for utilisation, the GPU's memory, power limit and highest clock; unknown for others "
                  "and where the log does not record it.",
                  capability::kTelemetry)
          .Column("at_limit_share", &TelemetryRow::at_limit_share, Unit::kRatio,
                  "Share of time within 5 % of the limit.", capability::kTelemetry)
          .Column("busy_samples", &TelemetryRow::busy_samples, Unit::kCount,
                  "Samples taken while the GPU was busy: its utilisation, read with them, is at least 50 %; "
                  "unknown where the log does not record utilisation.",
                  capability::kTelemetry)
          .Column("busy_mean", &TelemetryRow::busy_mean, Unit::kNone,
                  "Mean over the time of these; unknown without any.", capability::kTelemetry)
          .Column("busy_at_limit_share", &TelemetryRow::busy_at_limit_share, Unit::kRatio,
                  "Share of their time within 5 % of the limit.", capability::kTelemetry)
          .Column("active_samples", &TelemetryRow::active_samples, Unit::kCount,
                  "Samples from the first to the last with a utilisation of at least 10 % and a job's "
                  "memory, without start-up and "
                  "what follows the work; unknown where the log does not record utilisation.",
                  capability::kTelemetry)
          .Column("active_mean", &TelemetryRow::active_mean, Unit::kNone,
                  "Mean over the time of these; unknown without any.", capability::kTelemetry)
          .Column("idle_samples", &TelemetryRow::idle_samples, Unit::kCount,
                  "Those of these with a utilisation below 10 %.", capability::kTelemetry)
          .Column("longest_idle_ns", &TelemetryRow::longest_idle_ns, Unit::kNanoseconds,
                  "Longest time from the first of such in a row to the sample behind them; unknown where the "
                  "log has "
                  "no times.",
                  capability::kTelemetry)
          .Column("before_ns", &TelemetryRow::before_ns, Unit::kNanoseconds,
                  "Time before the first of these; unknown without any, and where the log has no times.",
                  capability::kTelemetry)
          .Column("before_mean", &TelemetryRow::before_mean, Unit::kNone,
                  "Mean over it; unknown where it is none.", capability::kTelemetry)
          .Column("after_ns", &TelemetryRow::after_ns, Unit::kNanoseconds, "Time behind the last of these.",
                  capability::kTelemetry)
          .Column("after_mean", &TelemetryRow::after_mean, Unit::kNone,
                  "Mean over it; unknown where it is none.", capability::kTelemetry)
          .Column("saturated_samples", &TelemetryRow::saturated_samples, Unit::kCount,
                  "Samples with a utilisation of at least 95 %, of power without those of the first second "
                  "of it, which "
                  "it is a mean over; unknown where the log does not record it.",
                  capability::kTelemetry)
          .Column("saturated_mean", &TelemetryRow::saturated_mean, Unit::kNone,
                  "Mean over the time of these; unknown without any.", capability::kTelemetry)
          .Column("dropped_share", &TelemetryRow::dropped_share, Unit::kRatio,
                  "Share of their time with less than 60 % of their median.", capability::kTelemetry);
  return relation;
}

std::vector<TelemetryRow> ComputeTelemetry(const Context& context) {
  const Telemetry& t = context.trace.telemetry;
  std::map<Key, Rows> by_metric;
  std::vector<double> utilization;  // by sample; below 0 where it was not read
  const std::vector<bool> still = StillSamples(t);
  std::map<Key, Still> left_out;
  for (size_t i = 0; i < t.size(); ++i) {
    const Key key{t.device[i], t.metric[i]};
    Still& repeated = left_out[key];
    if (still[t.sample[i]]) {
      ++repeated.samples;
      if (t.time[i] >= 0 && repeated.before >= 0) repeated.ns += t.time[i] - repeated.before;
    } else {
      by_metric[key].push_back(i);
    }
    repeated.before = t.time[i];
    if (t.sample[i] >= utilization.size()) utilization.resize(t.sample[i] + size_t{1}, -1);
    if (t.metric[i] == TelemetryMetric::kGpuUtilization) utilization[t.sample[i]] = t.value[i];
  }
  const std::map<uint32_t, double> job_memory = JobMemory(t);
  std::vector<bool> without_job(utilization.size());  // by sample
  for (size_t i = 0; i < t.size(); ++i) {
    const auto memory = job_memory.find(t.device[i]);
    if (t.metric[i] == TelemetryMetric::kMemoryUsed && memory != job_memory.end())
      without_job[t.sample[i]] = t.value[i] < memory->second;
  }
  std::vector<TelemetryRow> result;
  for (const auto& [key, rows] : by_metric) {
    TelemetryRow& row = result.emplace_back();
    if (key.first != kNoIndex) row.device = context.trace.devices[key.first].ordinal;
    row.metric = TelemetryMetricName(key.second);
    row.unit = UnitName(UnitOf(key.second));
    row.samples = static_cast<int64_t>(rows.size());
    if (const Still& repeated = left_out[key]; repeated.samples > 0) {
      row.still_samples = repeated.samples;
      if (repeated.ns > 0) row.still_ns = repeated.ns;
    }
    if (t.time[rows.front()] >= 0) {
      row.first_ns = t.time[rows.front()];
      row.last_ns = t.time[rows.back()];
    }
    row.limit_value = LimitOf(t, by_metric, key);
    const std::vector<double> weights = Weights(t, rows);
    std::vector<double> values;
    WeightedMean mean, busy_mean, active_mean, before, after, at_limit, busy_at_limit, saturated, dropped;
    std::vector<double> when_saturated;
    const std::vector<bool> is_saturated = Saturated(t, rows, key.second, utilization);
    for (size_t i = 0; i < rows.size(); ++i)
      if (is_saturated[i]) when_saturated.push_back(t.value[rows[i]]);
    const double usual = when_saturated.empty() ? 0 : Median(when_saturated);
    size_t first_active = rows.size(), last_active = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (utilization[t.sample[rows[i]]] < kActive || without_job[t.sample[rows[i]]]) continue;
      first_active = std::min(first_active, i);
      last_active = i;
    }
    int64_t busy_samples = 0;
    bool tells_busy = false;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double value = t.value[rows[i]], busy = utilization[t.sample[rows[i]]];
      const double reached = row.limit_value && value >= kNearLimit * *row.limit_value ? 1 : 0;
      values.push_back(value);
      mean.Add(value, weights[i]);
      if (first_active < rows.size())
        (i < first_active ? before : i > last_active ? after : active_mean).Add(value, weights[i]);
      at_limit.Add(reached, weights[i]);
      tells_busy = tells_busy || busy >= 0;
      if (is_saturated[i]) {
        saturated.Add(value, weights[i]);
        dropped.Add(value < kDropped * usual ? 1 : 0, weights[i]);
      }
      if (busy < kBusy) continue;
      ++busy_samples;
      busy_mean.Add(value, weights[i]);
      busy_at_limit.Add(reached, weights[i]);
    }
    const Distribution distribution = Describe(std::move(values));
    row.min = *distribution.min;
    row.median = *distribution.median;
    row.max = *distribution.max;
    row.mean = mean.value().value_or(row.median);
    row.busy_mean = busy_mean.value();
    row.active_mean = active_mean.value();
    SetIdle(t, rows, first_active, last_active, utilization, row);
    row.before_mean = before.value();
    row.after_mean = after.value();
    row.saturated_mean = saturated.value();
    row.dropped_share = dropped.value();
    if (tells_busy) {
      row.busy_samples = busy_samples;
      row.saturated_samples = static_cast<int64_t>(when_saturated.size());
      row.active_samples =
          static_cast<int64_t>(first_active < rows.size() ? last_active - first_active + 1 : 0);
    }
    if (row.limit_value) {
      row.at_limit_share = at_limit.value();
      row.busy_at_limit_share = busy_at_limit.value();
    }
  }
  std::ranges::stable_sort(result, std::ranges::less{}, &TelemetryRow::device);
  return result;
}

const Family& TelemetryFamily() {
  static const Family family = FamilyOf(TelemetryRelation(), ComputeTelemetry);
  return family;
}

}  // namespace dladvisor
