// SPDX-License-Identifier: Apache-2.0
// What GPUs can do at most: a table of models, as rules/hardware.yaml and the section `hardware` of
// dladvisor.yaml hold it (hardware_reader.h).
//
// Peaks are dense, without structured sparsity, and of products that accumulate in FP32 (INT32 for INT8):
// what frameworks ask for. Those of matrix units follow from the chip:
//
//   peak = multiprocessors × clock × operations per clock and multiprocessor
//
// with the clock at which the vendor states its matrix peaks, which may be below the boost clock. Every row
// is checked against it, so that figures with sparsity, or of another model, do not pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/hardware/precision.h"

namespace dladvisor {

struct Rate {
  Precision precision = Precision::kUnknown;
  ComputeUnit unit = ComputeUnit::kVector;
  double value = 0;
  bool operator==(const Rate&) const = default;
};
using Rates = std::vector<Rate>;

// Nothing where it is not among them.
std::optional<double> FindRate(const Rates& rates, Precision precision, ComputeUnit unit);

struct Architecture {
  std::string name;  // "sm80", "cdna3", and variants of it whose products are cut: "sm86-geforce"
  Rates rates;       // operations per clock and multiprocessor (compute unit)
  std::string source;
  bool operator==(const Architecture&) const = default;
};

struct GpuModel {
  std::string model;
  std::vector<std::string> names;         // as profilers print them, which no other model has
  std::vector<std::string> shared_names;  // that other models have, too
  std::string architecture;               // "" where it is not said, and peaks are not checked
  std::optional<int64_t> multiprocessors;
  std::optional<double> boost_clock_hz, matrix_clock_hz;  // the second where it differs
  Rates peaks;                                            // FLOP/s; operations/s for INT8
  Rates achievable;                                       // the same, as somebody measured it
  std::optional<double> memory_bytes, memory_bytes_per_s, achievable_memory_bytes_per_s;
  std::optional<double> recorded_memory_bytes_per_s;  // what CUDA states, where that is not so
  std::optional<double> link_bytes_per_s;  // to other GPUs (NVLink, xGMI), all links in one direction
  std::optional<double> host_bytes_per_s;  // in one direction
  std::string source, achievable_source;
  bool operator==(const GpuModel&) const = default;
};

struct Hardware {
  std::vector<Architecture> architectures;
  std::vector<GpuModel> models;
  std::optional<GpuModel> unnamed = {};  // what a GPU is whose name a profile does not say

  const Architecture* FindArchitecture(std::string_view name) const;  // null where it is not known
};

// Of the chip: operations per second in a precision its architecture computes in. Nothing where that, its
// multiprocessors or its clock are not known.
std::optional<double> DerivePeak(const Architecture& architecture, const GpuModel& model, Precision precision,
                                 ComputeUnit unit);

// By how much a stated peak may differ from the derived one: vendors round, and state clocks of their own.
inline constexpr double kPeakTolerance = 0.05;

// A GPU as a profile describes it.
struct GpuDescription {
  std::string name;
  std::optional<int64_t> multiprocessors, memory_bytes;
};

// The model of a name, without regard to case and to the vendor's name before it; "MIG 1g.10gb" after it
// names a slice. No name is that of the table's `unnamed`. A name that several models share is decided by
// multiprocessors and memory, as far as they are known, as is one that a table of nvidia-smi cut: "Tesla
// V100-SXM2...". Null where none is, or several are.
const GpuModel* FindModel(const Hardware& hardware, const GpuDescription& gpu);

// Whether the recorded memory is that of the model: profilers count what the driver leaves.
bool HasMemoryOf(const GpuModel& model, const GpuDescription& gpu);

}  // namespace dladvisor
