// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/rank_assignment.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

// The first of these variables of the profiled process that is a number.
std::optional<int64_t> NumberOf(const Trace& trace, std::initializer_list<const char*> variables) {
  for (const char* name : variables) {
    const auto found = trace.environment.find(name);
    if (found == trace.environment.end()) continue;
    int64_t number = 0;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  }
  return std::nullopt;
}

// The one rank that the names of all steps contain.
std::optional<int64_t> RankOfStepNames(const Trace& trace) {
  static const RE2 pattern(R"((?i)(?:step|iter)[a-z]*[ _#:]*\d+.*?[^a-z]rank[ _#:-]?(\d{1,6})(?:\D|$))");
  std::optional<int64_t> rank;
  for (NameId id = 0; id < trace.names.size(); ++id) {
    const std::string_view name = trace.names.View(id);
    int64_t found = 0;
    if (name.find("rank") == std::string_view::npos ||
        !RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern, &found))
      continue;
    if (rank && *rank != found) return std::nullopt;
    rank = found;
  }
  return rank;
}

}  // namespace

// RANK and its like are set by torchrun, Slurm, Open MPI and MPICH.
RecordedRank FindRecordedRank(const Trace& trace) {
  RecordedRank recorded;
  recorded.node = NumberOf(trace, {"GROUP_RANK", "NODE_RANK", "SLURM_NODEID"});
  recorded.local_rank =
      NumberOf(trace, {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"});
  if (trace.rank) {
    recorded.rank = trace.rank;
    recorded.by = "profile";
  } else if ((recorded.rank =
                  NumberOf(trace, {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}))) {
    recorded.by = "environment";
  } else if ((recorded.rank = RankOfStepNames(trace))) {
    recorded.by = "range";
  }
  return recorded;
}

Ranks FindRanks(const Trace& trace, const AnalysisOptions& options) {
  std::vector<std::vector<uint8_t>> is_used(trace.processes.size(),
                                            std::vector<uint8_t>(trace.devices.size(), 0));
  ForEachKind(trace, [&](const GpuOperations& ops, auto) {
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
  int64_t next = options.rank.value_or(processes.size() == 1 ? FindRecordedRank(trace).rank.value_or(0) : 0);
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
  ForEachKind(trace, [&](const GpuOperations& ops, auto kind) {
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
  ForEachKind(trace, [&](const GpuOperations& ops, auto) {
    for (size_t i = 0; i < ops.size(); ++i) add(ops.start[i], ops.end[i]);
  });
  for (size_t i = 0; i < trace.api_calls.size(); ++i) add(trace.api_calls.start[i], trace.api_calls.end[i]);
  for (size_t i = 0; i < trace.ranges.size(); ++i)
    add(trace.ranges.start[i], trace.ranges.open[i] ? trace.ranges.start[i] : trace.ranges.end[i]);
  return activity.start > activity.end ? Interval{} : activity;
}

}  // namespace dladvisor
