// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/left_out.h"

#include <optional>
#include <utility>

#include "src/analysis/context/range_text.h"
#include "src/analysis/timeline/host_buckets.h"

namespace dladvisor {
namespace {

Change OfRange(std::string_view name) {
  return name.starts_with("Optimizer.zero_grad#") ? kZeroGrad
         : name.starts_with("Optimizer.step#")    ? kOptimizer
         : name == "aten::item"                   ? kReadCalls
         : BucketOfRange(name) == Bucket::kInput  ? kLoading
                                                  : kNothing;
}
Change OfFunction(std::string_view name) {
  return BucketOfFunction(name) == Bucket::kInput ? kLoading : kNothing;
}

// Call visit(event, change) for events whose name stands for one, until it returns false.
template <class Visit>
void ForEachRangeToLeaveOut(const Context& context, Visit visit) {
  const Trace& trace = context.trace;
  const RangeTexts& texts = *context.texts;
  std::vector<std::optional<Change>> change_of(texts.size());
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const uint32_t text = texts.IndexOf(trace.ranges.name[i]);
    std::optional<Change>& change = change_of[text];
    if (!change) change = OfRange(texts.TextAt(text));
    if (*change != kNothing && !visit(i, *change)) return;
  }
}
template <class Visit>
void ForEachFunctionToLeaveOut(const Trace& trace, Visit visit) {
  if (trace.frames.size() == 0) return;
  std::vector<std::optional<Change>> change_of(trace.names.size());
  for (size_t i = 0; i < trace.frames.size(); ++i) {
    std::optional<Change>& change = change_of[trace.frames.name[i]];
    if (!change) change = OfFunction(trace.names.View(trace.frames.name[i]));
    if (*change != kNothing && !visit(i, *change)) return;
  }
}

}  // namespace

bool HasSomethingToLeaveOut(const Context& context, const std::vector<ApiKind>& kinds,
                            const RecomputedSegments& recomputed) {
  const Trace& trace = context.trace;
  bool found = !recomputed.empty();
  const ApiCalls& calls = trace.api_calls;
  for (size_t i = 0; i < calls.size() && !found; ++i)
    found = kinds[calls.name[i]] == ApiKind::kSync || kinds[calls.name[i]] == ApiKind::kAllocation;
  const auto find = [&](size_t, Change) { return !(found = true); };
  const Copies& copies = trace.copies;
  for (size_t i = 0; i < copies.size() && !found; ++i)
    found = copies.direction[i] == CopyDirection::kDeviceToHost && IsOfAtMost(copies.bytes[i], kScalarBytes);
  if (!found) ForEachRangeToLeaveOut(context, find);
  if (!found) ForEachFunctionToLeaveOut(trace, find);
  return found;
}

LeftOut FindLeftOut(const Context& context, const std::vector<ApiKind>& kinds,
                    const RecomputedSegments& recomputed, const std::vector<uint8_t>& launches) {
  const Trace& trace = context.trace;
  LeftOut left_out;
  const auto add_of = [&](const auto& events) {
    return [&](size_t i, Change change) {
      if (events.thread[i] != kNoIndex && launches[events.thread[i]])
        left_out[change].push_back({events.start[i], events.end[i]});
      return true;
    };
  };
  const auto add_range = add_of(trace.ranges);
  ForEachRangeToLeaveOut(
      context, [&](size_t i, Change change) { return trace.ranges.open[i] || add_range(i, change); });
  ForEachFunctionToLeaveOut(trace, add_of(trace.frames));
  for (const RecomputedSegment& segment : recomputed)
    if (launches[segment.thread]) left_out[kRecomputation].push_back(segment.time);
  const auto add_call = add_of(trace.api_calls);
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    if (kinds[trace.api_calls.name[i]] == ApiKind::kAllocation) add_call(i, kAllocation);
  for (IntervalSet& set : left_out) set = Union(std::move(set));
  return left_out;
}

}  // namespace dladvisor
