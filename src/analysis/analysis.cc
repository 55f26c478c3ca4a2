#include "src/analysis/analysis.h"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "src/analysis/api_name.h"
#include "src/analysis/attribution.h"
#include "src/analysis/collective.h"
#include "src/analysis/copy_kind.h"
#include "src/analysis/filled_copy.h"
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
#include "src/analysis/pipeline_event.h"
#include "src/analysis/profile.h"
#include "src/analysis/range_name.h"
#include "src/analysis/ranks.h"
#include "src/analysis/replay.h"
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
#include "src/analysis/telemetry.h"
#include "src/analysis/telemetry_series.h"
#include "src/analysis/tensor_core.h"
#include "src/analysis/time_ledger.h"
#include "src/analysis/training.h"
#include "src/analysis/training_log.h"
#include "src/analysis/training_memory.h"
#include "src/analysis/training_setting.h"
#include "src/analysis/training_timer.h"
#include "src/analysis/unified_memory.h"
#include "src/analysis/utilization_chunk.h"
#include "src/trace/parallel.h"

namespace dladvisor {

Context MakeContext(const Trace& trace, const AnalysisOptions& options) {
  auto launches_ready = std::async(std::launch::async, [&] { return FindLaunches(trace); });
  Context context{trace, options, FindActivity(trace), FindRanks(trace, options), {}, {}, {}, {}, {}, {}, {}};
  context.work = SplitWork(trace, context.ranks);
  context.launches = launches_ready.get();
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
          &FilledCopyRelation().schema(),
          &HostThreadRelation().schema(),
          &MatrixProductRelation().schema(),
          &MpiNameRelation().schema(),
          &NetworkMetricRelation().schema(),
          &PipelineEventRelation().schema(),
          &PipelineCaptureRelation().schema(),
          &SetKindRelation().schema(),
          &SettingRelation().schema(),
          &StreamRelation().schema(),
          &TelemetryRelation().schema(),
          &TelemetrySeriesRelation().schema(),
          &TrainingRelation().schema(),
          &TrainingLogRelation().schema(),
          &TrainingTimerRelation().schema(),
          &TrainingExtremeRelation().schema(),
          &TrainingMemoryRelation().schema(),
          &TrainingSettingRelation().schema(),
          &UnifiedMemoryRelation().schema(),
          &UtilizationChunkRelation().schema(),
          &WhatIfRelation().schema()};
}

