// Half-open time intervals [start, end) and the set operations that metrics are made of. "Busy" is always a
// union: a sum of durations is never wall time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dladvisor {

struct Interval {
  int64_t start = 0, end = 0;
  int64_t length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

// A set of times: sorted, disjoint, non-empty, non-touching intervals. All operations are linear.
using IntervalSet = std::vector<Interval>;

// Sorts and merges; empty and negative intervals vanish.
IntervalSet Union(std::vector<Interval> intervals);
IntervalSet Union(const IntervalSet& a, const IntervalSet& b);
IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b);
// The part of `a` inside `window`.
IntervalSet Clip(const IntervalSet& a, Interval window);
int64_t Length(const IntervalSet& a);

}  // namespace dladvisor
