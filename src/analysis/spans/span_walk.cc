// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/spans/span_walk.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <unordered_set>
#include <utility>

namespace dladvisor {
namespace {

constexpr Ns kRounding = 1000;  // of what is recorded in microseconds

double Length(Ns from, Ns to) { return static_cast<double>(to - from); }

// Of one track, whose spans are given in order of start, the longest first.
class TrackWalk {
 public:
  TrackWalk(const ProgramSpans& spans, SpanTimes& times) : spans_(spans), times_(times) {}

  void Walk(const std::vector<uint32_t>& order) {
    TrackTimes& track = times_.tracks[spans_.track[order.front()]];
    track.spans = order.size();
    Ns until = spans_.start[order.front()];  // the end of what was met so far
    uint32_t last = UINT32_MAX;
    track.start_ns = static_cast<double>(until);
    for (const uint32_t i : order) {
      const Ns start = spans_.start[i], end = spans_.end[i];
      if (last != UINT32_MAX && Length(until, start) > track.gap_ns) {
        track.gap_ns = Length(until, start);
        track.gap_start_ns = static_cast<double>(until);
        track.before_gap = last;
      }
      track.busy_ns += std::max(0.0, Length(std::max(until, start), end));
      CloseUntil(start);
      times_.parent[i] = open_.empty() ? UINT32_MAX : open_.back();
      if (!open_.empty() && end - kRounding > spans_.end[open_.back()]) ++times_.crossing;
      Charge(start);
      open_.push_back(i);
      ends_.emplace(end, i);
      if (end >= until || last == UINT32_MAX) last = i;
      until = std::max(until, end);
    }
    CloseUntil(until);
    track.end_ns = static_cast<double>(until);
  }

 private:
  // The time up to then to the innermost.
  void Charge(Ns time) {
    if (!open_.empty() && time > charged_) times_.self_ns[open_.back()] += Length(charged_, time);
    charged_ = time;
  }

  // Where spans overlap without one lying within the other, what began first may end first: the innermost is
  // what began last of those that have not ended.
  void CloseUntil(Ns time) {
    while (!ends_.empty() && ends_.top().first <= time) {
      Charge(std::max(charged_, ends_.top().first));
      ended_.insert(ends_.top().second);
      ends_.pop();
      while (!open_.empty() && ended_.erase(open_.back()) > 0) open_.pop_back();
    }
  }

  const ProgramSpans& spans_;
  SpanTimes& times_;
  using End = std::pair<Ns, uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<uint32_t> open_;  // in order of start; of those within others that have ended some stay a while
  std::unordered_set<uint32_t> ended_;
  Ns charged_ = std::numeric_limits<Ns>::min();
};

void CoverTime(const ProgramSpans& spans, const std::vector<uint32_t>& by_start, SpanTimes& times) {
  uint32_t last = by_start.front();
  Ns until = spans.start[last];
  for (const uint32_t i : by_start) {
    const double gap = Length(until, spans.start[i]);
    if (gap > 0) times.gaps.emplace_back(last, gap);
    if (gap > times.gap_ns) {
      times.gap_ns = gap;
      times.before_gap = last;
    }
    if (spans.end[i] <= until) continue;
    times.covered_ns += Length(std::max(until, spans.start[i]), spans.end[i]);
    until = spans.end[i];
    last = i;
  }
}

}  // namespace

SpanTimes WalkSpans(const ProgramSpans& spans) {
  SpanTimes times;
  times.tracks.resize(spans.tracks.size());
  times.self_ns.resize(spans.size());
  times.parent.resize(spans.size(), UINT32_MAX);
  if (spans.empty()) return times;
  std::vector<uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return spans.start[a] != spans.start[b] ? spans.start[a] < spans.start[b] : spans.end[a] > spans.end[b];
  });
  times.duration_ns = Length(spans.start[order.front()], *std::ranges::max_element(spans.end));
  CoverTime(spans, order, times);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return spans.track[a] < spans.track[b]; });
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end =
        std::find_if(begin, order.end(), [&](uint32_t i) { return spans.track[i] != spans.track[*begin]; });
    TrackWalk(spans, times).Walk({begin, end});
    begin = end;
  }
  times.order = std::move(order);
  return times;
}

}  // namespace dladvisor
