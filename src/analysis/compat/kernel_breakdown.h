// SPDX-License-Identifier: Apache-2.0
// How computation, communication and memory operations share a rank's GPU time, as Holistic Trace Analysis
// breaks it down (github.com/facebookresearch/HolisticTraceAnalysis: breakdown_analysis.py,
// communication_analysis.py): unions over all streams and devices, from the first operation's start to the
// last one's end. profiled_work.h says which operations count.
//
// Difference: HTA cuts every stretch of the breakdown by types to whole microseconds, which loses up to 1 us
// of each; ours are exact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/compat/profiled_work.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct TemporalBreakdownRow {
  int64_t rank = 0, kernel_ns = 0, idle_ns = 0, compute_ns = 0, non_compute_ns = 0;
  std::optional<double> idle_share, compute_share, non_compute_share;
};
const RelationOf<TemporalBreakdownRow>& TemporalBreakdownRelation();

struct KernelBreakdownRow {
  int64_t rank = 0;
  std::string kernel_type;
  int64_t total_ns = 0;
  std::optional<double> share;
};
const RelationOf<KernelBreakdownRow>& KernelBreakdownRelation();

struct CommunicationOverlapRow {
  int64_t rank = 0, communication_ns = 0, overlap_ns = 0;
  std::optional<double> overlap_share;
};
const RelationOf<CommunicationOverlapRow>& CommunicationOverlapRelation();

struct Breakdowns {
  std::vector<TemporalBreakdownRow> temporal;
  std::vector<KernelBreakdownRow> types;
  std::vector<CommunicationOverlapRow> overlaps;
};
Breakdowns ComputeBreakdowns(const Context& context, const std::vector<ProfiledWork>& work);

template <>
inline constexpr Computed kValue<Breakdowns>{"breakdowns", ComputeBreakdowns};

}  // namespace dladvisor
