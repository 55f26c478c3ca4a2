// SPDX-License-Identifier: Apache-2.0
// Tracks that do the same, of which one does far more of it than the others, who wait meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/spans/span_walk.h"

namespace dladvisor {

struct UnevenSpans {
  uint32_t name = 0;          // as the spans are named by `names`
  bool of_processes = false;  // else of the tracks of one process
  std::string most, least;    // the names of these peers
  int64_t peers = 0;
  double most_ns = 0, mean_ns = 0, least_ns = 0;
  double excess_share = 0;  // what the most has above the mean, of the mean of all spans of a peer
};

// `names` of each span, and `waits` of each name: whether it says that what it marks waits.
std::optional<UnevenSpans> FindUnevenSpans(const ProgramSpans& spans, const SpanTimes& times,
                                           const std::vector<uint32_t>& names,
                                           const std::vector<bool>& waits);

}  // namespace dladvisor
