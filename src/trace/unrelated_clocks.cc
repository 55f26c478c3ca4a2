// SPDX-License-Identifier: Apache-2.0
#include "src/trace/unrelated_clocks.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "engine/base/value.h"

namespace dladvisor {
namespace {

// Work begins after its launch, but for what clocks differ by, and waits in no queue for so long after the
// last call.
constexpr Ns kMostBefore = 1'000'000'000, kMostAfter = 60'000'000'000;

struct TimeSpan {
  Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();

  template <class Events>
  void Add(const Events& events) {
    for (size_t i = 0; i < events.size(); ++i) {
      first = std::min(first, events.start[i]);
      last = std::max(last, events.end[i]);
    }
  }
  bool IsEmpty() const { return first > last; }
};

// From the time of the calls to that of the GPUs, or back; 0 where both are of one clock.
Ns DistanceOfClocks(const TimeSpan& calls, const TimeSpan& gpus) {
  if (calls.IsEmpty() || gpus.IsEmpty()) return 0;
  if (gpus.last < calls.first - kMostBefore) return calls.first - gpus.last;
  if (gpus.first > calls.last + kMostAfter) return gpus.first - calls.last;
  return 0;
}

// Work of other calls, as of those before the profile began, may lie anywhere.
bool IsLaunchedByCalls(const Trace& trace) {
  std::set<std::pair<uint32_t, int64_t>> launched;  // process and correlation
  const auto add = [&](const GpuOperations& ops) {
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops.correlation[i] != kNoCorrelation) launched.emplace(ops.process[i], ops.correlation[i]);
  };
  add(trace.kernels);
  add(trace.copies);
  add(trace.sets);
  const ApiCalls& calls = trace.api_calls;
  for (size_t i = 0; i < calls.size(); ++i)
    if (launched.contains({trace.threads[calls.thread[i]].process, calls.correlation[i]})) return true;
  return false;
}

}  // namespace

void DropHostOfUnrelatedClock(Trace& trace) {
  TimeSpan calls, gpus;
  calls.Add(trace.api_calls);
  gpus.Add(trace.kernels);
  gpus.Add(trace.copies);
  gpus.Add(trace.sets);
  gpus.Add(trace.graph_launches);
  const Ns distance = DistanceOfClocks(calls, gpus);
  if (distance == 0 || !IsLaunchedByCalls(trace)) return;
  trace.api_calls = {};
  trace.syncs = {};
  trace.ranges = {};
  trace.frames = {};
  trace.os_calls = {};
  trace.overheads = {};
  trace.cpu_samples = {};
  trace.cpu_runs = {};
  trace.mpi_calls = {};
  trace.cuda_events = {};
  trace.memory_events = {};
  trace.clock_origin_utc_ns.reset();
  trace.session_duration_ns.reset();
  if (const auto first = FirstTime(trace)) SetOrigin(trace, *first);
  trace.health.notes.push_back("The times of the GPU are of another clock than those of the host, " +
                               FormatValue(distance, Unit::kNanoseconds) +
                               " apart: what the host did is left out.");
}

}  // namespace dladvisor
