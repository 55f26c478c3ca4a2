// SPDX-License-Identifier: Apache-2.0
// Output of nccl-tests and rccl-tests: the GPUs that it lists, the table of sizes with their bandwidths, and,
// with NCCL_DEBUG=INFO among it, which settings NCCL took and which way its channels go.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class TransferLinesReader {
 public:
  void Line(std::string_view line);
  // Tables with rows.
  std::vector<TransferTest> Finish() const;

 private:
  void Begin();
  void TakeDevice(std::string_view line);
  void TakeDebug(std::string_view line);
  // Whether the line begins a row, and takes what of its times follows in it.
  bool BeginsRow(std::string_view line);
  void TakeValues(std::string_view values);

  struct Open {
    TransferTest test;
    std::set<std::string, std::less<>> hosts, gpus;
    double bytes = 0;  // of the row
    double bus_bytes_per_s = 0;
    int values = 0;  // groups of it that are still to come
  };
  TransferTest Closed(const Open& open) const;

  std::vector<Open> tests_;
  bool has_devices_ = false;   // since the last table's start
  bool has_table_ = false;     // that a line of its names has come
  bool counts_wrong_ = false;  // that the line names a count of wrong values
  std::string collective_;
  std::map<std::string, std::string> settings_;
  std::set<std::string, std::less<>> ways_;
  std::optional<int64_t> channels_;
};

}  // namespace dladvisor::benchmark_log
