// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/analysed_window.h"

#include <algorithm>

#include "src/analysis/context/program_phase.h"

namespace dladvisor {
namespace {

// TensorFlow records one call of a session: no start of a program is before its first operator.
constexpr char kOfOneCall[] = "timeline";

}  // namespace

std::vector<Interval> FindWindows(const Trace& trace, const Ranks& ranks,
                                  const std::vector<GpuWork>& all_work, const Launches& launches,
                                  const std::map<int64_t, Phases>& phases, const Steps& steps,
                                  Interval activity) {
  const std::vector<GpuWork> counting =
      phases.empty() ? std::vector<GpuWork>{} : WorkThatCounts(trace, ranks, all_work, launches, phases);
  const std::vector<GpuWork>& work = phases.empty() ? all_work : counting;
  std::map<int64_t, Interval> by_rank;
  for (size_t i = 0; i < ranks.gpus.size(); ++i) {
    const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows) {
      for (const uint32_t row : rows) {
        const auto [window, is_new] =
            by_rank.try_emplace(ranks.gpus[i].rank, Interval{ops.start[row], ops.end[row]});
        if (is_new) continue;
        window->second.start = std::min(window->second.start, ops.start[row]);
        window->second.end = std::max(window->second.end, ops.end[row]);
      }
    };
    add(trace.kernels, work[i].kernels);
    add(trace.copies, work[i].copies);
    add(trace.sets, work[i].sets);
    add(trace.graph_launches, work[i].graphs);
  }
  if (trace.format == kOfOneCall)
    for (auto& [rank, window] : by_rank) window.start = std::min(window.start, activity.start);
  for (const auto& [rank, list] : steps.by_rank) {
    const auto first = std::find_if(list.begin(), list.end(), [](const Step& s) { return !s.warmup; });
    if (first != list.end() && list.back().time.end > first->time.start)
      by_rank[rank] = {first->time.start, list.back().time.end};
  }
  std::vector<Interval> windows;
  for (const Ranks::Gpu& gpu : ranks.gpus) windows.push_back(by_rank[gpu.rank]);
  return windows;
}

}  // namespace dladvisor
