// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/attribution.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/analysis/context/markers.h"

namespace dladvisor {
namespace {

class Sweep {
 public:
  explicit Sweep(const Trace& trace) : trace_(trace), stacks_(trace.threads.size()) {
    FindMainThreads();
    OrderRanges();
  }

  void Run(Attribution& out, std::vector<uint8_t>& api_inherited) {
    const ApiCalls& calls = trace_.api_calls;
    out.range_parent.assign(trace_.ranges.size(), kNoIndex);
    out.api_range.assign(calls.size(), kNoIndex);
    api_inherited.assign(calls.size(), 0);
    size_t next = 0;
    for (uint32_t call = 0; call < calls.size(); ++call) {
      // A range that starts with the call encloses it.
      while (next < order_.size() && trace_.ranges.start[order_[next]] <= calls.start[call])
        Open(order_[next++], out);
      const uint32_t thread = calls.thread[call];
      if (thread == kNoIndex) continue;
      uint32_t& range = out.api_range[call];
      range = Innermost(thread, calls.start[call]);
      const uint32_t process = trace_.threads[thread].process;
      if (range != kNoIndex || process == kNoIndex) continue;
      const uint32_t main = main_thread_[process];
      if (main == kNoIndex || main == thread) continue;
      range = Innermost(main, calls.start[call]);
      api_inherited[call] = range != kNoIndex;
    }
    while (next < order_.size()) Open(order_[next++], out);
  }

 private:
  bool Nests(uint32_t range) const {
    return trace_.ranges.kind[range] == RangeKind::kPushPop && trace_.ranges.thread[range] != kNoIndex;
  }

  // The thread that bears the process's id, where it has ranges, else the one with the most.
  void FindMainThreads() {
    std::vector<uint32_t> count(trace_.threads.size(), 0);
    for (uint32_t i = 0; i < trace_.ranges.size(); ++i)
      if (Nests(i)) ++count[trace_.ranges.thread[i]];
    main_thread_.assign(trace_.processes.size(), kNoIndex);
    const auto rank = [&](uint32_t thread) {
      const Thread& t = trace_.threads[thread];
      return std::pair(t.tid == trace_.processes[t.process].pid, count[thread]);
    };
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      const uint32_t process = trace_.threads[thread].process;
      if (count[thread] == 0 || process == kNoIndex) continue;
      uint32_t& main = main_thread_[process];
      if (main == kNoIndex || rank(thread) > rank(main)) main = thread;
    }
  }

  // By start; of ranges that start together the longest encloses the others.
  void OrderRanges() {
    const Ranges& ranges = trace_.ranges;
    order_.reserve(ranges.size());
    for (uint32_t i = 0; i < ranges.size(); ++i)
      if (Nests(i)) order_.push_back(i);
    const auto is_before = [&](uint32_t a, uint32_t b) {
      return ranges.start[a] != ranges.start[b] ? ranges.start[a] < ranges.start[b]
                                                : ranges.end[a] > ranges.end[b];
    };
    if (!std::is_sorted(order_.begin(), order_.end(), is_before))
      std::stable_sort(order_.begin(), order_.end(), is_before);
  }

  uint32_t Innermost(uint32_t thread, Ns time) {
    auto& stack = stacks_[thread];
    while (!stack.empty() && trace_.ranges.end[stack.back()] <= time) stack.pop_back();
    return stack.empty() ? kNoIndex : stack.back();
  }

  void Open(uint32_t range, Attribution& out) {
    const uint32_t thread = trace_.ranges.thread[range];
    if (trace_.ranges.open[range]) CloseForgotten(range, stacks_[thread]);
    out.range_parent[range] = Innermost(thread, trace_.ranges.start[range]);
    stacks_[thread].push_back(range);
  }

  // A loop that pushes and never pops would nest its iterations in each other: where a range that is never
  // popped follows another of its kind, that one ends.
  void CloseForgotten(uint32_t range, std::vector<uint32_t>& stack) {
    constexpr size_t kDepth = 100;  // of looking for it
    const std::string& kind = KindOf(range);
    for (size_t i = stack.size(); i-- > 0 && i + kDepth >= stack.size() && trace_.ranges.open[stack[i]];)
      if (KindOf(stack[i]) == kind) {
        stack.resize(i);
        return;
      }
  }

  const std::string& KindOf(uint32_t range) {
    const auto [entry, is_new] = kinds_.try_emplace(trace_.ranges.name[range]);
    if (is_new) entry->second = NormalizedRangeName(trace_.names.View(trace_.ranges.name[range]));
    return entry->second;
  }

  const Trace& trace_;
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<uint32_t> main_thread_, order_;
  std::unordered_map<NameId, std::string> kinds_;  // of ranges never popped: name without numbers
};

std::vector<uint32_t> RangesOf(const std::vector<uint32_t>& calls, const std::vector<uint32_t>& api_range) {
  std::vector<uint32_t> ranges(calls.size(), kNoIndex);
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls[i] != kNoIndex) ranges[i] = api_range[calls[i]];
  return ranges;
}

}  // namespace

Attribution Attribute(const Trace& trace, const Launches& launches) {
  Attribution out;
  std::vector<uint8_t> api_inherited;
  Sweep(trace).Run(out, api_inherited);
  out.kernel_range = RangesOf(launches.kernel, out.api_range);
  out.copy_range = RangesOf(launches.copy, out.api_range);
  out.set_range = RangesOf(launches.set, out.api_range);
  out.kernel_inherited.assign(launches.kernel.size(), 0);
  for (size_t i = 0; i < launches.kernel.size(); ++i)
    if (launches.kernel[i] != kNoIndex) out.kernel_inherited[i] = api_inherited[launches.kernel[i]];
  return out;
}

}  // namespace dladvisor
