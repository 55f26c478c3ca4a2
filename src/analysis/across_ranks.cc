#include "src/analysis/across_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "src/analysis/communication/collective_group.h"
#include "src/analysis/pipeline/pipeline.h"
#include "src/analysis/ranks/cohort.h"
#include "src/analysis/ranks/kernel_position.h"
#include "src/analysis/ranks/straggler.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/summary/system.h"
#include "src/analysis/telemetry/step_telemetry.h"
#include "src/analysis/telemetry/telemetry_link.h"
#include "src/analysis/telemetry/telemetry_series.h"
#include "src/analysis/timeline/step.h"

namespace dladvisor {
namespace {

// The steps to show kernel by kernel: of each cohort the worst, on its slowest and its fastest GPU, and of
// each straggler the one in which it is farthest behind.
std::vector<GpuStep> StepsToShow(const RankFacts& ranks, const std::vector<StragglerRow>& stragglers) {
  std::vector<GpuStep> steps;
  for (const JitterRow& row : ranks.jitter) {
    if (row.steps == 0) continue;
    steps.push_back({row.max_rank, row.max_device, row.worst_step});
    steps.push_back({row.min_rank, row.min_device, row.worst_step});
  }
  for (const StragglerRow& straggler : stragglers) {
    const RankStepRow* worst = nullptr;
    for (const RankStepRow& row : ranks.steps)
      if (row.rank == straggler.rank && row.device == straggler.device && row.step >= straggler.first_step &&
          row.step <= straggler.last_step && (!worst || row.excess_ns > worst->excess_ns))
        worst = &row;
    if (worst) steps.push_back({worst->rank, worst->device, worst->step});
  }
  return steps;
}

CollectiveFacts CompareCollectives(const FleetFacts& facts) {
  std::map<int64_t, std::optional<int64_t>> origin_of;  // by profile
  for (const ProfileRow& row : facts.RowsOf(ProfileRelation()))
    origin_of[row.profile] = row.clock_origin_utc_ns;
  std::vector<std::optional<int64_t>> origins, nodes;
  for (const CollectiveTrack& track : facts.collectives()) {
    const RankIdentity* identity = facts.IdentityOf(track.rank);
    origins.push_back(identity ? origin_of[identity->profile] : std::nullopt);
    nodes.push_back(identity ? identity->node : std::nullopt);
  }
  std::optional<int64_t> world_size;
  for (const SystemRow& row : facts.RowsOf(SystemRelation()))
    if (row.world_size) world_size = std::max(world_size.value_or(0), *row.world_size);
  return ComputeCollectiveGroups(facts.collectives(), origins, nodes, world_size);
}

}  // namespace

const Table* FleetFacts::Find(std::string_view name) const {
  for (const Table& table : tables_)
    if (table.schema().name == name) return &table;
  return nullptr;
}

const RankIdentity* FleetFacts::IdentityOf(int64_t rank) const {
  const auto found = std::ranges::find(identities_, rank, &RankIdentity::rank);
  return found == identities_.end() ? nullptr : &*found;
}

std::vector<const Schema*> AcrossRanksSchemas() {
  return {&RankRelation().schema(),           &RankStepRelation().schema(),
          &JitterRelation().schema(),         &StragglerRelation().schema(),
          &StragglingNodeRelation().schema(), &KernelPositionRelation().schema(),
          &DivergenceRelation().schema(),     &CollectiveGroupRelation().schema(),
          &CollectiveWaitRelation().schema(), &ClockRelation().schema(),
          &PipelineStageRelation().schema(),  &PipelineBubbleRelation().schema(),
          &TelemetryClockRelation().schema(), &StepTelemetryRelation().schema(),
          &TelemetryLinkRelation().schema()};
}

std::vector<Table> AnalyzeAcrossRanks(const FleetFacts& facts) {
  const std::vector<RunRow> run = facts.RowsOf(RunRelation());
  const std::optional<double> step_ns = run.empty() ? std::nullopt : run[0].step_ns;
  std::vector<std::pair<int64_t, int64_t>> gpus;
  for (const GpuRow& gpu : facts.RowsOf(GpuRelation())) gpus.emplace_back(gpu.rank, gpu.device);
  const std::vector<Cohort> cohorts = FormCohorts(facts.sequences());
  std::vector<std::optional<int64_t>> node_of;
  for (const KernelSequence& sequence : facts.sequences()) {
    const RankIdentity* identity = facts.IdentityOf(sequence.rank);
    node_of.push_back(identity ? identity->node : std::nullopt);
  }
  const RankFacts ranks = ComputeRanks(facts.identities(), gpus, facts.sequences(), cohorts, step_ns);
  const Stragglers stragglers = FindStragglers(facts.sequences(), cohorts, node_of, step_ns);

  const CollectiveFacts collectives = CompareCollectives(facts);
  const StepTelemetry telemetry =
      JoinTelemetry(facts.RowsOf(ProfileRelation()), facts.identities(), gpus, facts.RowsOf(StepRelation()),
                    facts.RowsOf(TelemetrySeriesRelation()));
  const Pipelines pipelines = FindPipelines(facts.RowsOf(PipelineEventRelation()));

  std::vector<Table> tables;
  tables.push_back(RankRelation().ToTable(ranks.ranks));
  tables.push_back(RankStepRelation().ToTable(ranks.steps));
  tables.push_back(JitterRelation().ToTable(ranks.jitter));
  tables.push_back(StragglerRelation().ToTable(stragglers.ranks));
  tables.push_back(StragglingNodeRelation().ToTable(stragglers.nodes));
  tables.push_back(KernelPositionRelation().ToTable(ComputeKernelPositions(facts.sequences(), cohorts)));
  tables.push_back(DivergenceRelation().ToTable(
      ComputeDivergence(facts.sequences(), cohorts, StepsToShow(ranks, stragglers.ranks))));
  tables.push_back(CollectiveGroupRelation().ToTable(collectives.groups));
  tables.push_back(CollectiveWaitRelation().ToTable(collectives.waits));
  tables.push_back(ClockRelation().ToTable(collectives.clocks));
  tables.push_back(PipelineStageRelation().ToTable(pipelines.stages));
  tables.push_back(PipelineBubbleRelation().ToTable(pipelines.bubbles));
  tables.push_back(TelemetryClockRelation().ToTable(telemetry.clocks));
  tables.push_back(StepTelemetryRelation().ToTable(telemetry.steps));
  tables.push_back(TelemetryLinkRelation().ToTable(LinkTelemetry(telemetry.steps)));
  return tables;
}

}  // namespace dladvisor
