// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute prints of the kernels that it measured, alone or behind what the program prints: its
// pages of details and of raw metrics, as text and as CSV, of versions from 2020 on, and the page of summary
// as its window exports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/nsight_compute/measured_launches.h"
#include "src/trace/summary_table.h"

namespace dladvisor::nsight_compute {

class MeasuredLinesReader {
 public:
  // Whether the line is Nsight Compute's.
  bool Line(std::string_view line);
  // One for each process of which kernels were measured.
  std::vector<SummaryTable> Finish();

  // Where it measures a program and no kernel is in the text: what the text is, and what to do instead.
  // Nothing where it does not.
  struct Lacks {
    std::string what, next_step;
  };
  std::optional<Lacks> WithoutKernels() const;

 private:
  struct Csv {
    std::vector<std::string> header;
    std::vector<std::string> units;  // of metrics that have columns of their own
    std::optional<size_t> id, process_id, process, kernel, block, grid, invocations, name, unit, value,
        rule_type, rule_text, speedup_type, speedup;
    std::string last_id;
    bool wide = false, has_units = false;
    bool of_window = false;  // with the units in the header
  };

  bool TakeNote(std::string_view line);
  bool TakeHeader(std::string_view line);
  bool TakeLineOfKernel(std::string_view line);
  bool TakeRow(std::string_view line);
  bool TakeCsvHeader(std::string_view line);
  bool TakeCsvRow(std::string_view line);
  void TakeCells(const std::vector<std::string>& cells);
  void TakeMetric(std::string_view name, std::string_view unit, std::string_view value);
  void BeginProcess(std::string_view id, std::string_view name);
  void BeginLaunch(Launch launch);
  void EndLaunch();
  bool IsFull() const { return launches_ >= kMostLaunches; }

  static constexpr int64_t kMostLaunches = 100'000;

  std::vector<Launches> processes_;
  size_t process_ = 0;      // of these the one that lines are of
  std::string process_id_;  // its number
  std::optional<Launch> open_;
  std::vector<std::pair<size_t, size_t>> columns_;  // begin and end, of the table that is open
  bool in_message_ = false, has_metrics_ = false;
  std::optional<Csv> csv_;
  int64_t launches_ = 0;
  bool comma_is_point_ = false, runs_ = false, not_available_ = false;
  bool is_nan_ = false;         // a metric of the launch
  std::string error_, report_;  // why it measures nothing, and the file to which it writes what it measures
  std::string failed_;          // a kernel whose launch failed
};

}  // namespace dladvisor::nsight_compute
