#include "src/analysis/ranks.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// Calls `visit` with each kind of GPU work.
template <class Visit>
void ForEachKind(const Trace& trace, Visit visit) {
  visit(trace.kernels, &GpuWork::kernels);
  visit(trace.copies, &GpuWork::copies);
  visit(trace.sets, &GpuWork::sets);
  visit(trace.graph_launches, &GpuWork::graphs);
}

// The rank that the profile tells, else RANK of the profiled process's environment, as torchrun and most
// launchers set it.
std::optional<int64_t> RankOfProfile(const Trace& trace) {
  if (trace.rank) return trace.rank;
  for (const char* name : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const auto found = trace.environment.find(name);
    if (found == trace.environment.end()) continue;
    int64_t rank = 0;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace

Ranks FindRanks(const Trace& trace, const AnalysisOptions& options) {
  std::vector<std::vector<uint8_t>> is_used(trace.processes.size(),
                                            std::vector<uint8_t>(trace.devices.size(), 0));
  ForEachKind(trace, [&](const GpuOps& ops, auto) {
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops.process[i] != kNoIndex && ops.device[i] != kNoIndex) is_used[ops.process[i]][ops.device[i]] = 1;
  });
  std::vector<std::pair<uint32_t, uint32_t>> used;  // (process, device)
  for (uint32_t process = 0; process < is_used.size(); ++process)
    for (uint32_t device = 0; device < is_used[process].size(); ++device)
      if (is_used[process][device]) used.emplace_back(process, device);
  // Processes in order of their first device, then pid.
  std::map<uint32_t, int64_t> first_device;
  for (const auto& [process, device] : used) {
    const int64_t ordinal = trace.devices[device].ordinal;
    const auto [entry, is_new] = first_device.emplace(process, ordinal);
    if (!is_new) entry->second = std::min(entry->second, ordinal);
  }
  std::vector<uint32_t> processes;
  for (const auto& [process, device] : first_device) processes.push_back(process);
  std::sort(processes.begin(), processes.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(first_device[a], trace.processes[a].pid, a) <
           std::tuple(first_device[b], trace.processes[b].pid, b);
  });

  Ranks ranks;
  ranks.of_process.assign(trace.processes.size(), -1);
  int64_t next = options.rank.value_or(processes.size() == 1 ? RankOfProfile(trace).value_or(0) : 0);
  for (const uint32_t process : processes) {
    ranks.of_process[process] = next;
    std::vector<Ranks::Gpu> gpus;
    for (const auto& [user, device] : used)
      if (user == process) gpus.push_back({next, process, device});
    std::sort(gpus.begin(), gpus.end(), [&](const Ranks::Gpu& a, const Ranks::Gpu& b) {
      return trace.devices[a.device].ordinal < trace.devices[b.device].ordinal;
    });
    ranks.gpus.insert(ranks.gpus.end(), gpus.begin(), gpus.end());
    ++next;
  }
  return ranks;
}

std::vector<GpuWork> SplitWork(const Trace& trace, const Ranks& ranks) {
  std::vector<GpuWork> work(ranks.gpus.size());
  std::vector<std::vector<uint32_t>> index(trace.processes.size(),
                                           std::vector<uint32_t>(trace.devices.size(), kNoIndex));
  for (size_t i = 0; i < ranks.gpus.size(); ++i)
    index[ranks.gpus[i].process][ranks.gpus[i].device] = static_cast<uint32_t>(i);
  ForEachKind(trace, [&](const GpuOps& ops, auto kind) {
    for (uint32_t i = 0; i < ops.size(); ++i)
      if (ops.process[i] != kNoIndex && ops.device[i] != kNoIndex)
        (work[index[ops.process[i]][ops.device[i]]].*kind).push_back(i);
  });
  return work;
}

Interval FindActivity(const Trace& trace) {
  constexpr Ns kMax = std::numeric_limits<Ns>::max(), kMin = std::numeric_limits<Ns>::min();
  Interval activity{kMax, kMin};
  const auto add = [&](Ns start, Ns end) {
    activity.start = std::min(activity.start, start);
    activity.end = std::max(activity.end, end);
  };
  ForEachKind(trace, [&](const GpuOps& ops, auto) {
    for (size_t i = 0; i < ops.size(); ++i) add(ops.start[i], ops.end[i]);
  });
  for (size_t i = 0; i < trace.api_calls.size(); ++i) add(trace.api_calls.start[i], trace.api_calls.end[i]);
  for (size_t i = 0; i < trace.ranges.size(); ++i)
    add(trace.ranges.start[i], trace.ranges.open[i] ? trace.ranges.start[i] : trace.ranges.end[i]);
  return activity.start > activity.end ? Interval{} : activity;
}

}  // namespace dladvisor
