#include "src/analysis/analysis.h"

#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "src/analysis/communication/collective.h"
#include "src/analysis/counters/gpu_metric.h"
#include "src/analysis/counters/network_metric.h"
#include "src/analysis/host/api_name.h"
#include "src/analysis/host/copy_kind.h"
#include "src/analysis/host/filled_copy.h"
#include "src/analysis/host/host_thread.h"
#include "src/analysis/host/mpi_name.h"
#include "src/analysis/host/set_kind.h"
#include "src/analysis/host/sync_site.h"
#include "src/analysis/memory/unified_memory.h"
#include "src/analysis/ops/kernel_name.h"
#include "src/analysis/ops/matrix_product.h"
#include "src/analysis/ops/range_name.h"
#include "src/analysis/pipeline/pipeline_event.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/summary/setting.h"
#include "src/analysis/summary/system.h"
#include "src/analysis/telemetry/telemetry.h"
#include "src/analysis/telemetry/telemetry_series.h"
#include "src/analysis/timeline/idle_activity.h"
#include "src/analysis/timeline/launch.h"
#include "src/analysis/timeline/replay.h"
#include "src/analysis/timeline/resource_usage.h"
#include "src/analysis/timeline/step.h"
#include "src/analysis/timeline/step_ledger.h"
#include "src/analysis/timeline/stream.h"
#include "src/analysis/timeline/time_ledger.h"
#include "src/analysis/timeline/utilization_chunk.h"
#include "src/analysis/training/training.h"
#include "src/analysis/training/training_log.h"
#include "src/analysis/training/training_memory.h"
#include "src/analysis/training/training_setting.h"
#include "src/analysis/training/training_timer.h"
#include "src/trace/parallel.h"

namespace dladvisor {

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
