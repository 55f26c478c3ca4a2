// SPDX-License-Identifier: Apache-2.0
// The part of the profile that findings are about.
#pragma once

#include <map>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// The analysed window of each of ranks.gpus: its rank's steady steps, else from the first to the last end of
// the rank's GPU operations, of those that its phases count, so that imports before and exports after are not
// taken for idleness. A profile of one call is all of that call from its first operator: what it does before
// its GPU has work, loading a batch above all, each such call does.
std::vector<Interval> FindWindows(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                                  const Launches& launches, const std::map<int64_t, Phases>& phases,
                                  const Steps& steps, Interval activity);

}  // namespace dladvisor
