// SPDX-License-Identifier: Apache-2.0
#include "src/trace/intervals.h"

#include <algorithm>
#include <utility>

namespace dladvisor {
namespace {

bool ByStart(const Interval& a, const Interval& b) { return a.start < b.start; }

}  // namespace

void Append(IntervalSet& set, Interval next) {
  if (next.end <= next.start) return;
  if (!set.empty() && next.start <= set.back().end)
    set.back().end = std::max(set.back().end, next.end);
  else
    set.push_back(next);
}

IntervalSet Union(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), ByStart))
    std::sort(intervals.begin(), intervals.end(), ByStart);
  IntervalSet set;
  for (const Interval& interval : intervals) Append(set, interval);
  return set;
}

IntervalSet Union(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  set.reserve(std::max(a.size(), b.size()));
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();)
    Append(set, j == b.size() || (i < a.size() && a[i].start <= b[j].start) ? a[i++] : b[j++]);
  return set;
}

IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    Append(set, {std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)});
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return set;
}

IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  if (a.empty()) return set;
  auto j = static_cast<size_t>(std::ranges::upper_bound(b, a.front().start, {}, &Interval::end) - b.begin());
  for (const Interval& whole : a) {
    int64_t from = whole.start;
    while (j < b.size() && b[j].end <= from) ++j;
    for (size_t k = j; k < b.size() && b[k].start < whole.end; ++k) {
      Append(set, {from, b[k].start});
      from = std::max(from, b[k].end);
    }
    Append(set, {from, whole.end});
  }
  return set;
}

IntervalSet Clip(const IntervalSet& a, Interval window) {
  IntervalSet set;
  for (const Interval& interval : a)
    Append(set, {std::max(interval.start, window.start), std::min(interval.end, window.end)});
  return set;
}

int64_t Length(const IntervalSet& a) {
  int64_t total = 0;
  for (const Interval& interval : a) total += interval.length();
  return total;
}

}  // namespace dladvisor
