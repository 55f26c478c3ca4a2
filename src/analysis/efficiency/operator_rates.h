// SPDX-License-Identifier: Apache-2.0
// What calls of an operator do in sum, how fast that is, and the least time that their GPU needs for it; see
// op_efficiency.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/analysis/efficiency/call_groups.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/hardware/gpu_peak.h"
#include "src/hardware/precision.h"

namespace dladvisor {

inline constexpr double kNsPerSecond = 1e9;

// A rate, and what was measured of it where someone has.
struct RateLimit {
  std::optional<double> peak, achievable;
  double best() const { return achievable ? *achievable : *peak; }
};

// Of one GPU.
struct GpuLimits {
  std::array<RateLimit, kPrecisions> compute;  // FLOP/s
  RateLimit memory;                            // bytes/s
  double floor_ns = 0;                         // the shortest kernel that ran
  bool peaks_known = false;                    // of one GPU of the rank
};

GpuLimits LimitsOf(const GpuPeaks& peaks);

// Sums over calls. Of dynamic shapes there are far more of these than rows, which are larger.
struct OperatorTotals {
  int64_t calls = 0, recomputed = 0, kernels = 0;
  Ns gpu_ns = 0;
  const RateLimit *compute = nullptr, *memory = nullptr;  // of the last whose work is known
  double flops = 0, bytes = 0, compute_ns = 0, memory_ns = 0, floor_ns = 0, attainable_ns = 0;
  double at_peak_ns = 0;                  // with peaks in place of what is achievable
  double model_peak_ns = 0, peak_ns = 0;  // FLOPs at the peak; the first without what is repeated
  bool has_flops = false, has_bytes = false, winograd = false, precision_known = false;
  const DistinctOperators::Operator* last = nullptr;  // of those whose work is known
  std::string_view unknown;                           // why the work is, or ""
  std::string_view bytes_unknown;

  void Add(const CallGroup& group, const DistinctOperators& operators, const GpuLimits& gpu);
  void Add(const OperatorTotals& other);

  bool bytes_known() const { return has_bytes && bytes_unknown.empty(); }
  bool has_rates() const { return unknown.empty() && gpu_ns > 0; }
};

// What follows from totals that have rates.
struct OperatorRates {
  std::optional<double> flops_per_s, bytes_per_s, compute_share, memory_share, attainable_ns;
  std::string_view unknown;  // why some of these are, or ""
  bool above_peak = false, above_memory = false;
};

OperatorRates RatesOf(const OperatorTotals& totals, const GpuLimits& gpu);

}  // namespace dladvisor
