#include "src/analysis/attribution.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

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
      uint32_t thread = calls.thread[call];
      if (thread == kNoIndex) continue;
      if (!has_ranges_[thread]) {
        const uint32_t process = trace_.threads[thread].process;
        thread = process == kNoIndex ? kNoIndex : main_thread_[process];
        if (thread == kNoIndex) continue;
        api_inherited[call] = 1;
      }
      out.api_range[call] = Innermost(thread, calls.start[call]);
      if (out.api_range[call] == kNoIndex) api_inherited[call] = 0;
    }
    while (next < order_.size()) Open(order_[next++], out);
  }

 private:
  bool Nests(uint32_t range) const {
    return trace_.ranges.kind[range] == RangeKind::kPushPop && trace_.ranges.thread[range] != kNoIndex;
  }

  void FindMainThreads() {
    std::vector<uint32_t> count(trace_.threads.size(), 0);
    for (uint32_t i = 0; i < trace_.ranges.size(); ++i)
      if (Nests(i)) ++count[trace_.ranges.thread[i]];
    has_ranges_.assign(trace_.threads.size(), 0);
    main_thread_.assign(trace_.processes.size(), kNoIndex);
    for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      has_ranges_[thread] = count[thread] > 0;
      const uint32_t process = trace_.threads[thread].process;
      if (count[thread] == 0 || process == kNoIndex) continue;
      uint32_t& main = main_thread_[process];
      if (main == kNoIndex || count[thread] > count[main]) main = thread;
    }
  }

  // By start; of ranges that start together the longest encloses the others.
  void OrderRanges() {
    const Ranges& ranges = trace_.ranges;
    for (uint32_t i = 0; i < ranges.size(); ++i)
      if (Nests(i)) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      return ranges.start[a] != ranges.start[b] ? ranges.start[a] < ranges.start[b]
                                                : ranges.end[a] > ranges.end[b];
    });
  }

  uint32_t Innermost(uint32_t thread, Ns time) {
    auto& stack = stacks_[thread];
    while (!stack.empty() && trace_.ranges.end[stack.back()] <= time) stack.pop_back();
    return stack.empty() ? kNoIndex : stack.back();
  }

  void Open(uint32_t range, Attribution& out) {
    const uint32_t thread = trace_.ranges.thread[range];
    out.range_parent[range] = Innermost(thread, trace_.ranges.start[range]);
    stacks_[thread].push_back(range);
  }

  const Trace& trace_;
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<uint8_t> has_ranges_;
  std::vector<uint32_t> main_thread_, order_;
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
