// SPDX-License-Identifier: Apache-2.0
// What nvprof prints of the metrics that it counted of kernels (--metrics, --events), as text and as CSV: for
// each kernel of a GPU the smallest, largest and average value over its launches, without their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/nvprof_text/metric_values.h"
#include "src/trace/summary_table.h"

namespace dladvisor::nvprof_text {

class MetricLinesReader {
 public:
  // Whether the line is part of such a table.
  bool Line(std::string_view line);
  // One for each GPU of each process.
  std::vector<SummaryTable> Finish();

 private:
  struct Kernel {
    std::string name;
    int64_t calls = 0;
    MetricValues values;
  };
  struct Gpu {
    std::string process, name;
    std::vector<Kernel> kernels;
  };
  enum class Table : uint8_t { kNone, kMetrics, kEvents, kCsv };

  bool TakeTitle(std::string_view line);
  bool TakeHeader(std::string_view line);
  bool TakeRow(std::string_view line);
  bool TakeCsvRow(std::string_view line);
  void BeginGpu(std::string_view name);
  void BeginKernel(std::string_view name);
  void Add(int64_t calls, std::string_view metric, std::string_view average);

  static constexpr size_t kMostGpus = 64, kMostKernels = 10'000;

  std::vector<Gpu> gpus_;
  Kernel* kernel_ = nullptr;  // that rows are of
  std::string process_;
  Table table_ = Table::kNone;
  size_t device_cell_ = 0, kernel_cell_ = 0, calls_cell_ = 0, metric_cell_ = 0, average_cell_ = 0, cells_ = 0;
};

}  // namespace dladvisor::nvprof_text
