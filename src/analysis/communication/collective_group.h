// SPDX-License-Identifier: Apache-2.0
// Collectives over all ranks that take part: how long they transfer, who is waited for, and which groups are
// slow; the clocks of the ranks, which they align; and what each rank spends on them.
//
// Of all-reduce, all-gather, reduce-scatter and all-to-all (and of sends and receives whose ends agree like
// theirs) the transfer begins when the last rank of the group has come: what a rank ran before is waiting.
// Broadcast, reduce, gather and scatter do not wait for all and are left out. A wait shorter than the clocks'
// uncertainty is none. Bus bandwidth is NCCL's: bytes / transfer x 2(n-1)/n for all-reduce, (n-1)/n for the
// others (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/communication/collective_match.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/system.h"

namespace dladvisor {

struct CollectiveGroupRow {
  std::string collective, ranks;
  int64_t stream = 0;
  int64_t size = 0;
  std::optional<int64_t> node;
  int64_t steps = 0;
  double calls_per_step = 0, transfer_ns = 0, waiting_ns = 0;
  double median_ns = 0;  // transfer of a call
  std::optional<double> bytes, bus_bandwidth;
  std::optional<int64_t> last_rank, last_steps;
  std::optional<double> last_probability;
  int64_t peers = 0;
  std::optional<double> peers_transfer_ns, excess_ns;
  std::optional<int64_t> first_step, last_step, slowest_steps;
  std::optional<double> probability;
};
const RelationOf<CollectiveGroupRow>& CollectiveGroupRelation();

struct CollectiveWaitRow {
  int64_t rank = 0, device = 0;
  std::string collective;
  double calls_per_step = 0, transfer_ns = 0, waiting_ns = 0, exposed_transfer_ns = 0, exposed_waiting_ns = 0;
};
const RelationOf<CollectiveWaitRow>& CollectiveWaitRelation();

struct ClockRow {
  int64_t rank = 0, device = 0;
  std::optional<int64_t> node, origin_utc_ns;
  int64_t offset_ns = 0;
  std::optional<int64_t> uncertainty_ns, skew_ns;
  double drift_ppm = 0;
  int64_t collectives = 0;
};
const RelationOf<ClockRow>& ClockRelation();

struct CollectiveFacts {
  std::vector<CollectiveGroupRow> groups;
  std::vector<CollectiveWaitRow> waits;
  std::vector<ClockRow> clocks;
};

// `origins` and `nodes` by track; `world_size` is that of the job. A group of which ranks are missing is left
// out: who comes last in it is not known.
CollectiveFacts ComputeCollectiveGroups(std::span<const CollectiveTrack> tracks,
                                        std::span<const std::optional<int64_t>> origins,
                                        std::span<const std::optional<int64_t>> nodes,
                                        std::optional<int64_t> world_size);

CollectiveFacts CollectivesOfFleet(const OfFleet<CollectiveTrack>& tracks,
                                   const OfFleet<RankIdentity>& identities,
                                   const RowsOfFleet<ProfileRelation>& profiles,
                                   const RowsOfFleet<SystemRelation>& systems);
template <>
inline constexpr Computed kValue<CollectiveFacts>{"collectives", CollectivesOfFleet};

}  // namespace dladvisor
