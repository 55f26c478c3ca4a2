// SPDX-License-Identifier: Apache-2.0
// Which collectives of several ranks are one and the same, and on what common clock they ran.
//
// Calls are matched by kind and the framework's number, where it numbers all of a group, else by kind, step
// and order: a rank whose trace begins a call later than the others' is then matched wrongly. Where the
// framework names process groups, these are the groups. Where nothing does, the layouts of distributed
// training are tried: all ranks; blocks of k successive ranks; every k-th rank; for all k that divide their
// number. The ends of a collective agree on all its ranks, so the largest groups are taken whose ends agree
// (nearly) as well as those of the best layout; where even these differ by more than kEndsAgree the groups
// are unknown.
//
// Clocks: each profile's times are put on UTC where its session's start is known, then shifted so that ends
// of collectives agree in the median (of those that end for nobody before all have come, where there are
// any), and drift between them is taken out (slope by Theil and Sen). Where collectives are few the session's
// UTC is all there is. Uncertainty is the robust deviation of what remains.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/communication/collective_track.h"

namespace dladvisor {

inline constexpr Ns kEndsAgree = 50'000;

// Whether the collective ends for nobody before all have come. The root of a broadcast is done when it has
// sent.
bool WaitsForAll(std::string_view collective);

struct RankClock {
  std::optional<int64_t> origin_utc_ns;  // of the profile's time 0
  int64_t offset_ns = 0;                 // what was added beyond that
  double drift = 0;                      // ns per ns, from the middle of its collectives on
  int64_t middle_ns = 0;
  std::optional<int64_t> uncertainty_ns;  // unknown without collectives
  int64_t collectives = 0;                // that were used
  int64_t base_ns = 0;                    // added to the profile's times to make those of the common clock

  int64_t Common(Ns time) const {
    return time + base_ns + offset_ns + static_cast<int64_t>(drift * static_cast<double>(time - middle_ns));
  }
};

struct MatchedKind {
  CollectiveTrack::Kind kind;
  std::vector<size_t> tracks;                      // that have it, by rank
  std::vector<std::pair<int64_t, int64_t>> calls;  // step and order, or the framework's number, sorted
  std::vector<int32_t> call_of;                    // by track * calls + call: index into its calls, or -1
  std::vector<int32_t> group_of;                   // by track; -1 where unknown
  int32_t groups = 0;

  const CollectiveTrack::Call* At(std::span<const CollectiveTrack> all, size_t track, size_t call) const {
    const int32_t i = call_of[track * calls.size() + call];
    return i < 0 ? nullptr : &all[tracks[track]].calls[static_cast<size_t>(i)];
  }
};

struct MatchedCollectives {
  std::vector<MatchedKind> kinds;
  std::vector<RankClock> clocks;  // by track
};

// `origins` by track, UTC of its profile's time 0.
MatchedCollectives MatchCollectives(std::span<const CollectiveTrack> tracks,
                                    std::span<const std::optional<int64_t>> origins);

}  // namespace dladvisor
