// SPDX-License-Identifier: Apache-2.0
// Facts per position in the kernel sequence of a step, over all GPUs that run it, and what single GPUs do at
// each position against the mean: where in a step ranks diverge, and whether kernels or launches make them.
// After Zulfiqar and Knight, "Scaling the Transformer Model Implementation in PyTorch Across Multiple Nodes"
// (NVIDIA, 2020): durations, gaps, and cumulative time to the end of each kernel, each against the mean over
// GPUs. As there, gaps hold waiting for collectives, a collective's own gap is 0, and so is its duration in
// the cumulative time. What KernelSequence calls the first kernel's gap is 0; here it is what the GPU began
// later than the first one (CohortMember::Step::start_gap_ns).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/ranks/cohort.h"

namespace dladvisor {

struct KernelPositionRow {
  int64_t cohort = 0, position = 0;
  std::string kernel;
  bool communication = false;
  double duration_ns = 0, gap_ns = 0, end_ns = 0;
  std::optional<double> delay_ns;
  double longest_ns = 0, largest_gap_ns = 0;
  int64_t longest_rank = 0, largest_gap_rank = 0;
};
const RelationOf<KernelPositionRow>& KernelPositionRelation();

std::vector<KernelPositionRow> ComputeKernelPositions(std::span<const KernelSequence> sequences,
                                                      std::span<const Cohort> cohorts);

struct DivergenceRow {
  int64_t rank = 0, device = 0, step = 0, position = 0;
  std::string kernel;
  int64_t duration_ns = 0, gap_ns = 0, end_ns = 0;
  double duration_excess_ns = 0, gap_excess_ns = 0, end_excess_ns = 0;
  std::optional<int64_t> delay_ns;
};
const RelationOf<DivergenceRow>& DivergenceRelation();

// A step of a GPU.
struct GpuStep {
  int64_t rank = 0, device = 0, step = 0;
  auto operator<=>(const GpuStep&) const = default;
};
// Of each of these that a cohort has; without repetitions, in order.
std::vector<DivergenceRow> ComputeDivergence(std::span<const KernelSequence> sequences,
                                             std::span<const Cohort> cohorts, std::vector<GpuStep> steps);

}  // namespace dladvisor
