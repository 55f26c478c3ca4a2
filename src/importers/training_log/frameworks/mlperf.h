// SPDX-License-Identifier: Apache-2.0
// MLPerf's log of events: ":::MLLOG {"time_ms": 1594407138977, "event_type": "INTERVAL_START", "key":
// "epoch_start", ..., "metadata": {"epoch_num": 1}}", before its version 0.7 ":::MLL 1560722659.018
// epoch_start: {"value": null, "metadata": {"epoch_num": 1}}". Epochs, or blocks where there are none, and
// evaluations between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class MlperfReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  // Intervals of one name: what other ranks print of the same one is left out.
  struct Intervals {
    std::optional<double> start_ms;
    int64_t announced = 1;  // epochs that the current interval is of
    int64_t count = 0;
    double last_end_ms = 0;
    TrainingLog log;
  };

  void Event(std::string_view key, double ms);
  void OldestEvent(std::string_view key, double ms);
  static void Add(Intervals& intervals, double start, double end);

  Intervals epochs_, blocks_;
  std::optional<double> evaluation_ms_, run_ms_;
  double last_evaluation_ms_ = 0, announced_ms_ = 0;
  int64_t evaluations_ = 0;
  double evaluation_ns_ = 0;
  std::optional<double> runtime_ns_;
};

}  // namespace dladvisor::training_log
