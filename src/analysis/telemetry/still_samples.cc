// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/still_samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// Fewer equal samples, or of less time, are those of a sensor that is read more often than it measures.
constexpr size_t kLeastStill = 30;
constexpr Ns kLeastStillTime = 60'000'000'000;
// An idle GPU may draw the same for long.
constexpr double kAtWork = 0.5;

bool Changes(TelemetryMetric metric) {
  return metric != TelemetryMetric::kMemoryTotal && metric != TelemetryMetric::kPowerLimit &&
         metric != TelemetryMetric::kSmClockLimit;
}

using Values = std::vector<std::pair<TelemetryMetric, double>>;

// The readings of one device, of which only those of the last are kept whole.
class Readings {
 public:
  void Add(TelemetryMetric metric, double value, Ns time, uint32_t sample) {
    if (!open_ || sample != sample_) Close();
    open_ = true;
    sample_ = sample;
    time_ = time;
    values_.emplace_back(metric, value);
    fine_ = fine_ || (metric == TelemetryMetric::kPower && value != std::floor(value));
  }

  void Finish(std::vector<bool>& still) {
    Close();
    EndRun();
    if (!fine_) return;
    for (const uint32_t sample : still_) still[sample] = true;
  }

 private:
  void Close() {
    if (!open_) return;
    if (run_.empty() || values_ != first_ || !Has(TelemetryMetric::kPower)) {
      EndRun();
      first_ = values_;
      begin_ = time_;
    }
    run_.push_back(sample_);
    end_ = time_;
    values_.clear();
  }

  void EndRun() {
    if (run_.size() >= kLeastStill && Has(TelemetryMetric::kGpuUtilization, kAtWork) && begin_ >= 0 &&
        end_ - begin_ >= kLeastStillTime)
      still_.insert(still_.end(), run_.begin() + 1, run_.end());
    run_.clear();
  }

  bool Has(TelemetryMetric metric, double least = 0) const {
    return std::ranges::any_of(
        first_, [&](const auto& value) { return value.first == metric && value.second >= least; });
  }

  bool open_ = false, fine_ = false;  // whether the power has fractions of a watt
  uint32_t sample_ = 0;
  Ns time_ = -1, begin_ = -1, end_ = -1;
  Values values_, first_;              // of this reading, and of the first that equals it
  std::vector<uint32_t> run_, still_;  // samples
};

}  // namespace

std::vector<bool> StillSamples(const Telemetry& t) {
  std::map<uint32_t, Readings> by_device;
  uint32_t samples = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    samples = std::max(samples, t.sample[i] + 1);
    if (Changes(t.metric[i])) by_device[t.device[i]].Add(t.metric[i], t.value[i], t.time[i], t.sample[i]);
  }
  std::vector<bool> still(samples);
  for (auto& [device, readings] : by_device) readings.Finish(still);
  return still;
}

}  // namespace dladvisor
