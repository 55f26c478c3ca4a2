// SPDX-License-Identifier: Apache-2.0
// Facts per rank among the others: who it is, whether it can be compared, and how much of each step is its
// own. See cohort.h for what is compared and straggler.h for what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/cohort.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/timeline/step.h"

namespace dladvisor {

// Which rank it is, and how that is known. Made where files are put together.
struct RankIdentity {
  int64_t rank = 0, profile = 0;
  std::optional<int64_t> node, local_rank;
  std::optional<std::string> host;
  std::string source;  // profile, environment, range, file name, order of files
};

struct RankRow {
  int64_t rank = 0, device = 0, profile = 0;
  std::optional<int64_t> node, local_rank;
  std::optional<std::string> host;
  std::string rank_source;
  std::optional<int64_t> cohort, peers, kernels_per_step;
  int64_t steps = 0, other_steps = 0, missing_steps = 0;
  std::optional<std::string> not_compared;
  std::optional<double> own_ns, excess_ns, kernel_ns, gap_ns, start_gap_ns, waiting_ns, delay_ns;
};
const RelationOf<RankRow>& RankRelation();

struct RankStepRow {
  int64_t rank = 0, device = 0, step = 0;
  int64_t own_ns = 0;
  double excess_ns = 0;
  int64_t kernel_ns = 0, gap_ns = 0, start_gap_ns = 0, waiting_ns = 0, blocks = 0;
};
const RelationOf<RankStepRow>& RankStepRelation();

struct JitterRow {
  int64_t cohort = 0, peers = 0, steps = 0, kernels_per_step = 0;
  double magnitude_ns = 0;
  std::optional<double> magnitude_share;
  int64_t worst_step = 0;
  double worst_ns = 0;
  int64_t max_rank = 0, max_device = 0, min_rank = 0, min_device = 0, typical_rank = 0, typical_device = 0;
  double kernel_excess_ns = 0, gap_excess_ns = 0, start_excess_ns = 0;
};
const RelationOf<JitterRow>& JitterRelation();

struct RankFacts {
  std::vector<RankRow> ranks;
  std::vector<RankStepRow> steps;
  std::vector<JitterRow> jitter;
};

// `gpus` are all (rank, device) with GPU work, `step_ns` the mean step of the slowest rank.
RankFacts ComputeRanks(std::span<const RankIdentity> identities,
                       std::span<const std::pair<int64_t, int64_t>> gpus,
                       std::span<const KernelSequence> sequences, std::span<const Cohort> cohorts,
                       std::optional<double> step_ns);

template <>
inline constexpr Given kValue<OfFleet<RankIdentity>>{"identities of all ranks", Subject::kFleet};

// (rank, device) of each.
std::vector<std::pair<int64_t, int64_t>> GpusOf(const RowsOfFleet<GpuRelation>& gpus);

RankFacts RanksOfFleet(const OfFleet<RankIdentity>& identities, const RowsOfFleet<GpuRelation>& gpus,
                       const OfFleet<KernelSequence>& sequences, const std::vector<Cohort>& cohorts,
                       const RowsOfFleet<RunRelation>& run);
template <>
inline constexpr Computed kValue<RankFacts>{"ranks", RanksOfFleet};

}  // namespace dladvisor
