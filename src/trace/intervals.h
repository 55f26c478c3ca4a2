// SPDX-License-Identifier: Apache-2.0
// Half-open time intervals [start, end) and the set operations that metrics are made of. "Busy" is always a
// union: a sum of durations is never wall time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

// Adds an interval that starts no earlier than any before it; empty and negative intervals vanish.
void Append(IntervalSet& set, Interval next);
// Sorts and merges; empty and negative intervals vanish.
IntervalSet Union(std::vector<Interval> intervals);
IntervalSet Union(const IntervalSet& a, const IntervalSet& b);
IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b);
// The part of `a` inside `window`.
IntervalSet Clip(const IntervalSet& a, Interval window);
int64_t Length(const IntervalSet& a);

// The union of intervals that come in order of start, one of its intervals at a time and without keeping
// them.
class RunningUnion {
 public:
  // Calls visit(interval) for one that nothing will touch any more; empty and negative intervals vanish.
  template <class Visit>
  void Add(Interval next, Visit visit) {
    if (next.end <= next.start) return;
    if (next.start <= last_.end) {
      last_.end = std::max(last_.end, next.end);
      return;
    }
    Finish(visit);
    last_ = next;
  }
  // Calls visit for the last one.
  template <class Visit>
  void Finish(Visit visit) {
    if (last_.end > last_.start) visit(last_);
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  Interval last_{kNone, kNone};
};

}  // namespace dladvisor
