#include "src/fleet/merge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "src/analysis/across_ranks.h"
#include "src/analysis/analysis.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/summary/system.h"
#include "src/analysis/timeline/resource_usage.h"
#include "src/analysis/timeline/step.h"
#include "src/fleet/align_steps.h"
#include "src/fleet/identity.h"

namespace dladvisor {
namespace {

constexpr std::string_view kRank = "rank", kProfile = "profile", kDuplicate = "duplicate_of", kStep = "step",
                           kNode = "told_node";

// Rows of a relation of one file under the numbers that they have among all.
struct Renumbering {
  int64_t rank_shift = 0, profile = 0, step_shift = 0;
  std::optional<int64_t> duplicate_of, node;
};

// Appends a file's rows to those of all; columns by name, since a digest may be of another version.
void Append(const Table& from, const Renumbering& renumbering, Table& to) {
  const Schema& schema = to.schema();
  std::vector<std::optional<size_t>> source;
  for (const Column& column : schema.columns) source.push_back(from.schema().Find(column.name));
  for (size_t i = 0; i < from.rows(); ++i) {
    std::vector<Value> row(schema.columns.size());
    for (size_t c = 0; c < row.size(); ++c) {
      if (!source[c]) continue;
      row[c] = from.ValueAt(i, *source[c]);
      if (schema.columns[c].name == kProfile) row[c] = renumbering.profile;
      if (schema.columns[c].name == kDuplicate && renumbering.duplicate_of)
        row[c] = *renumbering.duplicate_of;
      if (schema.columns[c].name == kNode && renumbering.node) row[c] = *renumbering.node;
      if (auto* rank = std::get_if<int64_t>(&row[c]); rank && schema.columns[c].name == kRank)
        *rank += renumbering.rank_shift;
      if (auto* step = std::get_if<int64_t>(&row[c]); step && schema.columns[c].name == kStep)
        *step += renumbering.step_shift;
    }
    to.AddRow(std::move(row));
  }
}

template <class Row>
std::vector<Row> RowsOf(const Digest& digest, const RelationOf<Row>& relation) {
  const Table* table = digest.Find(relation.schema().name);
  return table ? relation.ToRows(*table) : std::vector<Row>();
}

// The lowest rank of a profile and how many it has.
std::pair<int64_t, int64_t> RanksOf(const std::vector<GpuRow>& gpus) {
  std::pair<int64_t, int64_t> range{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const GpuRow& gpu : gpus) range = {std::min(range.first, gpu.rank), std::max(range.second, gpu.rank)};
  return gpus.empty() ? std::pair<int64_t, int64_t>{0, 0}
                      : std::pair(range.first, range.second - range.first + 1);
}

ProfileHints HintsOf(const Digest& digest, int64_t processes) {
  ProfileHints hints;
  hints.processes = processes;
  for (const ProfileRow& row : RowsOf(digest, ProfileRelation())) {
    hints.path = row.path;
    hints.rank = row.told_rank;
    hints.by = row.told_by.value_or("");
    hints.node = row.told_node;
    hints.local_rank = row.told_local_rank;
    hints.is_log =
        row.telemetry_samples + row.training_lines > 0 && row.kernels + row.copies + row.graph_launches == 0;
  }
  for (const SystemRow& row : RowsOf(digest, SystemRelation())) hints.host = row.host;
  return hints;
}

// Steps that are counted from the start of the capture, by the time at which they began.
StepStarts StartsOf(const Digest& digest, int64_t first_rank) {
  StepStarts starts;
  for (const RunRow& run : RowsOf(digest, RunRelation()))
    if (!run.step_source || *run.step_source == "ranges") return starts;
  std::optional<int64_t> origin;
  for (const ProfileRow& row : RowsOf(digest, ProfileRelation())) origin = row.clock_origin_utc_ns;
  if (!origin) return starts;
  for (const StepRow& row : RowsOf(digest, StepRelation()))
    if (row.rank == first_rank) starts.push_back(*origin + row.start_ns);
  return starts;
}

void AddIdentities(const ProfileRanks& told, const ProfileHints& hints, int64_t profile,
                   std::vector<RankIdentity>& identities) {
  for (int64_t r = 0; r < hints.processes; ++r) {
    RankIdentity& identity = identities.emplace_back();
    identity.rank = told.first + r;
    identity.profile = profile;
    identity.node = told.node;
    identity.local_rank = hints.processes == 1 ? told.local_rank : r;
    identity.host = hints.host;
    identity.source = told.source;
  }
}

// A second profile of a rank keeps what tells of the file itself.
constexpr std::array<std::string_view, 4> kOfFile = {"profile", "diagnostic", "system", "setting"};

}  // namespace

bool IsDetail(const std::string& relation) {
  static constexpr std::array<std::string_view, 21> details = {
      "op",          "group_op",       "op_kernel",         "kernel_name", "api_name",
      "sync_site",   "idle_gap",       "range_name",        "step_ledger", "idle_activity",
      "filled_copy", "host_thread",    "matrix_product",    "mpi_name",    "set_kind",
      "stream",      "unified_memory", "utilization_chunk", "what_if",     "diagnostic",
      "setting"};
  return std::ranges::find(details, relation) != details.end();
}

Digest MergeDigests(std::vector<Digest>& digests, std::vector<RankIdentity>& identities) {
  std::vector<ProfileHints> hints;
  std::vector<std::pair<int64_t, int64_t>> ranks;  // first and number, as the profile numbers them
  for (const Digest& digest : digests) {
    ranks.push_back(RanksOf(RowsOf(digest, GpuRelation())));
    hints.push_back(HintsOf(digest, ranks.back().second));
  }
  const std::vector<ProfileRanks> told = IdentifyRanks(hints);
  std::vector<StepStarts> starts;
  for (size_t i = 0; i < digests.size(); ++i) starts.push_back(StartsOf(digests[i], ranks[i].first));
  const std::vector<std::optional<int64_t>> shifts = StepShifts(starts);

  Digest merged;
  for (const Schema* schema : FactSchemas()) merged.relations.emplace_back(*schema);
  std::vector<RunRow> runs;
  std::vector<std::pair<std::vector<ResourceUsageRow>, int64_t>> usage;
  for (size_t i = 0; i < digests.size(); ++i) {
    Digest& digest = digests[i];
    const bool is_duplicate = told[i].duplicate_of.has_value();
    const int64_t step_shift = shifts[i].value_or(0);
    Renumbering renumbering{told[i].first - ranks[i].first, static_cast<int64_t>(i), step_shift, std::nullopt,
                            std::nullopt};
    if (is_duplicate) renumbering.duplicate_of = static_cast<int64_t>(*told[i].duplicate_of);
    if (hints[i].is_log) renumbering.node = told[i].node;
    for (Table& table : merged.relations) {
      const std::string& name = table.schema().name;
      if (is_duplicate && std::ranges::find(kOfFile, name) == kOfFile.end()) continue;
      if (const Table* from = digest.Find(name);
          from && name != RunRelation().schema().name && name != ResourceUsageRelation().schema().name)
        Append(*from, renumbering, table);
    }
    if (!is_duplicate) {
      for (RunRow& run : RowsOf(digest, RunRelation())) runs.push_back(std::move(run));
      usage.emplace_back(RowsOf(digest, ResourceUsageRelation()), ranks[i].second);
      for (KernelSequence& sequence : digest.sequences) {
        // Steps that ran at other times than those of the others are no steps of theirs.
        if (!shifts[i]) continue;
        sequence.rank += renumbering.rank_shift;
        for (KernelSequence::Step& step : sequence.steps) step.number += step_shift;
        merged.sequences.push_back(std::move(sequence));
      }
      for (CollectiveTrack& track : digest.collectives) {
        if (!shifts[i]) continue;
        track.rank += renumbering.rank_shift;
        for (CollectiveTrack::Call& call : track.calls) call.step += step_shift;
        merged.collectives.push_back(std::move(track));
      }
      AddIdentities(told[i], hints[i], static_cast<int64_t>(i), identities);
    }
    digest = {};
  }
  for (Table& table : merged.relations) {
    if (table.schema().name == RunRelation().schema().name) {
      const RunRow run = MergeRuns(runs, RowsOf(merged, GpuRelation()));
      table = RunRelation().ToTable({&run, 1});
    }
    if (table.schema().name == ResourceUsageRelation().schema().name)
      table = ResourceUsageRelation().ToTable(MergeResourceUsage(usage));
  }
  return merged;
}

std::vector<RankIdentity> IdentitiesOf(const Digest& digest) {
  const ProfileHints hints = HintsOf(digest, RanksOf(RowsOf(digest, GpuRelation())).second);
  std::vector<RankIdentity> identities;
  AddIdentities(IdentifyRanks({hints})[0], hints, 0, identities);
  return identities;
}

void AppendDetails(const Digest& details, size_t profile, const std::vector<RankRow>& ranks, Digest& merged) {
  Renumbering renumbering{0, static_cast<int64_t>(profile), 0, std::nullopt, std::nullopt};
  std::optional<int64_t> first;
  for (const RankRow& row : ranks)
    if (row.profile == renumbering.profile) first = std::min(first.value_or(row.rank), row.rank);
  renumbering.rank_shift = first.value_or(0) - RanksOf(RowsOf(details, GpuRelation())).first;
  for (Table& table : merged.relations)
    if (const Table* from = details.Find(table.schema().name); from && IsDetail(table.schema().name))
      Append(*from, renumbering, table);
}

void CompareRanks(Digest& digest, const std::vector<RankIdentity>& identities) {
  std::vector<Table> tables =
      AnalyzeAcrossRanks(FleetFacts(digest.relations, digest.sequences, digest.collectives, identities));
  for (Table& table : tables) {
    std::erase_if(digest.relations,
                  [&](const Table& old) { return old.schema().name == table.schema().name; });
    digest.relations.push_back(std::move(table));
  }
}

}  // namespace dladvisor
