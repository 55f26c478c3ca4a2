// SPDX-License-Identifier: Apache-2.0
// Reads what scripts of users print of GPUs, a line for each metric behind a line with the date: "===
// 2024-10-31 18:47:06 ===", "GPU Load: 97.0%", "GPU Memory: 512.0MB / 6144.0MB (8.3%)", "GPU 1
// Temperature: 48.0°C".
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor::nvidia_smi {

class MonitorReader {
 public:
  void Line(std::string_view line);
  // Whether a text of so many lines is a log of nothing else.
  bool IsLog(int64_t lines) const;

  TelemetryLog log;

 private:
  std::optional<Time> time_;
  std::string gpu_;                  // of the sample that is open
  std::set<TelemetryMetric> given_;  // in it
  int64_t metrics_ = 0, loads_ = 0;  // lines
};

}  // namespace dladvisor::nvidia_smi
