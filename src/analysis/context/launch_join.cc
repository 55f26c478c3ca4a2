// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/launch_join.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// API calls of each process by correlation, the first call of a correlation.
class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) : by_process_(trace.processes.size()) {
    const ApiCalls& calls = trace.api_calls;
    const auto each = [&](auto visit) {
      for (uint32_t i = 0; i < calls.size(); ++i) {
        if (calls.correlation[i] <= 0 || calls.thread[i] == kNoIndex) continue;  // 0: no GPU work
        const uint32_t process = trace.threads[calls.thread[i]].process;
        if (process != kNoIndex) visit(by_process_[process], calls.correlation[i], i);
      }
    };
    each([](Process& p, int64_t correlation, uint32_t) {
      p.first = std::min(p.first, correlation);
      p.last = std::max(p.last, correlation);
      ++p.calls;
    });
    for (Process& p : by_process_)
      if (p.IsDense()) p.dense.assign(static_cast<size_t>(p.last - p.first) + 1, kNoIndex);
    each([](Process& p, int64_t correlation, uint32_t i) {
      if (!p.IsDense())
        p.sparse.emplace_back(correlation, i);
      else if (uint32_t& call = p.dense[static_cast<size_t>(correlation - p.first)]; call == kNoIndex)
        call = i;
    });
    for (Process& p : by_process_) std::sort(p.sparse.begin(), p.sparse.end());
  }

  uint32_t Find(uint32_t process, int64_t correlation) const {
    if (process == kNoIndex || correlation <= 0) return kNoIndex;
    const Process& p = by_process_[process];
    if (p.IsDense())
      return correlation < p.first || correlation > p.last
                 ? kNoIndex
                 : p.dense[static_cast<size_t>(correlation - p.first)];
    const auto found =
        std::lower_bound(p.sparse.begin(), p.sparse.end(), std::pair(correlation, uint32_t{0}));
    return found != p.sparse.end() && found->first == correlation ? found->second : kNoIndex;
  }

 private:
  // The profiler numbers the calls of a process, so that a table by number is mostly full; it is six times as
  // fast to fill and ask as a sorted list. A file may hold any numbers, though.
  struct Process {
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0, calls = 0;
    std::vector<uint32_t> dense;
    std::vector<std::pair<int64_t, uint32_t>> sparse;
    bool IsDense() const { return calls > 0 && (last - first) / 8 < calls; }
  };

  std::vector<Process> by_process_;
};

std::vector<uint32_t> Join(const CallIndex& index, const GpuOperations& ops) {
  std::vector<uint32_t> calls(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) calls[i] = index.Find(ops.process[i], ops.correlation[i]);
  return calls;
}

}  // namespace

Launches FindLaunches(const Trace& trace) {
  const CallIndex index(trace);
  return {Join(index, trace.kernels), Join(index, trace.copies), Join(index, trace.sets),
          Join(index, trace.graph_launches)};
}

}  // namespace dladvisor
