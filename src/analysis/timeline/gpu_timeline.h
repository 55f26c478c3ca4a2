// SPDX-License-Identifier: Apache-2.0
// What each GPU did over its window, and why it was idle: the base of utilisation, ledger and gaps.
//
// A gap is time in which no kernel, copy, set or graph runs on the device. It is charged by the operation
// that ends it and the API call that launched that:
//   launched before the gap:  up to the device's minimum launch latency to idle/launch-latency (the 5th
//                             percentile of start minus call over its kernels, at most 100 us: what takes
//                             longer is no latency), the rest to idle/dependency;
//   launched during the gap:  the part before the call is starved, and goes to what the launching thread did
//                             (host_buckets.h); before that thread's first activity in the gap, to what the
//                             thread did that launched before, since it handed over (forward and backward
//                             pass). The part after the call's start as above;
//   the call still running:   what exceeds that latency is the host's too (loading the kernel's module,
//                             staging pageable memory): idle/copy where the call copies, idle/compilation
//                             from 1 ms on (100 us where it is a kernel's first launch), for no launch takes
//                             that long while the queue is empty but one that loads its module, else
//                             idle/launch;
//   launch not recorded, or nothing ends the gap: idle/unknown. Two movements of managed memory have no
//   launch but a cause: a page that the host has touched ends the host's time, and one that goes to the
//   device while no kernel asks for it has been prefetched: since the last such call it was waited for
//   (idle/copy), and before it the host was at work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/analysis/timeline/bucket.h"

namespace dladvisor {

struct IdleGap {
  Interval time;
  int64_t starved_ns = 0;          // before the launch of what ends it
  uint32_t call = kNoIndex;        // that launch, in api_calls
  NameId ended_by = kNoName;       // kernel that ends it; kNoName for other operations
  std::string_view ended_by_kind;  // "kernel", "copy", "set", "graph", "" where nothing ends it
  NameId operator_name = kNoName;  // of the host that lasts as long, where no launch is known
  // Whose activity was charged: `before` (kNoIndex if nobody) until handed_over, then `thread`.
  uint32_t before = kNoIndex, thread = kNoIndex;
  Ns handed_over = 0;
  std::array<int64_t, kBuckets> charged{};  // sums to time.length()
  Bucket Cause() const;                     // the bucket with the largest charge
};

// The part of a gap in which nothing had been launched, by the thread whose activity is charged.
struct Starvation {
  Interval time;
  uint32_t thread = kNoIndex;
};

struct StepLedger {
  int64_t number = 0;
  Interval time;
  std::array<int64_t, kBuckets> ledger{};  // sums to time.length()
};

struct GpuTimeline {
  Interval window;
  IntervalSet communication, copies, sets;  // each by itself, clipped to the window
  IntervalSet exposed_communication;        // while nothing computes
  IntervalSet exposed_copies;               // while no kernel or graph runs
  Ns kernel_busy_ns = 0;                    // with a kernel or graph running
  IntervalSet idle;                         // without any of them
  // The kMostGaps longest, in order of time: there may be as many gaps as kernels, and of most only the
  // charges and the starvation matter.
  std::vector<IdleGap> gaps;
  std::vector<Starvation> starvation;  // of all gaps, in order of time
  int64_t starved_gaps = 0;
  std::array<int64_t, kBuckets> ledger{};  // sums to window.length()
  std::vector<StepLedger> steps;           // the steady ones of the rank
  std::optional<int64_t> min_latency_ns;
  std::array<bool, kBuckets> captured{};  // whether the profile has what identifies the bucket
  bool has_launches = false;  // of most gaps the launch that ends them is known: starvation is detectable
};

inline constexpr size_t kMostGaps = 1000;

// By index into context.ranks.gpus.
std::vector<GpuTimeline> ComputeTimelines(const Context& context);

template <>
inline constexpr Computed kValue<std::vector<GpuTimeline>>{"timelines", ComputeTimelines};

}  // namespace dladvisor
