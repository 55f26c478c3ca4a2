#include "src/analysis/analysis.h"

#include <future>
#include <memory>

#include "src/analysis/api_name.h"
#include "src/analysis/attribution.h"
#include "src/analysis/collective.h"
#include "src/analysis/copy_kind.h"
#include "src/analysis/gpu.h"
#include "src/analysis/gpu_metric.h"
#include "src/analysis/host_thread.h"
#include "src/analysis/idle_activity.h"
#include "src/analysis/kernel_name.h"
#include "src/analysis/launch.h"
#include "src/analysis/launches.h"
#include "src/analysis/matrix_product.h"
#include "src/analysis/mpi_name.h"
#include "src/analysis/network_metric.h"
#include "src/analysis/op_path.h"
#include "src/analysis/profile.h"
#include "src/analysis/range_name.h"
#include "src/analysis/ranks.h"
#include "src/analysis/resource_usage.h"
#include "src/analysis/run.h"
#include "src/analysis/set_kind.h"
#include "src/analysis/setting.h"
#include "src/analysis/step.h"
#include "src/analysis/step_detection.h"
#include "src/analysis/step_ledger.h"
#include "src/analysis/stream.h"
#include "src/analysis/sync_site.h"
#include "src/analysis/system.h"
#include "src/analysis/tensor_core.h"
#include "src/analysis/time_ledger.h"
#include "src/analysis/unified_memory.h"
#include "src/analysis/utilization_chunk.h"

