// SPDX-License-Identifier: Apache-2.0
// What the columns of a log hold, from their names: those of nvidia-smi --query-gpu, those of dmon, and those
// that scripts around NVML give ("gpu_utilization", "temperature_C", "memory_used_mb").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/trace/trace.h"

namespace dladvisor::nvidia_smi {

struct LogColumn {
  enum class Kind { kOther, kTime, kIdentity, kName, kMetric, kThrottleReasons, kMemoryFree };
  Kind kind = Kind::kOther;
  TelemetryMetric metric = TelemetryMetric::kGpuUtilization;
  std::string unit;        // of numbers without one, "" where the name does not show it
  bool names_gpu = false;  // the name is one of a GPU's, not one that a host may have as well
  bool dotted = false;     // the name is one of nvidia-smi --query-gpu: "utilization.gpu"
};

// "utilization.gpu [%]", "gpu_index", "temperature_C".
LogColumn CsvColumn(std::string_view name);

// "pwr" with its unit "W", of dmon.
LogColumn DmonColumn(std::string_view name, std::string_view unit);

}  // namespace dladvisor::nvidia_smi
