// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/copy_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace dladvisor {
namespace {

// Ends of what was queued in each stream, in order of start.
class StreamEnds {
 public:
  explicit StreamEnds(const GpuOperations& operations) : operations_(operations) {}

  // The last end, in the stream of `copy`, of what starts before it; the copy's start at most.
  Ns Before(const Copies& copies, size_t copy, Ns otherwise) {
    for (; next_ < operations_.size() && operations_.start[next_] < copies.start[copy]; ++next_) {
      Ns& end = ends_.try_emplace(KeyOf(operations_, next_), operations_.end[next_]).first->second;
      end = std::max(end, operations_.end[next_]);
    }
    const auto last = ends_.find(KeyOf(copies, copy));
    return last == ends_.end() ? otherwise : std::min(last->second, copies.start[copy]);
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, int64_t>;  // process, device, stream
  static Key KeyOf(const GpuOperations& operations, size_t i) {
    return {operations.process[i], operations.device[i], operations.stream[i]};
  }

  const GpuOperations& operations_;
  size_t next_ = 0;
  std::map<Key, Ns> ends_;
};

}  // namespace

CopyCalls FindCopyCalls(const Context& context) {
  const Copies& copies = context.trace.copies;
  const ApiCalls& calls = context.trace.api_calls;
  CopyCalls found{std::vector<bool>(calls.size(), false), calls.start};
  StreamEnds kernels(context.trace.kernels), graphs(context.trace.graph_launches);
  std::vector<bool> seen(calls.size(), false);
  for (size_t i = 0; i < copies.size(); ++i) {
    const uint32_t call = context.launches.copy[i];
    if (call == kNoIndex) continue;
    found.pageable[call] =
        copies.source[i] == MemoryKind::kPageable || copies.destination[i] == MemoryKind::kPageable;
    if (seen[call]) continue;  // what comes behind the first of a call's copies is the call's own
    seen[call] = true;
    const Ns end =
        std::max(kernels.Before(copies, i, calls.start[call]), graphs.Before(copies, i, calls.start[call]));
    if (end < calls.end[call]) found.waits_until[call] = std::max(end, calls.start[call]);
  }
  return found;
}

}  // namespace dladvisor
