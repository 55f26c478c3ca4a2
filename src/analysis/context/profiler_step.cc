// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/profiler_step.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "src/analysis/context/serving_step.h"

namespace dladvisor {
namespace {

constexpr Interval kNothing{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};

void Extend(Interval& interval, Interval by) {
  interval.start = std::min(interval.start, by.start);
  interval.end = std::max(interval.end, by.end);
}

// Calls visit(launching call or kNoIndex, time) for the rank's GPU operations.
template <class Visit>
void ForEachLaunched(const Context& context, int64_t rank, Visit visit) {
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    if (context.ranks.gpus[gpu].rank != rank) continue;
    const auto each = [&](const GpuOperations& ops, const std::vector<uint32_t>& calls,
                          const std::vector<uint32_t>& rows) {
      for (const uint32_t row : rows) visit(calls[row], Interval{ops.start[row], ops.end[row]});
    };
    each(context.trace.kernels, context.launches.kernel, context.work[gpu].kernels);
    each(context.trace.copies, context.launches.copy, context.work[gpu].copies);
    each(context.trace.sets, context.launches.set, context.work[gpu].sets);
    each(context.trace.graph_launches, context.launches.graph, context.work[gpu].graphs);
  }
}

// Moves the steps' ends to where the GPU is through with their work, and drops cut-off ones at the end.
void AddGpuWork(const Context& context, int64_t rank, std::vector<ProfilerStep>& steps) {
  std::vector<Interval> gpu(steps.size(), kNothing);
  std::vector<int64_t> launched(steps.size(), 0);
  std::vector<Ns> other_ends;  // of work that no step launched
  ForEachLaunched(context, rank, [&](uint32_t call, Interval time) {
    if (call != kNoIndex) {
      const Interval launch{context.trace.api_calls.start[call], context.trace.api_calls.end[call]};
      const auto after = std::upper_bound(steps.begin(), steps.end(), launch.start,
                                          [](Ns t, const ProfilerStep& s) { return t < s.host.start; });
      if (after != steps.begin() && launch.end <= std::prev(after)->host.end) {
        const auto i = static_cast<size_t>(std::prev(after) - steps.begin());
        Extend(gpu[i], time);
        ++launched[i];
        return;
      }
    }
    other_ends.push_back(time.end);
  });
  if (std::all_of(launched.begin(), launched.end(), [](int64_t n) { return n == 0; })) return;
  Ns previous_end = steps.front().host.start;
  if (launched.front() > 0)
    for (const Ns end : other_ends)
      if (end < gpu.front().start) previous_end = std::max(previous_end, end);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].time.start = std::max(previous_end, steps[i].host.start);
    steps[i].time.end = std::max({steps[i].time.start, steps[i].host.end,
                                  launched[i] > 0 ? gpu[i].end : std::numeric_limits<Ns>::min()});
    previous_end = steps[i].time.end;
  }
  size_t keep = steps.size();
  while (keep > 1 && launched[keep - 1] == 0) --keep;
  if (keep > 1 && 0.8 * static_cast<double>(launched[keep - 2]) > static_cast<double>(launched[keep - 1]))
    --keep;
  steps.resize(keep);
}

// What the host recorded of each process: ranges, else API calls; kNothing where neither.
std::vector<Interval> HostTimes(const Trace& trace) {
  std::vector<Interval> ranges(trace.processes.size(), kNothing), calls = ranges;
  const auto add = [&](std::vector<Interval>& times, uint32_t thread, Interval time) {
    const uint32_t process = thread == kNoIndex ? kNoIndex : trace.threads[thread].process;
    if (process != kNoIndex) Extend(times[process], time);
  };
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const std::string_view domain = trace.names.View(trace.ranges.domain[i]);
    if (!trace.ranges.open[i] && domain != "user_annotation" && domain != "nn.Module")
      add(ranges, trace.ranges.thread[i], {trace.ranges.start[i], trace.ranges.end[i]});
  }
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    add(calls, trace.api_calls.thread[i], {trace.api_calls.start[i], trace.api_calls.end[i]});
  for (size_t process = 0; process < ranges.size(); ++process)
    if (ranges[process] == kNothing) ranges[process] = calls[process];
  return ranges;
}

// Which the viewers do not know.
bool AreServingSteps(std::string_view pattern) {
  return pattern == kEngineStep || pattern == kEngineExecution;
}

}  // namespace

std::optional<int64_t> ProfilerStepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  int64_t number = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

std::vector<std::optional<int64_t>> ProfilerStepNumbers(const Trace& trace) {
  std::vector<std::optional<int64_t>> numbers(trace.names.size());
  for (NameId name = 0; name < numbers.size(); ++name)
    numbers[name] = ProfilerStepNumber(trace.names.View(name));
  return numbers;
}

std::vector<std::vector<ProfilerStep>> ProfilerStepRanges(const Trace& trace) {
  std::vector<std::vector<ProfilerStep>> steps(trace.processes.size());
  const std::vector<std::optional<int64_t>> numbers = ProfilerStepNumbers(trace);
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const std::optional<int64_t>& number = numbers[trace.ranges.name[i]];
    const uint32_t thread = trace.ranges.thread[i];
    if (!number || thread == kNoIndex || trace.threads[thread].process == kNoIndex) continue;
    const Interval time{trace.ranges.start[i], trace.ranges.end[i]};
    steps[trace.threads[thread].process].push_back({*number, time, time});
  }
  return steps;
}

std::vector<ProfilerSteps> FindProfilerSteps(const Context& context) {
  const Trace& trace = context.trace;
  const std::vector<std::vector<ProfilerStep>> ranges = ProfilerStepRanges(trace);
  std::optional<std::vector<Interval>> host_times;  // where steps do not do
  std::map<int64_t, ProfilerSteps> by_rank;
  for (const Ranks::Gpu& gpu : context.ranks.gpus) by_rank[gpu.rank] = {gpu.rank, gpu.process, {}};
  if (by_rank.empty())
    for (uint32_t process = 0; process < trace.processes.size(); ++process)
      by_rank[process] = {process, process, {}};
  std::vector<ProfilerSteps> result;
  for (auto& [rank, found] : by_rank) {
    found.steps = ranges[found.process];
    if (found.steps.empty() && context.steps.source == "ranges" &&
        !AreServingSteps(context.steps.range_pattern))
      for (const auto& [owner, steps] : context.steps.by_rank)
        if (owner == rank)
          for (const Step& step : steps) found.steps.push_back({step.number, step.time, step.time});
    const bool are_ours = !found.steps.empty() && ranges[found.process].empty();
    if (found.steps.empty()) {
      if (!host_times) host_times = HostTimes(trace);
      const Interval time = (*host_times)[found.process];
      if (time == kNothing) continue;
      found.steps.push_back({0, time, time});
    }
    if (!are_ours) AddGpuWork(context, rank, found.steps);
    result.push_back(std::move(found));
  }
  return result;
}

}  // namespace dladvisor
