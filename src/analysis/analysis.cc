#include "src/analysis/analysis.h"

#include "src/analysis/api_name.h"
#include "src/analysis/attribution.h"
#include "src/analysis/copy_kind.h"
#include "src/analysis/gpu.h"
#include "src/analysis/gpu_metric.h"
#include "src/analysis/kernel_name.h"
#include "src/analysis/launch.h"
#include "src/analysis/launches.h"
#include "src/analysis/op_path.h"
#include "src/analysis/profile.h"
#include "src/analysis/range_name.h"
#include "src/analysis/ranks.h"
#include "src/analysis/resource_usage.h"
#include "src/analysis/run.h"
#include "src/analysis/step.h"
#include "src/analysis/step_detection.h"
#include "src/analysis/sync_site.h"
#include "src/analysis/system.h"
#include "src/analysis/tensor_core.h"
#include "src/analysis/time_ledger.h"

namespace dladvisor {

Context MakeContext(const Trace& trace, const AnalysisOptions& options) {
  Context context{trace, options, FindActivity(trace), FindRanks(trace, options), {}, {}, {}, {}, {}, {}, {}};
  context.work = SplitWork(trace, context.ranks);
  context.launches = FindLaunches(trace);
  context.attribution = Attribute(trace, context.launches);
  context.paths = std::make_shared<OpPaths>(trace, context.attribution.range_parent);
  context.kernels = ClassifyKernels(trace);
  context.steps = FindSteps(trace, context.ranks, context.work, context.launches, options);
  context.windows = FindWindows(context.ranks, context.steps, context.activity);
  return context;
}

std::vector<const Schema*> FactSchemas() {
  return {&RunRelation().schema(),        &ProfileRelation().schema(),       &DiagnosticRelation().schema(),
          &SystemRelation().schema(),     &GpuRelation().schema(),           &StepRelation().schema(),
          &OpRelation().schema(),         &OpTypeRelation().schema(),        &GroupOpRelation().schema(),
          &OpKernelRelation().schema(),   &KernelNameRelation().schema(),    &CopyKindRelation().schema(),
          &ApiNameRelation().schema(),    &SyncSiteRelation().schema(),      &IdleGapRelation().schema(),
          &TimeLedgerRelation().schema(), &ResourceUsageRelation().schema(), &LaunchRelation().schema(),
          &MemoryRelation().schema(),     &RangeNameRelation().schema(),     &GpuMetricRelation().schema()};
}

std::vector<Table> Analyze(const Trace& trace, const AnalysisOptions& options) {
  const Context context = MakeContext(trace, options);
  const std::vector<GpuTimeline> timelines = ComputeTimelines(context);
  const OpFamilies ops = ComputeOps(context);
  const std::vector<MemoryRow> memory = ComputeMemory(context);
  const std::vector<GpuRow> gpus = ComputeGpus(context, timelines, ops, memory);
  const std::vector<StepRow> steps = ComputeSteps(context);
  const RunRow run = ComputeRun(context, gpus, steps, ops);
  const ProfileRow profile = ComputeProfile(context);
  const SystemRow system = ComputeSystem(context);

  std::vector<Table> tables;
  tables.push_back(RunRelation().ToTable({&run, 1}));
  tables.push_back(ProfileRelation().ToTable({&profile, 1}));
  tables.push_back(DiagnosticRelation().ToTable(ComputeDiagnostics(context)));
  tables.push_back(SystemRelation().ToTable({&system, 1}));
  tables.push_back(GpuRelation().ToTable(gpus));
  tables.push_back(StepRelation().ToTable(steps));
  tables.push_back(OpRelation().ToTable(ops.ops));
  tables.push_back(OpTypeRelation().ToTable(ops.op_types));
  tables.push_back(GroupOpRelation().ToTable(ops.groups));
  tables.push_back(OpKernelRelation().ToTable(ops.kernels));
  tables.push_back(KernelNameRelation().ToTable(ComputeKernelNames(context)));
  tables.push_back(CopyKindRelation().ToTable(ComputeCopyKinds(context)));
  tables.push_back(ApiNameRelation().ToTable(ComputeApiNames(context)));
  tables.push_back(SyncSiteRelation().ToTable(ComputeSyncSites(context, timelines)));
  tables.push_back(IdleGapRelation().ToTable(ComputeIdleGaps(context, timelines)));
  tables.push_back(TimeLedgerRelation().ToTable(ComputeTimeLedger(context, timelines)));
  tables.push_back(ResourceUsageRelation().ToTable(ComputeResourceUsage(context, timelines)));
  tables.push_back(LaunchRelation().ToTable(ComputeLaunches(context, timelines)));
  tables.push_back(MemoryRelation().ToTable(memory));
  tables.push_back(RangeNameRelation().ToTable(ComputeRangeNames(context)));
  tables.push_back(GpuMetricRelation().ToTable(ComputeGpuMetrics(context)));
  return tables;
}

}  // namespace dladvisor
