// SPDX-License-Identifier: Apache-2.0
// The collectives of a GPU one by one: what is matched between ranks. Within a rank they are numbered by step
// and order, apart for each kind: collective, process group where the framework names it, and stream, since a
// communicator keeps to one. Frameworks of 2026 number the collectives of a group themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/analysis/family/values.h"
#include "src/analysis/timeline/gpu_timeline.h"

namespace dladvisor {

struct CollectiveTrack {
  struct Kind {
    std::string collective;          // AllReduce, AllGather, ...
    std::string group, group_ranks;  // from the framework, or ""
    int64_t stream = 0;              // of those with collectives, in order of their first one: 0, 1, ...
    auto operator<=>(const Kind&) const = default;
  };
  struct Call {
    uint32_t kind = 0;  // index into `kinds`
    int64_t step = 0, order = 0;
    Ns start = 0, end = 0;  // on the profile's clock
    Ns exposed_ns = 0;      // without any computation
    Ns exposed_from = 0;    // where that begins; the end where it never is
    int64_t bytes = -1;     // of the larger of what goes in and out of this rank
    int64_t number = 0;     // the framework's, the same on all ranks; 0 where it gives none
  };

  int64_t rank = 0, device = 0;
  std::vector<Kind> kinds;
  std::vector<Call> calls;  // in order of start
};

// One per entry of context.ranks.gpus that has collectives in its steady steps; where no steps were found,
// the analysed window is step 0. At most 2^17 calls of a GPU, the first ones.
std::vector<CollectiveTrack> ComputeCollectiveTracks(const Context& context,
                                                     const std::vector<GpuTimeline>& timelines);

// For ranks that send it to each other.
std::string EncodeCalls(const std::vector<CollectiveTrack::Call>& calls);
std::vector<CollectiveTrack::Call> DecodeCalls(const std::string& encoded, size_t kinds);

template <>
inline constexpr Computed kValue<std::vector<CollectiveTrack>>{"collective tracks", ComputeCollectiveTracks};

template <>
inline constexpr Given kValue<OfFleet<CollectiveTrack>>{"collective tracks of all ranks", Subject::kFleet};

}  // namespace dladvisor
