// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/spans/late_marks.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/intervals.h"

namespace dladvisor {
namespace {

bool IsNumber(std::string_view text) {
  constexpr size_t kMostDigits = 6;
  return !text.empty() && text.size() <= kMostDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

struct Mark {
  Ns at = 0;
  NameId name = kNoName;
};

// The span that a mark is in: of those that have begun before it and not ended the one that began last. What
// begins at the very moment comes after what ends then.
uint32_t SpanAt(const ProgramSpans& spans, const std::vector<uint32_t>& order, Ns at) {
  constexpr size_t kMostBefore = 8;  // a mark lies in one of the last that began
  auto next = std::ranges::upper_bound(order, at, {}, [&](uint32_t i) { return spans.start[i]; });
  uint32_t beginning = kNoIndex;
  for (size_t n = 0; n < kMostBefore && next != order.begin(); ++n) {
    const uint32_t span = *--next;
    if (spans.end[span] < at) continue;
    if (spans.start[span] < at) return span;
    if (beginning == kNoIndex) beginning = span;
  }
  return beginning;
}

struct Last {
  int64_t count = 0;
  double late_ns = 0;
};

struct Marked {
  int64_t spans = 0;
  std::map<std::string_view, Last> last;  // by what is last
  std::vector<Interval> waiting;
};

}  // namespace

std::optional<LateMarks> FindLateMarks(const Trace& trace) {
  const ProgramSpans& spans = trace.program_spans;
  std::vector<std::vector<uint32_t>> with_length(spans.tracks.size()), marks(spans.tracks.size());
  for (uint32_t i = 0; i < spans.size(); ++i) {
    if (spans.end[i] > spans.start[i])
      with_length[spans.track[i]].push_back(i);
    else if (IsNumber(trace.names.View(spans.name[i])))
      marks[spans.track[i]].push_back(i);
  }
  std::map<uint32_t, std::vector<Mark>> by_span;
  for (size_t track = 0; track < marks.size(); ++track) {
    std::ranges::stable_sort(with_length[track], {}, [&](uint32_t i) { return spans.start[i]; });
    for (const uint32_t mark : marks[track])
      if (const uint32_t span = SpanAt(spans, with_length[track], spans.start[mark]); span != kNoIndex)
        by_span[span].push_back({spans.start[mark], spans.name[mark]});
  }
  std::map<std::string_view, Marked> by_name;
  for (auto& [span, list] : by_span) {
    std::ranges::stable_sort(list, {}, &Mark::at);
    const Mark& end = list.back();
    const auto before =
        std::find_if(list.rbegin(), list.rend(), [&](const Mark& m) { return m.name != end.name; });
    if (before == list.rend()) continue;
    Marked& marked = by_name[trace.names.View(spans.name[span])];
    ++marked.spans;
    Last& last = marked.last[trace.names.View(end.name)];
    ++last.count;
    last.late_ns += static_cast<double>(end.at - before->at);
    marked.waiting.push_back({spans.start[span], spans.end[span]});
  }
  if (by_name.empty()) return std::nullopt;
  auto& [name, marked] = *std::ranges::max_element(
      by_name, [](const auto& a, const auto& b) { return a.second.spans < b.second.spans; });
  const auto& [number, last] = *std::ranges::max_element(
      marked.last, [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
  return LateMarks{.span = std::string(name),
                   .spans = marked.spans,
                   .last = std::string(number),
                   .last_count = last.count,
                   .late_ns = last.late_ns / static_cast<double>(last.count),
                   .waiting_ns = static_cast<double>(Length(Union(std::move(marked.waiting))))};
}

}  // namespace dladvisor
