// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/host_activity.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/markers.h"

namespace dladvisor {
namespace {

constexpr double kMostOf = 0.8;
constexpr double kHalfOf = 0.5;  // of a range, where nothing else is most of it
// How far back an event is looked for among those that started before the middle of a stretch. What covers
// most of a stretch has few events of its kind after its start, but other threads have theirs.
constexpr uint32_t kMostSteps = 10'000;

enum class Kind : uint8_t { kCall, kRange, kFunction };

struct Activity {
  NameId name = kNoName;
  Kind kind = Kind::kCall;
  Ns length = std::numeric_limits<Ns>::max();
  double least = kMostOf;

  void Offer(NameId candidate, Kind of, Interval event, Interval stretch) {
    const Ns covered = std::min(event.end, stretch.end) - std::max(event.start, stretch.start);
    if (static_cast<double>(covered) < least * static_cast<double>(stretch.length()) ||
        event.length() >= length)
      return;
    name = candidate;
    kind = of;
    length = event.length();
  }
};

Ns Middle(Interval time) { return time.start + time.length() / 2; }

// Of events that do not nest: the last one that starts on the thread before the middle. Calls offer(event).
template <class Events, class Offer>
void OfferLast(const Events& events, const ThreadTime& stretch, Offer offer) {
  const auto after =
      static_cast<uint32_t>(std::upper_bound(events.start.begin(), events.start.end(), Middle(stretch.time)) -
                            events.start.begin());
  for (uint32_t i = after; i-- > after - std::min(after, kMostSteps);)
    if (events.thread[i] == stretch.thread) return offer(i);
}

// Frames nest: those open at the middle of each stretch are found by one sweep over all.
void OfferFrames(const Trace& trace, const std::vector<ThreadTime>& stretches,
                 std::vector<Activity>& activities) {
  const Frames& frames = trace.frames;
  if (frames.size() == 0) return;
  std::vector<size_t> order(stretches.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return Middle(stretches[a].time) < Middle(stretches[b].time); });
  std::vector<std::vector<size_t>> open(trace.threads.size());
  size_t next = 0;
  for (const size_t s : order) {
    const auto [thread, time] = stretches[s];
    for (; next < frames.size() && frames.start[next] <= Middle(time); ++next) {
      if (frames.thread[next] == kNoIndex) continue;
      std::vector<size_t>& stack = open[frames.thread[next]];
      while (!stack.empty() && frames.end[stack.back()] <= frames.start[next]) stack.pop_back();
      stack.push_back(next);
    }
    if (thread == kNoIndex || time.length() <= 0) continue;
    for (const size_t frame : open[thread])
      activities[s].Offer(frames.name[frame], Kind::kFunction, {frames.start[frame], frames.end[frame]},
                          time);
  }
}

// The name of the ranges that cover most of a stretch together, one after the other: three calls of an
// operator, say. Of nested ones the outermost within it counts.
NameId NameOfMost(const Context& context, const ThreadTime& stretch) {
  const Ranges& ranges = context.trace.ranges;
  const auto first = static_cast<uint32_t>(
      std::lower_bound(ranges.start.begin(), ranges.start.end(), stretch.time.start) - ranges.start.begin());
  std::map<NameId, Ns> covered;
  Ns end = stretch.time.start;
  for (uint32_t i = first; i < ranges.size() && i - first < kMostSteps; ++i) {
    if (ranges.start[i] >= stretch.time.end) break;
    if (ranges.thread[i] != stretch.thread || ranges.open[i] || ranges.kind[i] == RangeKind::kMark ||
        ranges.start[i] < end || ranges.end[i] > stretch.time.end)
      continue;
    end = ranges.end[i];
    covered[ranges.name[i]] += end - ranges.start[i];
  }
  for (const auto& [name, ns] : covered)
    if (static_cast<double>(ns) >= kMostOf * static_cast<double>(stretch.time.length())) return name;
  return kNoName;
}

}  // namespace

std::vector<std::string> HostActivities(const Context& context, const std::vector<ThreadTime>& stretches) {
  const Trace& trace = context.trace;
  std::vector<Activity> activities(stretches.size());
  OfferFrames(trace, stretches, activities);
  const auto offer_ranges = [&](size_t s) {
    OfferLast(trace.ranges, stretches[s], [&](uint32_t range) {
      for (; range != kNoIndex; range = context.attribution.range_parent[range])
        if (!trace.ranges.open[range] && trace.ranges.kind[range] != RangeKind::kMark)
          activities[s].Offer(trace.ranges.name[range], Kind::kRange,
                              {trace.ranges.start[range], trace.ranges.end[range]}, stretches[s].time);
    });
  };
  for (size_t s = 0; s < stretches.size(); ++s) {
    const ThreadTime& stretch = stretches[s];
    if (stretch.thread == kNoIndex || stretch.time.length() <= 0) continue;
    offer_ranges(s);
    const auto offer_of = [&](const auto& events) {
      OfferLast(events, stretch, [&](uint32_t i) {
        activities[s].Offer(events.name[i], Kind::kCall, {events.start[i], events.end[i]}, stretch.time);
      });
    };
    offer_of(trace.api_calls);
    offer_of(trace.os_calls);
    offer_of(trace.mpi_calls);
    if (activities[s].name != kNoName) continue;
    activities[s].least = kHalfOf;
    offer_ranges(s);
  }
  std::vector<std::string> names(stretches.size());
  for (size_t s = 0; s < stretches.size(); ++s) {
    const ThreadTime& stretch = stretches[s];
    Activity& activity = activities[s];
    // What it lies in says less than what fills it.
    const bool within = activity.kind == Kind::kRange && activity.length > stretch.time.length();
    if ((activity.name == kNoName || within) && stretch.thread != kNoIndex && stretch.time.length() > 0)
      if (const NameId most = NameOfMost(context, stretch); most != kNoName)
        activity = {.name = most, .kind = Kind::kRange};
    if (activity.name == kNoName) continue;
    const std::string_view name = trace.names.View(activity.name);
    switch (activity.kind) {
      case Kind::kCall:
        names[s] = ApiBaseName(name);
        break;
      case Kind::kRange:
        names[s] = ParseMarker(name).name;
        if (names[s] == context.steps.range_pattern) names[s].clear();  // says nothing
        break;
      case Kind::kFunction:
        names[s] = name;
        break;
    }
  }
  return names;
}

}  // namespace dladvisor
