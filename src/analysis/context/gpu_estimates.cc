// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/gpu_estimates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "src/analysis/context/occupancy.h"
#include "src/trace/intervals.h"

namespace dladvisor {
namespace {

// The sum of what the kernels that run at a time each have, cut at 1, over time.
class CappedSum {
 public:
  void Add(Interval time, double value) {
    Pass(time.start);
    running_.emplace(time.end, value);
    sum_ += value;
  }
  double Finish() {
    while (!running_.empty()) Pass(running_.top().first);
    return total_;
  }

 private:
  // Kernels end, and their shares with them, until then.
  void Pass(Ns time) {
    while (!running_.empty() && running_.top().first <= time) {
      Advance(running_.top().first);
      sum_ -= running_.top().second;
      running_.pop();
      if (running_.empty()) sum_ = 0;
    }
    Advance(time);
  }
  void Advance(Ns time) {
    if (!running_.empty()) total_ += std::min(1.0, sum_) * static_cast<double>(time - now_);
    now_ = time;
  }

  std::priority_queue<std::pair<Ns, double>, std::vector<std::pair<Ns, double>>, std::greater<>> running_;
  double sum_ = 0, total_ = 0;
  Ns now_ = 0;
};

}  // namespace

GpuEstimates EstimateGpu(const Context& context, size_t gpu, Interval window) {
  const Kernels& kernels = context.trace.kernels;
  KernelEstimates of_kernels(context.trace, context.trace.devices[context.ranks.gpus[gpu].device]);
  GpuEstimates estimates;
  if (window.length() <= 0) return estimates;
  const auto length = static_cast<double>(window.length());
  CappedSum efficiency;
  RunningUnion busy;
  Ns busy_time = 0;
  const auto count = [&](Interval interval) { busy_time += interval.length(); };
  bool any_blocks = false;
  double occupancy = 0, occupancy_time = 0;
  for (const uint32_t k : context.work[gpu].kernels) {
    const Interval time{std::max(kernels.start[k], window.start), std::min(kernels.end[k], window.end)};
    if (time.length() <= 0) continue;
    busy.Add(time, count);
    const KernelEstimate estimate = of_kernels.Of(k);
    if (estimate.blocks_per_sm) {
      any_blocks = true;
      efficiency.Add(time, *estimate.blocks_per_sm);
    }
    if (estimate.occupancy) {
      occupancy += *estimate.occupancy * static_cast<double>(time.length());
      occupancy_time += static_cast<double>(time.length());
    }
  }
  busy.Finish(count);
  estimates.utilization = static_cast<double>(busy_time) / length;
  if (any_blocks) estimates.sm_efficiency = efficiency.Finish() / length;
  if (occupancy_time > 0) estimates.achieved_occupancy = occupancy / occupancy_time;
  return estimates;
}

}  // namespace dladvisor
