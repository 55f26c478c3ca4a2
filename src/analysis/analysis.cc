// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/analysis.h"

#include <atomic>
#include <optional>
#include <utility>

#include "src/analysis/families.h"

namespace dladvisor {
namespace {

// Computed when a row is first asked for.
class OnDemandRelation final : public Relation {
 public:
  OnDemandRelation(const Family& family, const ComputedValues& values) : family_(family), values_(values) {}

  const Schema& schema() const override { return *family_.schema; }
  size_t rows() const override { return Get().rows(); }
  CellView At(size_t row, size_t column) const override { return Get().At(row, column); }
  std::optional<size_t> SortedColumn() const override { return family_.sorted; }

 private:
  // The values lock a table of all; a query asks here for every cell.
  const Relation& Get() const {
    const Relation* computed = computed_.load(std::memory_order_acquire);
    if (!computed) {
      computed = static_cast<const Relation*>(values_.Get(*family_.kind));
      computed_.store(computed, std::memory_order_release);
    }
    return *computed;
  }

  const Family& family_;
  const ComputedValues& values_;
  mutable std::atomic<const Relation*> computed_ = nullptr;
};

std::vector<const ValueKind*> KindsOf(const std::vector<const Family*>& families) {
  std::vector<const ValueKind*> kinds;
  for (const Family* family : families) kinds.push_back(family->kind.get());
  return kinds;
}

std::vector<const Family*> FamiliesWhere(bool across_ranks, bool on_demand) {
  std::vector<const Family*> families;
  for (const Family* family : AllFamilies())
    if (family->IsAcrossRanks() == across_ranks && family->on_demand == on_demand) families.push_back(family);
  return families;
}

// Families that are not on demand give tables.
Table TakeTable(const Family& family, ComputedValues& values) {
  const std::shared_ptr<void> relation = values.Take(*family.kind);
  return std::move(static_cast<Table&>(*static_cast<Relation*>(relation.get())));
}

}  // namespace

AnalysedTrace::AnalysedTrace(const Trace& trace, AnalysisOptions options) : options_(std::move(options)) {
  values_.Give(trace);
  values_.Give(options_);
}

Digest AnalysedTrace::ComputeDigest() {
  const std::vector<const Family*> families = FamiliesWhere(/*across_ranks=*/false, /*on_demand=*/false);
  std::vector<const ValueKind*> kinds = KindsOf(families);
  kinds.push_back(&KindOf<std::vector<KernelSequence>>());
  kinds.push_back(&KindOf<std::vector<CollectiveTrack>>());
  values_.Compute(kinds);
  Digest digest;
  for (const Family* family : families) digest.relations.push_back(TakeTable(*family, values_));
  digest.sequences = Get<std::vector<KernelSequence>>();
  digest.collectives = Get<std::vector<CollectiveTrack>>();
  values_.KeepOnly(KindsOf(FamiliesWhere(/*across_ranks=*/false, /*on_demand=*/true)));
  return digest;
}

std::vector<std::unique_ptr<Relation>> AnalysedTrace::OnDemandRelations() const {
  std::vector<std::unique_ptr<Relation>> relations;
  for (const Family* family : FamiliesWhere(/*across_ranks=*/false, /*on_demand=*/true))
    relations.push_back(std::make_unique<OnDemandRelation>(*family, values_));
  return relations;
}

Digest Analyze(const Trace& trace, const AnalysisOptions& options) {
  return AnalysedTrace(trace, options).ComputeDigest();
}

std::vector<Table> AnalyzeAcrossRanks(const Digest& digest, std::span<const RankIdentity> identities) {
  const FleetTables tables{digest.relations};
  const OfFleet<KernelSequence> sequences{digest.sequences};
  const OfFleet<CollectiveTrack> collectives{digest.collectives};
  const OfFleet<RankIdentity> all{identities};
  ComputedValues values;
  values.Give(tables);
  values.Give(sequences);
  values.Give(collectives);
  values.Give(all);
  const std::vector<const Family*> families = FamiliesWhere(/*across_ranks=*/true, /*on_demand=*/false);
  values.Compute(KindsOf(families));
  std::vector<Table> relations;
  for (const Family* family : families) relations.push_back(TakeTable(*family, values));
  return relations;
}

}  // namespace dladvisor
