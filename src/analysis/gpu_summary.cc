#include "src/analysis/gpu_summary.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "src/analysis/occupancy.h"
#include "src/analysis/profiler_step.h"
#include "src/trace/intervals.h"

namespace dladvisor {

const RelationOf<GpuSummaryRow>& GpuSummaryRelation() {
  using Row = GpuSummaryRow;
  static const auto relation =
      RelationOf<Row>("gpu_summary", "How well kernels fill each GPU over all profiled steps.")
          .Key("rank", &Row::rank, Unit::kNone, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Column("steps_ns", &Row::steps_ns, Unit::kNanoseconds,
                  "From the first step's start to the last one's end.")
          .Column("gpu_utilization", &Row::gpu_utilization, Unit::kRatio,
                  "Share of it with a kernel running.")
          .Column("est_sm_efficiency", &Row::est_sm_efficiency, Unit::kRatio,
                  "Mean over it of min(1, blocks / multiprocessors) of the kernels that run.")
          .Column("est_achieved_occupancy", &Row::est_achieved_occupancy, Unit::kRatio,
                  "Mean over kernels, weighted by duration, of the share of a multiprocessor's threads that "
                  "the blocks it gets at once keep busy.");
  return relation;
}

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
    if (const auto blocks = of_kernels.BlocksPerSm(k)) {
      any_blocks = true;
      efficiency.Add(time, *blocks);
    }
    if (const auto share = of_kernels.Occupancy(k)) {
      occupancy += *share * static_cast<double>(time.length());
      occupancy_time += static_cast<double>(time.length());
    }
  }
  busy.Finish(count);
  estimates.utilization = static_cast<double>(busy_time) / length;
  if (any_blocks) estimates.sm_efficiency = efficiency.Finish() / length;
  if (occupancy_time > 0) estimates.achieved_occupancy = occupancy / occupancy_time;
  return estimates;
}

std::vector<GpuSummaryRow> ComputeGpuSummaries(const Context& context) {
  const std::vector<ProfilerSteps> ranks = FindProfilerSteps(context);
  std::vector<GpuSummaryRow> rows;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const ProfilerSteps& r) {
      return r.rank == context.ranks.gpus[gpu].rank;
    });
    if (rank == ranks.end()) continue;
    const Interval window{rank->steps.front().time.start, rank->steps.back().time.end};
    const GpuEstimates estimates = EstimateGpu(context, gpu, window);
    GpuSummaryRow& row = rows.emplace_back();
    row.rank = rank->rank;
    row.device = context.trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.steps_ns = window.length();
    row.gpu_utilization = estimates.utilization;
    row.est_sm_efficiency = estimates.sm_efficiency;
    row.est_achieved_occupancy = estimates.achieved_occupancy;
  }
  return rows;
}

}  // namespace dladvisor
