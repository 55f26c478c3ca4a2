// SPDX-License-Identifier: Apache-2.0
// How fast operators run, against what their GPU can do at most: the roofline model (Williams, Waterman,
// Patterson, "Roofline: an insightful visual performance model", 2009).
//
// The least time of a call is the longest of: its FLOPs at the rate of their precision, its bytes at the
// memory's, and the shortest kernel that ran on the GPU. Rates are what was measured as achievable on that
// model, where someone has, and the peak else.
//
// No rate is above the peak. FLOPs that would be show that shapes, types or the GPU are not what they seem,
// or that the algorithm does fewer. Bytes that would be lie in a cache: no time follows from them then.
// Figures are unknown in all these cases, with the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/hardware/gpu_peak.h"

namespace dladvisor {

struct OpEfficiencyRow {
  int64_t rank = 0;
  std::string_view op, data_type, shapes, precision, layout;
  std::optional<std::string_view> kind;
  int64_t variants = 1, calls = 0, recomputed_calls = 0, kernels = 0, gpu_ns = 0;
  std::optional<int64_t> fastest_ns, longest_ns;
  std::optional<double> kernel_share;
  std::optional<int64_t> output_tiles;
  std::optional<int64_t> inner;
  std::optional<double> expert_rows;
  std::optional<double> flops, bytes, flops_per_s, bytes_per_s, intensity;
  std::optional<double> peak_flops_per_s, peak_bytes_per_s, compute_share, memory_share;
  std::optional<std::string_view> bound;
  std::optional<double> attainable_ns, attained_share, headroom_ns;
  std::optional<std::string_view> assumed, unknown_reason;
};
const RelationOf<OpEfficiencyRow>& OpEfficiencyRelation();

// Of the whole run, unknown where less than half of the kernel time is of known work.
struct RunEfficiency {
  std::optional<double> known_work_share, mfu, hfu, speed_of_light;
};

struct OpEfficiencies {
  std::shared_ptr<Table> rows;  // of OpEfficiencyRelation(), by rank, most GPU time first
  RunEfficiency run;
};

OpEfficiencies ComputeOpEfficiencies(const Context& context, const OperatorWork& work,
                                     const std::vector<GpuPeaks>& peaks);

template <>
inline constexpr Computed kValue<OpEfficiencies>{"op efficiencies", ComputeOpEfficiencies};

}  // namespace dladvisor
