// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/floor_work.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Indices by start, longest first; nothing where the events lie in that order.
std::vector<uint32_t> OrderOf(const FloorEvents& events) {
  const auto before = [&](uint32_t a, uint32_t b) {
    return events.start[a] != events.start[b] ? events.start[a] < events.start[b]
                                              : events.end[a] > events.end[b];
  };
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

// The call of each kernel.
std::vector<uint32_t> Join(const FloorEvents& kernels, const FloorEvents& calls) {
  const int64_t most =
      calls.size() == 0 ? 0 : *std::max_element(calls.correlation.begin(), calls.correlation.end());
  std::vector<uint32_t> call(kernels.size(), kNone);
  if (most < static_cast<int64_t>(8 * calls.size() + 1'000'000)) {
    std::vector<uint32_t> by_id(static_cast<size_t>(most) + 1, kNone);
    for (uint32_t i = 0; i < calls.size(); ++i)
      if (calls.correlation[i] >= 0) by_id[static_cast<size_t>(calls.correlation[i])] = i;
    for (size_t i = 0; i < kernels.size(); ++i)
      if (kernels.correlation[i] >= 0 && kernels.correlation[i] <= most)
        call[i] = by_id[static_cast<size_t>(kernels.correlation[i])];
  } else {
    std::unordered_map<int64_t, uint32_t> by_id;
    by_id.reserve(calls.size());
    for (uint32_t i = 0; i < calls.size(); ++i) by_id[calls.correlation[i]] = i;
    for (size_t i = 0; i < kernels.size(); ++i)
      if (const auto found = by_id.find(kernels.correlation[i]); found != by_id.end())
        call[i] = found->second;
  }
  return call;
}

int64_t IdleTime(const FloorEvents& kernels) {
  int64_t idle = 0, end = std::numeric_limits<int64_t>::max();
  for (const uint32_t i : OrderOf(kernels)) {
    idle += std::max<int64_t>(0, kernels.start[i] - end);
    end = end == std::numeric_limits<int64_t>::max() ? kernels.end[i] : std::max(end, kernels.end[i]);
  }
  return idle;
}

// The innermost range around each call's start.
std::vector<uint32_t> InnermostRanges(const FloorEvents& ranges, const FloorEvents& calls) {
  std::unordered_map<int64_t, std::vector<uint32_t>> open;  // by thread, outermost first
  std::vector<uint32_t> innermost(calls.size(), kNone);
  const std::vector<uint32_t> order = OrderOf(ranges);
  size_t next = 0;
  int64_t last_thread = 0;
  std::vector<uint32_t>* stack = nullptr;
  const auto stack_of = [&](int64_t thread) -> std::vector<uint32_t>& {
    if (!stack || thread != last_thread) stack = &open[last_thread = thread];
    return *stack;
  };
  const auto close = [&](std::vector<uint32_t>& of, int64_t time) {
    while (!of.empty() && ranges.end[of.back()] <= time) of.pop_back();
  };
  for (const uint32_t call : OrderOf(calls)) {
    for (; next < order.size() && ranges.start[order[next]] <= calls.start[call]; ++next) {
      std::vector<uint32_t>& of = stack_of(ranges.thread[order[next]]);
      close(of, ranges.start[order[next]]);
      of.push_back(order[next]);
    }
    std::vector<uint32_t>& of = stack_of(calls.thread[call]);
    close(of, calls.start[call]);
    if (!of.empty()) innermost[call] = of.back();
  }
  return innermost;
}

FloorResult WorkOn(const FloorProcess& process) {
  FloorResult result;
  const FloorEvents& calls = process.calls;
  result.kernels = static_cast<int64_t>(process.kernels.size());
  result.idle_ns = IdleTime(process.kernels);
  const std::vector<uint32_t> call_of = Join(process.kernels, calls);
  const std::vector<uint32_t> range_of = InnermostRanges(process.ranges, calls);
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t i = 0; i < process.ranges.size(); ++i)
    if (process.ranges.correlation[i] == 1)
      steps.emplace_back(process.ranges.start[i], process.ranges.end[i]);
  std::sort(steps.begin(), steps.end());
  for (const uint32_t call : call_of) {
    if (call == kNone) continue;
    ++result.launched;
    result.in_range += range_of[call] != kNone;
    const auto after = std::upper_bound(steps.begin(), steps.end(),
                                        std::pair(calls.start[call], std::numeric_limits<int64_t>::max()));
    result.in_step += after != steps.begin() && std::prev(after)->second > calls.start[call];
  }
  return result;
}

}  // namespace

void FloorEvents::Append(const FloorEvents& other) {
  const auto append = [&](auto column) {
    (this->*column).insert((this->*column).end(), (other.*column).begin(), (other.*column).end());
  };
  append(&FloorEvents::start);
  append(&FloorEvents::end);
  append(&FloorEvents::thread);
  append(&FloorEvents::correlation);
}

FloorResult WorkOn(std::span<FloorProcesses> parts) {
  FloorProcesses whole;
  for (FloorProcesses& part : parts) {
    for (auto& [pid, process] : part) {
      FloorProcess& to = whole[pid];
      to.kernels.Append(process.kernels);
      to.calls.Append(process.calls);
      to.ranges.Append(process.ranges);
    }
    part.clear();
  }
  std::vector<const FloorProcess*> processes;
  for (const auto& [pid, process] : whole) processes.push_back(&process);
  std::vector<FloorResult> results(processes.size());
  ParallelFor(processes.size(), [&](size_t i) { results[i] = WorkOn(*processes[i]); });
  FloorResult sum;
  for (const FloorResult& r : results) {
    sum.kernels += r.kernels;
    sum.launched += r.launched;
    sum.idle_ns += r.idle_ns;
    sum.in_range += r.in_range;
    sum.in_step += r.in_step;
  }
  return sum;
}

}  // namespace dladvisor