Facts Analyze(const Trace& trace, const AnalysisOptions& options) {
  const Context context = MakeContext(trace, options);
  // Every family only reads the context, so that they run side by side; what others need comes first.
  const auto start = [](auto compute) { return std::async(std::launch::async, compute); };
  auto timelines_ready = start([&] { return ComputeTimelines(context); });
  auto ops_ready = start([&] { return ComputeOps(context); });
  const std::vector<MemoryRow> memory = ComputeMemory(context);
  const std::vector<StepRow> steps = ComputeSteps(context);
  const PipelineEvents pipeline = ComputePipelineEvents(context);
  const std::vector<GpuTimeline> timelines = timelines_ready.get();
  const OpFamilies ops = ops_ready.get();
  const std::vector<GpuRow> gpus = ComputeGpus(context, timelines, ops, memory);
  const std::vector<TrainingLogRow> training_log = ComputeTrainingLog(context);
  const std::vector<TrainingRow> trainings = ComputeTrainings(context, training_log);
  RunRow run = ComputeRun(context, gpus, steps, ops);
  AddTraining(trainings, run);
  const ProfileRow profile = ComputeProfile(context);
  const SystemRow system = ComputeSystem(context);

  const std::vector<std::function<Table()>> families = {
      [&] {
        return RunRelation().ToTable({&run, 1});
      },
      [&] {
        return ProfileRelation().ToTable({&profile, 1});
      },
      [&] { return DiagnosticRelation().ToTable(ComputeDiagnostics(context)); },
      [&] {
        return SystemRelation().ToTable({&system, 1});
      },
      [&] { return GpuRelation().ToTable(gpus); },
      [&] { return StepRelation().ToTable(steps); },
      [&] { return OpRelation().ToTable(ops.ops); },
      [&] { return OpTypeRelation().ToTable(ops.op_types); },
      [&] { return GroupOpRelation().ToTable(ops.groups); },
      [&] { return OpKernelRelation().ToTable(ops.kernels); },
      [&] { return KernelNameRelation().ToTable(ComputeKernelNames(context)); },
      [&] { return CopyKindRelation().ToTable(ComputeCopyKinds(context, timelines)); },
      [&] { return ApiNameRelation().ToTable(ComputeApiNames(context)); },
      [&] { return SyncSiteRelation().ToTable(ComputeSyncSites(context, timelines)); },
      [&] { return IdleGapRelation().ToTable(ComputeIdleGaps(context, timelines)); },
      [&] { return TimeLedgerRelation().ToTable(ComputeTimeLedger(context, timelines)); },
      [&] { return ResourceUsageRelation().ToTable(ComputeResourceUsage(context, timelines)); },
      [&] { return LaunchRelation().ToTable(ComputeLaunches(context, timelines)); },
      [&] { return MemoryRelation().ToTable(memory); },
      [&] { return RangeNameRelation().ToTable(ComputeRangeNames(context)); },
      [&] { return GpuMetricRelation().ToTable(ComputeGpuMetrics(context)); },
      [&] { return StepLedgerRelation().ToTable(ComputeStepLedger(context, timelines)); },
      [&] { return IdleActivityRelation().ToTable(ComputeIdleActivity(context, timelines)); },
      [&] { return CollectiveRelation().ToTable(ComputeCollectives(context, timelines)); },
      [&] { return FilledCopyRelation().ToTable(ComputeFilledCopies(context)); },
      [&] { return HostThreadRelation().ToTable(ComputeHostThreads(context)); },
      [&] { return MatrixProductRelation().ToTable(ComputeMatrixProducts(context)); },
      [&] { return MpiNameRelation().ToTable(ComputeMpiNames(context)); },
      [&] { return NetworkMetricRelation().ToTable(ComputeNetworkMetrics(context)); },
      [&] { return PipelineEventRelation().ToTable(pipeline.events); },
      [&] { return PipelineCaptureRelation().ToTable(pipeline.captures); },
      [&] { return SetKindRelation().ToTable(ComputeSetKinds(context)); },
      [&] { return SettingRelation().ToTable(ComputeSettings(context)); },
      [&] { return StreamRelation().ToTable(ComputeStreams(context)); },
      [&] { return TelemetryRelation().ToTable(ComputeTelemetry(context)); },
      [&] { return TelemetrySeriesRelation().ToTable(ComputeTelemetrySeries(context)); },
      [&] { return TrainingRelation().ToTable(trainings); },
      [&] { return TrainingLogRelation().ToTable(training_log); },
      [&] { return TrainingTimerRelation().ToTable(ComputeTrainingTimers(context)); },
      [&] { return TrainingExtremeRelation().ToTable(ComputeTrainingExtremes(context)); },
      [&] { return TrainingMemoryRelation().ToTable(ComputeTrainingMemory(context)); },
      [&] { return TrainingSettingRelation().ToTable(ComputeTrainingSettings(context)); },
      [&] { return UnifiedMemoryRelation().ToTable(ComputeUnifiedMemory(context)); },
      [&] { return UtilizationChunkRelation().ToTable(ComputeUtilizationChunks(context)); },
      [&] { return WhatIfRelation().ToTable(ComputeWhatIfs(context, timelines)); },
  };
  // As many at a time as there are cores: each takes memory of its own to work in.
  std::vector<std::optional<Table>> tables(families.size());
  ParallelFor(families.size(), [&](size_t i) { tables[i] = families[i](); });
  Facts facts;
  for (std::optional<Table>& table : tables) facts.relations.push_back(std::move(*table));
  facts.sequences = ComputeKernelSequences(context);
  facts.collectives = ComputeCollectiveTracks(context, timelines);
  return facts;
}

}  // namespace dladvisor
