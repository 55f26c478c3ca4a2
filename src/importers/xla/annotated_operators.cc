// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/annotated_operators.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "src/trace/event_tables.h"

namespace dladvisor::xla {
namespace {

struct Open {
  NameId name = kNoName;
  Ns start = 0, end = 0;
};

}  // namespace

std::string_view OperatorOf(std::string_view annotation) {
  static const RE2 form(R"(^([\w.\-/>]+):([A-Z_]\w*)$)");
  re2::StringPiece name;
  if (!RE2::PartialMatch(re2::StringPiece(annotation.data(), annotation.size()), form, &name)) return "";
  return {name.data(), name.size()};
}

void AddAnnotatedOperators(Trace& trace, std::vector<OperatorOfCall> operators, NameId domain) {
  if (operators.empty()) return;
  std::map<int64_t, NameId> name_of;
  for (const OperatorOfCall& of : operators) name_of.try_emplace(of.correlation, of.name);
  Ranges& ranges = trace.ranges;
  // Starts and ends of ranges by thread: calls between which one lies are of two.
  std::vector<std::vector<Ns>> bounds(trace.threads.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    bounds[ranges.thread[i]].push_back(ranges.start[i]);
    bounds[ranges.thread[i]].push_back(ranges.end[i]);
  }
  for (std::vector<Ns>& of : bounds) std::ranges::sort(of);
  std::vector<Open> open(trace.threads.size());
  const auto close = [&](uint32_t thread) {
    Open& of = open[thread];
    if (of.name == kNoName) return;
    ranges.start.push_back(of.start);
    ranges.end.push_back(of.end);
    ranges.thread.push_back(thread);
    ranges.name.push_back(of.name);
    ranges.domain.push_back(domain);
    ranges.kind.push_back(RangeKind::kPushPop);
    ranges.open.push_back(false);
    of.name = kNoName;
  };
  const ApiCalls& calls = trace.api_calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    const uint32_t thread = calls.thread[i];
    if (thread == kNoIndex) continue;
    const auto found = name_of.find(calls.correlation[i]);
    const NameId name = found == name_of.end() ? kNoName : found->second;
    Open& of = open[thread];
    const auto between = std::ranges::lower_bound(bounds[thread], of.end);
    if (name == kNoName || name != of.name || calls.start[i] < of.end ||
        (between != bounds[thread].end() && *between <= calls.start[i]))
      close(thread);
    if (name == kNoName) continue;
    if (of.name == kNoName) of = {.name = name, .start = calls.start[i], .end = calls.end[i]};
    of.end = std::max(of.end, calls.end[i]);
  }
  for (uint32_t thread = 0; thread < open.size(); ++thread) close(thread);
  SortByStartLongestFirst(ranges);
}

}  // namespace dladvisor::xla
