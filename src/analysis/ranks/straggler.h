// SPDX-License-Identifier: Apache-2.0
// Ranks, and nodes, whose own work takes longer than that of the others in the same steps, again and again:
// the ones that set the pace, how much they cost, and where in the step they fall behind.
//
// Compared is the local time of a step (CohortMember::Step::own_ns): from the first GPU's first kernel to the
// end of the last one, collectives zeroed and without waiting for them, so that who waits for a straggler
// does not look like one. The excess is that time minus the median over the other GPUs of the cohort: of two
// GPUs, all of the difference. Persistence is tested against chance (persistence.h), again without the worst
// one found, until chance explains the next; a node is tested by the median of its GPUs.
//
// Shares of its excess over the mean of the others show what makes it late: kernels that take longer,
// gaps between kernels, a late start. It diverges where its cumulative excess begins to rise to its highest
// point: the line through the positions at which it has 10 % and 50 % of that, followed back to zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/cohort.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/summary/run.h"

namespace dladvisor {

struct StragglerRow {
  std::optional<int64_t> rank, device;  // of a node: unknown
  std::optional<int64_t> node;
  int64_t first_step = 0, last_step = 0, steps = 0, slowest_steps = 0, among = 1, peers = 0;
  double probability = 1;
  int64_t excess_ns = 0;
  std::optional<double> excess_share;   // of the median step
  std::optional<int64_t> spread_ns;     // of the others' excess
  std::optional<int64_t> runner_up_ns;  // how far the next one is above what it is compared with
  std::optional<double> kernel_share, gap_share, start_share;
  std::optional<double> kernel_ratio, slower_share, blocks_ratio, blocks_variation;
  std::optional<int64_t> first_position, peak_position, peak_ns;
  std::optional<std::string> first_kernel;
  std::optional<int64_t> delay_ns, others_delay_ns;
};
const RelationOf<StragglerRow>& StragglerRelation();
const RelationOf<StragglerRow>& StragglingNodeRelation();

// The candidates of all cohorts of at least two GPUs, those included that chance explains: one at most for
// each cohort. `node_of` by index into the sequences; nothing where it is not known. `step_ns` is the median
// step.
struct Stragglers {
  std::vector<StragglerRow> ranks, nodes;
};
Stragglers FindStragglers(std::span<const KernelSequence> sequences, std::span<const Cohort> cohorts,
                          std::span<const std::optional<int64_t>> node_of, std::optional<double> step_ns);

Stragglers StragglersOfFleet(const OfFleet<RankIdentity>& identities,
                             const OfFleet<KernelSequence>& sequences, const std::vector<Cohort>& cohorts,
                             const RowsOfFleet<RunRelation>& run);
template <>
inline constexpr Computed kValue<Stragglers>{"stragglers", StragglersOfFleet};

}  // namespace dladvisor
