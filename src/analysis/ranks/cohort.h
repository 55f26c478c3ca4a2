// SPDX-License-Identifier: Apache-2.0
// GPUs that run the same kernels step after step, and how each of them differs from the others: the ground of
// everything that compares ranks. GPUs of different cohorts (stages of a pipeline, other models) are never
// compared by kernel.
//
// Sums are integers, so that they do not depend on the order in which GPUs are added.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/analysis/ranks/kernel_sequence.h"

namespace dladvisor {

struct CohortMember {
  struct Step {
    size_t step = 0;                     // index into Cohort::steps
    int64_t kernel_ns = 0;               // sum of durations, collectives left out
    int64_t gap_ns = 0, waiting_ns = 0;  // sums
    std::optional<int64_t> to_sync_ns;
    // How much later than the first of the cohort it began: the longest to_sync_ns minus its own.
    int64_t start_gap_ns = 0;
    int64_t blocks = 0;
    // Time to the end of its last kernel, collectives zeroed, without what it waited for them: its own share.
    int64_t own_ns() const { return start_gap_ns + kernel_ns + gap_ns - waiting_ns; }
  };

  size_t sequence = 0;      // index into the sequences
  std::vector<Step> steps;  // in order
  // By position, summed over its steps. `delays` counts those whose launching call is known.
  std::vector<int64_t> duration, gap, waiting, delay, delays;
};

struct Cohort {
  // By step and position (step * length + position), sums over the members that have the step.
  struct Sums {
    std::vector<int64_t> duration, gap, waiting, delay, delays;
  };

  uint64_t fingerprint = 0;
  size_t length = 0;                  // kernels of a step
  std::vector<int64_t> steps;         // numbers of the steps that at least one member has, in order
  std::vector<int64_t> ranks;         // by step, members that have it
  std::vector<CohortMember> members;  // in order of rank and device
  Sums sums;
};

// In order of size, the largest first; of equally large ones that of the lowest rank.
std::vector<Cohort> FormCohorts(std::span<const KernelSequence> sequences);

std::vector<Cohort> CohortsOfFleet(const OfFleet<KernelSequence>& sequences);
template <>
inline constexpr Computed kValue<std::vector<Cohort>>{"cohorts", CohortsOfFleet};

}  // namespace dladvisor
