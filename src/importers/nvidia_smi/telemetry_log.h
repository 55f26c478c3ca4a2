// SPDX-License-Identifier: Apache-2.0
// What the readers of nvidia-smi's formats share: samples of several GPUs, gathered into a trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/trace/trace.h"

namespace dladvisor::nvidia_smi {

class TelemetryLog {
 public:
  // `identity` is what identifies a GPU: its index, bus or UUID; "" where the log has none.
  uint32_t Device(std::string_view identity, std::string_view name);

  // The metrics that are added next were read together. A sample of nothing is left out.
  void Begin(std::optional<Time> time, uint32_t device);
  // The first value of a metric in a sample counts, but throttling by any cause is throttling. A number
  // without a unit is of the unit that the largest of its metric speaks for.
  void Add(TelemetryMetric metric, const Quantity& quantity);
  // `bits` as of clocks_event_reasons.active.
  void AddThrottling(double bits);
  void Skip(const char* what) { ++trace_.health.rows_skipped[what]; }

  // Whether to leave out a last line without end, whose last number may be cut: not where it is the only one.
  bool LeavesOutCutLine();

  Trace& trace() { return trace_; }
  size_t samples() const { return trace_.telemetry.size(); }  // numbers
  size_t rows() const { return sample_ + (trace_.telemetry.size() > begin_); }

  // `what` names the format in messages. Throws Error where there is no sample.
  Trace Finish(const std::string& path, const std::string& what);

 private:
  void ScaleNumbers();
  void SetTimes();
  void Sort();

  Trace trace_;
  std::map<std::string, uint32_t, std::less<>> devices_;
  std::optional<Time> time_;
  uint32_t device_ = kNoIndex, sample_ = 0;
  size_t begin_ = 0;  // of the sample, in the trace's telemetry
  bool timed_ = true, utc_ = true;
  std::vector<uint8_t> no_unit_;  // by row of the trace's telemetry
};

}  // namespace dladvisor::nvidia_smi
