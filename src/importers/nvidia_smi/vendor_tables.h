// SPDX-License-Identifier: Apache-2.0
// Reads what the tools of other vendors print of their GPUs, once or again and again, among other lines:
// AMD's rocm-smi (its concise table) and amd-smi monitor, Huawei's npu-smi info; and gpustat.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor::nvidia_smi {

class VendorTableReader {
 public:
  // `time` is that of the lines, as of a date before the table.
  void Line(std::string_view line, const std::optional<Time>& time, TelemetryLog& log);

 private:
  bool Rocm(std::string_view line, const std::optional<Time>& time, TelemetryLog& log);
  bool Amd(std::string_view line, const std::optional<Time>& time, TelemetryLog& log);
  static bool Stat(std::string_view line, const std::optional<Time>& time, TelemetryLog& log);
  void Npu(std::string_view line, const std::optional<Time>& time, TelemetryLog& log);

  bool rocm_ = false, npu_ = false;           // whether the head of a table came
  std::vector<std::string> names_;            // of amd-smi monitor
  std::string number_, name_, power_, heat_;  // of the first of npu-smi's two lines
};

}  // namespace dladvisor::nvidia_smi
