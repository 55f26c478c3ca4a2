// SPDX-License-Identifier: Apache-2.0
// Bandwidths that tools measure of a machine and print as tables: nvbandwidth, the CUDA samples'
// bandwidthTest, rocm-bandwidth-test, BabelStream, STREAM, perftest's ib_write_bw and its like, fio.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/program_output.h"

namespace dladvisor::benchmark_log {

class BandwidthLinesReader {
 public:
  // Whether the line is a table's.
  bool Line(std::string_view line);
  // Instead of what else the output names, where there are any.
  void AddTo(ProgramOutput& output) const;

 private:
  enum class Form { kNone, kMatrix, kDevices, kSizes, kFunctions, kMessages };

  void Open(Form form, std::string_view program, double scale);
  bool Opens(std::string_view line);
  bool TakesRow(std::string_view line);
  void Take(const std::string& name, double gigabytes_per_s);

  Form form_ = Form::kNone;
  double scale_ = 0;  // of the open table's numbers, in GB/s
  std::string program_, test_, direction_, memory_;
  std::set<int> gpus_;  // of the devices that rocm-bandwidth-test lists
  std::vector<ProgramFigure> figures_;
};

// Adds it to the figure of this name and unit, or begins one.
void AddBandwidth(std::vector<ProgramFigure>& figures, const std::string& name, double gigabytes_per_s);

// What nvbandwidth's -j writes; nothing of another document, and of one without a bandwidth.
std::optional<ProgramOutput> BandwidthsOfJson(std::string_view text);
bool LooksLikeBandwidthJson(std::string_view head);

}  // namespace dladvisor::benchmark_log
