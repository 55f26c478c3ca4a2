// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/merge.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "src/analysis/analysis.h"
#include "src/analysis/families.h"
#include "src/analysis/family/family.h"
#include "src/analysis/summary/gpu.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/summary/system.h"
#include "src/analysis/timeline/step.h"
#include "src/fleet/align_steps.h"
#include "src/fleet/identity.h"

namespace dladvisor {
namespace {

// Under the numbers that they have among all; columns by name, since a digest may be of another version.
void AppendRows(const Table& from, const ProfilePlace& place, Table& to) {
  const Schema& schema = to.schema();
  std::vector<std::optional<size_t>> source;
  for (const Column& column : schema.columns) source.push_back(from.schema().Find(column.name));
  for (size_t i = 0; i < from.rows(); ++i)
    for (size_t c = 0; c < source.size(); ++c) {
      CellView cell = source[c] ? from.At(i, *source[c]) : CellView::Null();
      const Numbering& numbering = schema.columns[c].numbering;
      const bool is_number = cell.kind == CellView::Kind::kInteger;
      if (source[c] && numbering == kProfileNumber) cell = CellView::Of(place.profile);
      if (is_number && numbering == kRankNumber) cell.integer += place.rank_shift;
      if (is_number && numbering == kStepNumber) cell.integer += place.step_shift;
      to.AddCell(c, cell);
    }
}

void Append(const Family& family, const Table& from, const ProfilePlace& place, Table& to) {
  if (family.place) {
    const Table placed = family.place(from, place);
    return AppendRows(placed, place, to);
  }
  AppendRows(from, place, to);
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
    hints.rank = row.recorded_rank;
    hints.by = row.recorded_rank_source.value_or("");
    hints.node = row.recorded_node;
    hints.local_rank = row.recorded_local_rank;
    hints.is_log = row.telemetry_samples + row.training_lines + row.serving_lines + row.program_parts +
                           row.summary_rows >
                       0 &&
                   row.kernels + row.copies + row.graph_launches == 0;
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

void AddIdentities(const ProfileRanks& identified, const ProfileHints& hints, int64_t profile,
                   std::vector<RankIdentity>& identities) {
  for (int64_t r = 0; r < hints.processes; ++r) {
    RankIdentity& identity = identities.emplace_back();
    identity.rank = identified.first + r;
    identity.profile = profile;
    identity.node = identified.node;
    identity.local_rank = hints.processes == 1 ? identified.local_rank : r;
    identity.host = hints.host;
    identity.source = identified.source;
  }
}

// What ranks are compared by, under the numbers among all.
void MoveTracks(Digest& from, const ProfilePlace& place, Digest& to) {
  for (KernelSequence& sequence : from.sequences) {
    sequence.rank += place.rank_shift;
    for (KernelSequence::Step& step : sequence.steps) step.number += place.step_shift;
    to.sequences.push_back(std::move(sequence));
  }
  for (CollectiveTrack& track : from.collectives) {
    track.rank += place.rank_shift;
    for (CollectiveTrack::Call& call : track.calls) call.step += place.step_shift;
    to.collectives.push_back(std::move(track));
  }
}

// The families whose relations digests hold, but for those that compare ranks.
std::vector<const Family*> FamiliesOfProfiles() {
  std::vector<const Family*> families;
  for (const Family* family : AllFamilies())
    if (!family->on_demand && !family->IsAcrossRanks()) families.push_back(family);
  return families;
}

}  // namespace

bool IsDetail(const std::string& relation) {
  const Family* family = FindFamily(relation);
  return family != nullptr && family->detail;
}

Digest MergeDigests(std::vector<Digest>& digests, std::vector<RankIdentity>& identities) {
  std::vector<ProfileHints> hints;
  std::vector<std::pair<int64_t, int64_t>> ranks;  // first and number, as the profile numbers them
  for (const Digest& digest : digests) {
    ranks.push_back(RanksOf(RowsOf(digest, GpuRelation())));
    hints.push_back(HintsOf(digest, ranks.back().second));
  }
  const std::vector<ProfileRanks> identified = IdentifyRanks(hints);
  std::vector<StepStarts> starts;
  for (size_t i = 0; i < digests.size(); ++i) starts.push_back(StartsOf(digests[i], ranks[i].first));
  const std::vector<std::optional<int64_t>> shifts = StepShifts(starts);

  const std::vector<const Family*> families = FamiliesOfProfiles();
  Digest merged;
  for (const Family* family : families) merged.relations.emplace_back(*family->schema);
  // By family, the tables that the family merges itself, and how many ranks each is of.
  std::vector<std::vector<std::pair<Table, int64_t>>> own(families.size());
  for (size_t i = 0; i < digests.size(); ++i) {
    Digest& digest = digests[i];
    const bool is_duplicate = identified[i].duplicate_of.has_value();
    ProfilePlace place{static_cast<int64_t>(i), identified[i].first - ranks[i].first, shifts[i].value_or(0),
                       std::nullopt, std::nullopt};
    if (is_duplicate) place.duplicate_of = static_cast<int64_t>(*identified[i].duplicate_of);
    if (hints[i].is_log) place.node = identified[i].node;
    for (size_t f = 0; f < families.size(); ++f) {
      const Table* from = digest.Find(families[f]->schema->name);
      if (!from || (is_duplicate && families[f]->merge != Family::Merge::kOfFiles)) continue;
      if (families[f]->merge == Family::Merge::kOwn)
        own[f].emplace_back(WithSchema(*from, *families[f]->schema), ranks[i].second);
      else
        Append(*families[f], *from, place, merged.relations[f]);
    }
    if (!is_duplicate) {
      // Steps that ran at other times than those of the others are not steps of theirs.
      if (shifts[i]) MoveTracks(digest, place, merged);
      AddIdentities(identified[i], hints[i], place.profile, identities);
    }
    digest = {};
  }
  const FleetTables fleet{merged.relations};
  for (size_t f = 0; f < families.size(); ++f) {
    if (families[f]->merge != Family::Merge::kOwn) continue;
    std::vector<std::pair<const Table*, int64_t>> tables;
    for (const auto& [table, count] : own[f]) tables.emplace_back(&table, count);
    merged.relations[f] = families[f]->merge_tables(tables, fleet);
  }
  return merged;
}

std::vector<RankIdentity> IdentitiesOf(const Digest& digest) {
  const ProfileHints hints = HintsOf(digest, RanksOf(RowsOf(digest, GpuRelation())).second);
  std::vector<RankIdentity> identities;
  AddIdentities(IdentifyRanks({hints})[0], hints, 0, identities);
  return identities;
}

// By how much the steps of a profile were numbered otherwise among all: of one that begins at the same time.
int64_t StepShiftOf(const Digest& profile, const Digest& merged, int64_t rank_shift) {
  const std::vector<StepRow> own = RowsOf(profile, StepRelation());
  if (own.empty()) return 0;
  for (const StepRow& step : RowsOf(merged, StepRelation()))
    if (step.rank == own[0].rank + rank_shift && step.start_ns == own[0].start_ns)
      return step.step - own[0].step;
  return 0;
}

void AppendDetails(const Digest& details, size_t profile, const std::vector<RankRow>& ranks, Digest& merged) {
  ProfilePlace place{static_cast<int64_t>(profile), 0, 0, std::nullopt, std::nullopt};
  std::optional<int64_t> first;
  for (const RankRow& row : ranks)
    if (row.profile == place.profile) first = std::min(first.value_or(row.rank), row.rank);
  place.rank_shift = first.value_or(0) - RanksOf(RowsOf(details, GpuRelation())).first;
  place.step_shift = StepShiftOf(details, merged, place.rank_shift);
  for (Table& table : merged.relations) {
    const Family* family = FindFamily(table.schema().name);
    if (const Table* from = details.Find(table.schema().name); from && family && family->detail)
      Append(*family, *from, place, table);
  }
}

void CompareRanks(Digest& digest, const std::vector<RankIdentity>& identities) {
  for (Table& table : AnalyzeAcrossRanks(digest, identities)) {
    std::erase_if(digest.relations,
                  [&](const Table& old) { return old.schema().name == table.schema().name; });
    digest.relations.push_back(std::move(table));
  }
}

}  // namespace dladvisor
