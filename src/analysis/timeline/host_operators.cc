// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/host_operators.h"

#include <algorithm>

namespace dladvisor {
namespace {

constexpr Ns kLeastIdle = 1'000'000;
constexpr double kCovers = 0.8;

}  // namespace

HostOperators::HostOperators(const Trace& trace) : trace_(trace) {
  if (trace.format != "timeline" || trace.api_calls.size() > 0) return;
  const Ranges& ranges = trace.ranges;
  for (uint32_t i = 0; i < ranges.size(); ++i)
    if (!ranges.open[i] &&
        static_cast<double>(ranges.end[i] - ranges.start[i]) >= kCovers * static_cast<double>(kLeastIdle))
      long_.push_back(i);
}

uint32_t HostOperators::Through(Interval gap) const {
  if (gap.length() < kLeastIdle) return kNoIndex;
  uint32_t shortest = kNoIndex;
  Ns length = 0;
  for (const uint32_t i : long_) {
    const Interval range{trace_.ranges.start[i], trace_.ranges.end[i]};
    if (range.start >= gap.end) break;
    const Ns covered = std::min(range.end, gap.end) - std::max(range.start, gap.start);
    if (static_cast<double>(covered) < kCovers * static_cast<double>(gap.length())) continue;
    if (shortest != kNoIndex && range.length() >= length) continue;
    shortest = i;
    length = range.length();
  }
  return shortest;
}

}  // namespace dladvisor
