// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/cpu.h"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/importers/nsys/chains.h"
#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

namespace {

void ReadSamples(Context& in) {
  enum : size_t { kId = 1, kThread };
  Chains chains(in, "SAMPLING_CALLCHAINS");
  CpuSamples& s = in.trace.cpu_samples;
  {
    Activity activity(in, "COMPOSITE_EVENTS", {"start", "id", "globalTid"}, Activity::End::kNone);
    const Rows& rows = activity.rows();
    while (activity.Next()) {
      const auto thread = rows.Integer(kThread);
      if (!thread) {
        activity.Skip();
        continue;
      }
      if (!in.hosts.KnowsProcess(*thread)) continue;
      s.time.push_back(activity.start());
      s.thread.push_back(in.hosts.Thread(*thread));
      s.chain.push_back(chains.Index(rows.Integer(kId)));
    }
  }
  SortByStart(s);
  s.chains = chains.Read();
}

// A run is a switch to a thread and the next one away from it; what the capture cuts off at either end is not
// known and left out.
void ReadRuns(Context& in) {
  enum : size_t { kCpu = 1, kIn, kThread };
  struct Switch {
    std::vector<Ns> time;
    std::vector<uint32_t> thread;
    std::vector<int32_t> cpu;  // -1 for a switch away
  } switches;
  {
    Activity activity(in, "SCHED_EVENTS", {"start", "cpu", "isSchedIn", "globalTid"}, Activity::End::kNone);
    const Rows& rows = activity.rows();
    while (activity.Next()) {
      const auto thread = rows.Integer(kThread), cpu = rows.Integer(kCpu);
      if (!thread || !cpu || *cpu < 0 || *cpu > std::numeric_limits<int32_t>::max()) {
        activity.Skip();
        continue;
      }
      if (!in.hosts.KnowsProcess(*thread)) continue;
      switches.time.push_back(activity.start());
      switches.thread.push_back(in.hosts.Thread(*thread));
      switches.cpu.push_back(rows.Integer(kIn, 0) != 0 ? static_cast<int32_t>(*cpu) : -1);
    }
  }
  // Of a thread's switches at one moment that away comes first.
  const std::vector<uint32_t> order =
      OrderByStart(switches.time, [&](size_t a, size_t b) { return switches.cpu[a] < switches.cpu[b]; });
  Reorder(order, switches.time, switches.thread, switches.cpu);
  CpuRuns& r = in.trace.cpu_runs;
  std::unordered_map<uint32_t, std::pair<Ns, int32_t>> running;
  for (size_t i = 0; i < switches.time.size(); ++i) {
    const uint32_t thread = switches.thread[i];
    if (switches.cpu[i] >= 0) {
      running[thread] = {switches.time[i], switches.cpu[i]};
    } else if (const auto found = running.find(thread); found != running.end()) {
      r.start.push_back(found->second.first);
      r.end.push_back(switches.time[i]);
      r.thread.push_back(thread);
      r.cpu.push_back(found->second.second);
      running.erase(found);
    }
  }
  SortByStart(r);
}

}  // namespace

void ReadCpu(Context& context) {
  ReadSamples(context);
  ReadRuns(context);
}

}  // namespace dladvisor::nsys
