// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/awaited_input.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/analysis/context/range_text.h"

namespace dladvisor {
namespace {

constexpr Ns kQuiet = 1'000'000;

// The operator that takes a batch, not the iterators below it, which work ahead on threads of their own.
bool TakesBatch(std::string_view name) {
  static const RE2 takes(R"(^(Eager(Local|Kernel)?Execute: )?(\w+/)*(MultiDevice)?IteratorGetNext)");
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), takes);
}

// Calls visit(range) for each range of such an operator that lasts long enough, in order of start.
template <class Visit>
void ForEachWait(const Context& context, Visit visit) {
  const Ranges& ranges = context.trace.ranges;
  const RangeTexts& texts = *context.texts;
  std::vector<std::optional<bool>> takes(texts.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges.open[i] || ranges.thread[i] == kNoIndex || ranges.end[i] - ranges.start[i] < kQuiet) continue;
    const uint32_t text = texts.IndexOf(ranges.name[i]);
    if (!takes[text]) takes[text] = TakesBatch(texts.TextAt(text));
    if (*takes[text]) visit(i);
  }
}

}  // namespace

std::vector<IntervalSet> AwaitedInput(const Context& context) {
  const Trace& trace = context.trace;
  const auto process_of = [&](uint32_t thread) { return trace.threads[thread].process; };
  std::vector<IntervalSet> awaited(trace.processes.size());
  bool any = false;
  ForEachWait(context, [&](uint32_t i) {
    any = true;
    awaited[process_of(trace.ranges.thread[i])].push_back({trace.ranges.start[i], trace.ranges.end[i]});
  });
  if (!any) return awaited;
  std::vector<IntervalSet> asks(trace.processes.size());  // calls, with the short times between them
  const ApiCalls& calls = trace.api_calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.thread[i] == kNoIndex) continue;
    IntervalSet& set = asks[process_of(calls.thread[i])];
    const Ns from = !set.empty() && calls.start[i] - set.back().end < kQuiet
                        ? std::min(set.back().end, calls.start[i])
                        : calls.start[i];
    Append(set, {from, calls.end[i]});
  }
  for (size_t process = 0; process < awaited.size(); ++process)
    awaited[process] = Subtract(Union(std::move(awaited[process])), asks[process]);
  return awaited;
}

NameId AwaitedIn(const Context& context, uint32_t process, Interval time) {
  const Trace& trace = context.trace;
  NameId name = kNoName;
  Ns most = time.length() / 2;
  ForEachWait(context, [&](uint32_t i) {
    const Ns covered = std::min(trace.ranges.end[i], time.end) - std::max(trace.ranges.start[i], time.start);
    if (trace.threads[trace.ranges.thread[i]].process != process || covered <= most) return;
    most = covered;
    name = trace.ranges.name[i];
  });
  return name;
}

}  // namespace dladvisor
