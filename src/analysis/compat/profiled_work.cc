// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/profiled_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "src/analysis/context/profiler_step.h"

namespace dladvisor {
namespace {

// Until when the process's steps go on, where it has two or more.
std::map<uint32_t, Ns> EndsOfSteps(const Trace& trace) {
  const std::vector<std::optional<int64_t>> numbers = ProfilerStepNumbers(trace);
  std::set<int64_t> steps;
  std::map<uint32_t, Ns> ends;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const std::optional<int64_t>& number = numbers[trace.ranges.name[i]];
    const uint32_t thread = trace.ranges.thread[i];
    if (!number || thread == kNoIndex || trace.threads[thread].process == kNoIndex) continue;
    steps.insert(*number);
    Ns& end = ends.try_emplace(trace.threads[thread].process, std::numeric_limits<Ns>::min()).first->second;
    end = std::max(end, trace.ranges.end[i]);
  }
  if (steps.size() < 2) ends.clear();
  return ends;
}

}  // namespace

std::vector<ProfiledWork> FindProfiledWork(const Context& context) {
  const Trace& trace = context.trace;
  const std::map<uint32_t, Ns> ends = EndsOfSteps(trace);
  std::map<int64_t, ProfiledWork> by_rank;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const Ranks::Gpu& owner = context.ranks.gpus[gpu];
    ProfiledWork& rank = by_rank[owner.rank];
    rank.rank = owner.rank;
    if (const auto end = ends.find(owner.process); end != ends.end()) rank.end = end->second;
    const auto merge = [](std::vector<uint32_t>& rows, const std::vector<uint32_t>& more,
                          const GpuOperations& ops) {
      const auto middle = static_cast<std::ptrdiff_t>(rows.size());
      rows.insert(rows.end(), more.begin(), more.end());
      std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end(),
                         [&](uint32_t a, uint32_t b) { return ops.start[a] < ops.start[b]; });
    };
    merge(rank.work.kernels, context.work[gpu].kernels, trace.kernels);
    merge(rank.work.copies, context.work[gpu].copies, trace.copies);
    merge(rank.work.sets, context.work[gpu].sets, trace.sets);
    merge(rank.work.graphs, context.work[gpu].graphs, trace.graph_launches);
  }
  std::vector<ProfiledWork> result;
  for (auto& [rank, work] : by_rank) result.push_back(std::move(work));
  return result;
}

std::optional<double> Share(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace dladvisor
