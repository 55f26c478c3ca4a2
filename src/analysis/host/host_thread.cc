// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/host_thread.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {

const RelationOf<HostThreadRow>& HostThreadRelation() {
  static const auto relation =
      RelationOf<HostThreadRow>("host_thread", "Threads that launch GPU work, in the analysed window.")
          .Key("rank", &HostThreadRow::rank, kRankNumber, "Rank.")
          .Key("thread", &HostThreadRow::thread, Unit::kNone, "Thread id of the operating system.")
          .Column("name", &HostThreadRow::name, Unit::kText, "Its name.")
          .Column("launches", &HostThreadRow::launches, Unit::kCount, "GPU operations it launched.")
          .Column("cpus", &HostThreadRow::cpus, Unit::kCount, "CPUs it ran on.", capability::kThreadStates)
          .Column("migrations", &HostThreadRow::migrations, Unit::kCount, "Moves from one CPU to another.",
                  capability::kThreadStates)
          .Column("running_ns", &HostThreadRow::running_ns, Unit::kNanoseconds, "Time on a CPU.",
                  capability::kThreadStates)
          .Column("running_share", &HostThreadRow::running_share, Unit::kRatio,
                  "Of the time from its first switch to its last.", capability::kThreadStates);
  return relation;
}

std::vector<HostThreadRow> ComputeHostThreads(const Context& context) {
  const Trace& trace = context.trace;
  std::map<uint32_t, HostThreadRow> by_thread;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const Interval window = context.windows[gpu];
    const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows,
                         const std::vector<uint32_t>& calls) {
      for (const uint32_t i : rows) {
        if (ops.start[i] < window.start || ops.start[i] >= window.end || calls[i] == kNoIndex) continue;
        const uint32_t thread = trace.api_calls.thread[calls[i]];
        if (thread == kNoIndex) continue;
        HostThreadRow& row = by_thread[thread];
        row.rank = context.ranks.gpus[gpu].rank;
        ++row.launches;
      }
    };
    add(trace.kernels, context.work[gpu].kernels, context.launches.kernel);
    add(trace.copies, context.work[gpu].copies, context.launches.copy);
    add(trace.sets, context.work[gpu].sets, context.launches.set);
    add(trace.graph_launches, context.work[gpu].graphs, context.launches.graph);
  }
  struct Running {
    std::set<int32_t> cpus;
    int32_t last = -1;
    int64_t migrations = 0, ns = 0;
    Interval span{};
  };
  std::map<uint32_t, Running> running;
  for (size_t i = 0; i < trace.cpu_runs.size(); ++i) {
    const auto row = by_thread.find(trace.cpu_runs.thread[i]);
    if (row == by_thread.end()) continue;
    const Interval window = context.HostWindowOf(row->second.rank);
    const Interval time{std::max(trace.cpu_runs.start[i], window.start),
                        std::min(trace.cpu_runs.end[i], window.end)};
    if (time.length() <= 0) continue;
    Running& r = running[row->first];
    if (r.cpus.empty()) r.span = time;
    r.span.end = std::max(r.span.end, time.end);
    r.ns += time.length();
    r.migrations += r.last >= 0 && r.last != trace.cpu_runs.cpu[i];
    r.last = trace.cpu_runs.cpu[i];
    r.cpus.insert(r.last);
  }
  std::vector<HostThreadRow> rows;
  for (auto& [thread, row] : by_thread) {
    row.thread = trace.threads[thread].tid;
    if (!trace.threads[thread].name.empty()) row.name = trace.threads[thread].name;
    if (const auto found = running.find(thread); found != running.end()) {
      const Running& r = found->second;
      row.cpus = static_cast<int64_t>(r.cpus.size());
      row.migrations = r.migrations;
      row.running_ns = r.ns;
      row.running_share = static_cast<double>(r.ns) / static_cast<double>(r.span.length());
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const HostThreadRow& a, const HostThreadRow& b) {
    return std::tuple(a.rank, -a.launches, a.thread) < std::tuple(b.rank, -b.launches, b.thread);
  });
  return rows;
}

const Family& HostThreadFamily() {
  static const Family family = FamilyOf(HostThreadRelation(), ComputeHostThreads).Detail();
  return family;
}

}  // namespace dladvisor
