// SPDX-License-Identifier: Apache-2.0
// What a replay (replay.h) may leave out of the host's time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/recomputation.h"

namespace dladvisor {

// What may be left out: waits for single values, all that reading them takes, or other waits; what the host
// does in some ranges or calls; what is computed again; or all kernels.
enum Change : uint8_t {
  kNothing,
  kScalarReads,
  kReadCalls,
  kWaits,
  kLoading,
  kZeroGrad,
  kOptimizer,
  kAllocation,
  kRecomputation,
  kKernels
};
constexpr std::array<std::string_view, 10> kChangeNames = {"",
                                                           "scalar reads",
                                                           "reads with their calls",
                                                           "waits",
                                                           "data loading",
                                                           "zero_grad",
                                                           "optimizer on the host",
                                                           "allocation",
                                                           "recomputation",
                                                           "kernels"};
// In whose time the kernels that are launched are left out as well.
constexpr bool LeavesOutKernels(Change change) { return change == kZeroGrad || change == kRecomputation; }

// The host's time of each, of those that are times: without waits and kernels.
using LeftOut = std::array<IntervalSet, kChangeNames.size()>;

// `kinds`: of calls, by name. `launches`: which threads give work to a GPU, by thread.
LeftOut FindLeftOut(const Context& context, const std::vector<ApiKind>& kinds,
                    const RecomputedSegments& recomputed, const std::vector<uint8_t>& launches);
// Whether there is any of it, waits too.
bool HasSomethingToLeaveOut(const Context& context, const std::vector<ApiKind>& kinds,
                            const RecomputedSegments& recomputed);

}  // namespace dladvisor
