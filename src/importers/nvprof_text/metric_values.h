// SPDX-License-Identifier: Apache-2.0
// Metrics that nvprof counted of one kernel, and what they say of it. Units are told in tenths of their peak
// ("Mid (5)"), what is used of what is moved in percent.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/kernel_measurement.h"

namespace dladvisor::nvprof_text {

class MetricValues {
 public:
  // The value as printed: "61.97%", "0.911838", "Mid (5)", "1.9424GB/s". Others than those that are known are
  // left out.
  void Take(std::string_view metric, std::string_view value);
  KernelMeasurement Measurement() const;

 private:
  std::optional<double> Of(std::string_view metric) const;
  std::optional<double> Share(std::string_view metric) const;
  void FindPipe(KernelMeasurement& kernel) const;
  void FindEfficiency(KernelMeasurement& kernel) const;
  void FindStall(KernelMeasurement& kernel) const;

  std::map<std::string, double, std::less<>> values_;
};

}  // namespace dladvisor::nvprof_text
