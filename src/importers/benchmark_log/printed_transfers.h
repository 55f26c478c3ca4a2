// SPDX-License-Identifier: Apache-2.0
// Collectives as scripts measure them with torch.distributed: all_reduce_bench.py of the ML Engineering book
// in its versions, and the benchmarks of DeepSpeed's communication. They count by NCCL's formulas
// (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md), name ranks and no machines.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class PrintedTransfersReader {
 public:
  void Line(std::string_view line);
  // Tables with a bandwidth of the bus at a size that is told.
  std::vector<TransferTest> Finish() const;

 private:
  bool TakeHead(std::string_view line);
  void TakeRow(std::string_view line);
  // What each rank prints of each trial.
  void TakeTrial(std::string_view line);

  struct Row {
    double bytes = 0, bus_bytes_per_s = 0;
    std::optional<double> ns;
  };
  struct Table {
    std::string collective;
    int64_t gpus = 0;
    std::vector<Row> rows;
  };
  static TransferTest Closed(const Table& table);

  std::vector<Table> tables_;
  std::string gpu_;
  double unit_ = 0;                // of the open table's bandwidths, in bytes a second; 0 where none is open
  std::optional<double> payload_;  // of all trials
  std::set<std::string, std::less<>> ranks_;
  std::vector<double> trials_;  // their bandwidth of the bus
};

}  // namespace dladvisor::benchmark_log
