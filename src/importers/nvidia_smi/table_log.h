// SPDX-License-Identifier: Apache-2.0
// Reads the table that nvidia-smi prints without options, once or many times (nvidia-smi -l, watch), and
// what other vendors' tools print, also among the lines of another log. It prints two lines per GPU; GPUs
// split by MIG have no utilisation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/importers/nvidia_smi/telemetry_log.h"
#include "src/importers/nvidia_smi/vendor_tables.h"

namespace dladvisor {

namespace nvidia_smi {

class TableReader {
 public:
  void Line(std::string_view line);

  TelemetryLog log;

 private:
  bool Values(std::string_view line);

  std::optional<Time> time_;
  std::string gpu_, name_;
  VendorTableReader vendors_;
  bool second_ = false;  // whether the line before named a GPU
};

}  // namespace nvidia_smi

// Whether the first bytes of a file hold the heading of one.
bool LooksLikeSmiTable(std::string_view head);

}  // namespace dladvisor