namespace dladvisor {

Context MakeContext(const Trace& trace, const AnalysisOptions& options) {
  Context context{trace, options, FindActivity(trace), FindRanks(trace, options), {}, {}, {}, {}, {}, {}, {}};
  context.work = SplitWork(trace, context.ranks);
  context.launches = FindLaunches(trace);
  auto steps_ready = std::async(std::launch::async, [&] {
    return FindSteps(trace, context.ranks, context.work, context.launches, options);
  });
  context.attribution = Attribute(trace, context.launches);
  context.paths = std::make_shared<OpPaths>(trace, context.attribution.range_parent);
  context.kernels = ClassifyKernels(trace);
  context.steps = steps_ready.get();
  context.windows = FindWindows(trace, context.ranks, context.work, context.steps);
  return context;
}

std::vector<const Schema*> FactSchemas() {
  return {&RunRelation().schema(),
          &ProfileRelation().schema(),
          &DiagnosticRelation().schema(),
          &SystemRelation().schema(),
          &GpuRelation().schema(),
          &StepRelation().schema(),
          &OpRelation().schema(),
          &OpTypeRelation().schema(),
          &GroupOpRelation().schema(),
          &OpKernelRelation().schema(),
          &KernelNameRelation().schema(),
          &CopyKindRelation().schema(),
          &ApiNameRelation().schema(),
          &SyncSiteRelation().schema(),
          &IdleGapRelation().schema(),
          &TimeLedgerRelation().schema(),
          &ResourceUsageRelation().schema(),
          &LaunchRelation().schema(),
          &MemoryRelation().schema(),
          &RangeNameRelation().schema(),
          &GpuMetricRelation().schema(),
          &StepLedgerRelation().schema(),
          &IdleActivityRelation().schema(),
          &CollectiveRelation().schema(),
          &HostThreadRelation().schema(),
          &MatrixProductRelation().schema(),
          &MpiNameRelation().schema(),
          &NetworkMetricRelation().schema(),
          &SetKindRelation().schema(),
          &SettingRelation().schema(),
          &StreamRelation().schema(),
          &UnifiedMemoryRelation().schema(),
          &UtilizationChunkRelation().schema()};
}

std::vector<Table> Analyze(const Trace& trace, const AnalysisOptions& options) {
  const Context context = MakeContext(trace, options);
  // Every family only reads the context, so that they run side by side; what others need comes first.
  const auto start = [](auto compute) { return std::async(std::launch::async, compute); };
  auto timelines_ready = start([&] { return ComputeTimelines(context); });
  auto ops_ready = start([&] { return ComputeOps(context); });
  const std::vector<MemoryRow> memory = ComputeMemory(context);
  const std::vector<StepRow> steps = ComputeSteps(context);
  const std::vector<GpuTimeline> timelines = timelines_ready.get();
  const OpFamilies ops = ops_ready.get();
  const std::vector<GpuRow> gpus = ComputeGpus(context, timelines, ops, memory);
  const RunRow run = ComputeRun(context, gpus, steps, ops);
  const ProfileRow profile = ComputeProfile(context);
  const SystemRow system = ComputeSystem(context);

  std::vector<std::future<Table>> tables;
  tables.push_back(start([&] { return RunRelation().ToTable({&run, 1}); }));
  tables.push_back(start([&] { return ProfileRelation().ToTable({&profile, 1}); }));
  tables.push_back(start([&] { return DiagnosticRelation().ToTable(ComputeDiagnostics(context)); }));
  tables.push_back(start([&] { return SystemRelation().ToTable({&system, 1}); }));
  tables.push_back(start([&] { return GpuRelation().ToTable(gpus); }));
  tables.push_back(start([&] { return StepRelation().ToTable(steps); }));
  tables.push_back(start([&] { return OpRelation().ToTable(ops.ops); }));
  tables.push_back(start([&] { return OpTypeRelation().ToTable(ops.op_types); }));
  tables.push_back(start([&] { return GroupOpRelation().ToTable(ops.groups); }));
  tables.push_back(start([&] { return OpKernelRelation().ToTable(ops.kernels); }));
  tables.push_back(start([&] { return KernelNameRelation().ToTable(ComputeKernelNames(context)); }));
  tables.push_back(start([&] { return CopyKindRelation().ToTable(ComputeCopyKinds(context, timelines)); }));
  tables.push_back(start([&] { return ApiNameRelation().ToTable(ComputeApiNames(context)); }));
  tables.push_back(start([&] { return SyncSiteRelation().ToTable(ComputeSyncSites(context, timelines)); }));
  tables.push_back(start([&] { return IdleGapRelation().ToTable(ComputeIdleGaps(context, timelines)); }));
  tables.push_back(
      start([&] { return TimeLedgerRelation().ToTable(ComputeTimeLedger(context, timelines)); }));
  tables.push_back(
      start([&] { return ResourceUsageRelation().ToTable(ComputeResourceUsage(context, timelines)); }));
  tables.push_back(start([&] { return LaunchRelation().ToTable(ComputeLaunches(context, timelines)); }));
  tables.push_back(start([&] { return MemoryRelation().ToTable(memory); }));
  tables.push_back(start([&] { return RangeNameRelation().ToTable(ComputeRangeNames(context)); }));
  tables.push_back(start([&] { return GpuMetricRelation().ToTable(ComputeGpuMetrics(context)); }));
  tables.push_back(
      start([&] { return StepLedgerRelation().ToTable(ComputeStepLedger(context, timelines)); }));
  tables.push_back(
      start([&] { return IdleActivityRelation().ToTable(ComputeIdleActivity(context, timelines)); }));
  tables.push_back(
      start([&] { return CollectiveRelation().ToTable(ComputeCollectives(context, timelines)); }));
  tables.push_back(start([&] { return HostThreadRelation().ToTable(ComputeHostThreads(context)); }));
  tables.push_back(start([&] { return MatrixProductRelation().ToTable(ComputeMatrixProducts(context)); }));
  tables.push_back(start([&] { return MpiNameRelation().ToTable(ComputeMpiNames(context)); }));
  tables.push_back(start([&] { return NetworkMetricRelation().ToTable(ComputeNetworkMetrics(context)); }));
  tables.push_back(start([&] { return SetKindRelation().ToTable(ComputeSetKinds(context)); }));
  tables.push_back(start([&] { return SettingRelation().ToTable(ComputeSettings(context)); }));
  tables.push_back(start([&] { return StreamRelation().ToTable(ComputeStreams(context)); }));
  tables.push_back(start([&] { return UnifiedMemoryRelation().ToTable(ComputeUnifiedMemory(context)); }));
  tables.push_back(
      start([&] { return UtilizationChunkRelation().ToTable(ComputeUtilizationChunks(context)); }));
  std::vector<Table> result;
  for (std::future<Table>& table : tables) result.push_back(table.get());
  return result;
}

}  // namespace dladvisor
