// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/gpu_summary.h"

#include <algorithm>

#include "src/analysis/context/gpu_estimates.h"
#include "src/analysis/context/profiler_step.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<GpuSummaryRow>& GpuSummaryRelation() {
  using Row = GpuSummaryRow;
  static const auto relation =
      RelationOf<Row>("gpu_summary", "How well kernels fill each GPU over all profiled steps.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
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

const Family& GpuSummaryFamily() {
  static const Family family = FamilyOf(GpuSummaryRelation(), ComputeGpuSummaries).OnDemand();
  return family;
}

}  // namespace dladvisor
