// SPDX-License-Identifier: Apache-2.0
// Totals by name that a profiler printed of a run: how often what ran, and for how long in all. They have no
// timeline: what ran when, and what waited for what, is not in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/trace/kernel_measurement.h"

namespace dladvisor {

enum class SummaryRowKind : uint8_t {
  kKernel,
  kCopy,
  kSet,
  kApi,       // calls of the CUDA or HIP API
  kRange,     // NVTX and others
  kOperator,  // of PyTorch
  kOs,        // calls of the operating system
};

struct SummaryRow {
  SummaryRowKind kind = SummaryRowKind::kKernel;
  std::string name;
  int64_t calls = 0;
  double total_ns = 0;  // of operators on the host, with what they call
  std::optional<double> average_ns, median_ns, min_ns, max_ns;
  std::optional<double> bytes;                      // of copies
  std::optional<double> self_ns;                    // of operators and calls: without what they call
  std::optional<double> device_ns, device_self_ns;  // what operators make the GPU do
};

// The tables of one profile.
struct SummaryTable {
  std::string tool;    // "nsys stats", "nvprof", "torch.profiler", "rocprof", "Nsight Compute", "a script"
  std::string title;   // what stands above it, "" where nothing does
  std::string device;  // as PyTorch's columns call it: "CUDA", "XPU"; "" where they do not
  std::vector<SummaryRow> rows;
  std::optional<double> host_ns, device_ns;  // totals that are printed below it, of more than its rows
  std::optional<double> span_ns;  // from the first start on one GPU to the last end, where rows have starts
  int64_t pauses = 0;             // of 1 ms and more in it, without work
  double pause_ns = 0, longest_pause_ns = 0;
  bool has_device = false;                 // whether it has columns for a GPU's time, or rows of it
  bool is_one_by_one = false;              // each kernel alone, at clocks that the profiler set
  std::vector<KernelMeasurement> kernels;  // of rows that are kernels, where more than their time is known
};

}  // namespace dladvisor
