// Facts that need the facts of all ranks: computed from the merged relations of all profiles, after each was
// analysed alone. A profile by itself goes through it as well: it may hold several ranks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/communication/collective_track.h"
#include "src/analysis/ranks/kernel_sequence.h"
#include "src/analysis/ranks/rank.h"

namespace dladvisor {

// What is known of all ranks. Ranks and profiles are numbered once over all files; refers to what it is made
// of, which must outlive it.
class FleetFacts {
 public:
  FleetFacts(std::span<const Table> tables, std::span<const KernelSequence> sequences,
             std::span<const CollectiveTrack> collectives, std::span<const RankIdentity> identities)
      : tables_(tables), sequences_(sequences), collectives_(collectives), identities_(identities) {}

  // The rows of a relation; none where no profile has it.
  template <class Row>
  std::vector<Row> RowsOf(const RelationOf<Row>& relation) const {
    const Table* table = Find(relation.schema().name);
    return table ? relation.ToRows(*table) : std::vector<Row>();
  }
  std::span<const KernelSequence> sequences() const { return sequences_; }
  std::span<const CollectiveTrack> collectives() const { return collectives_; }
  std::span<const RankIdentity> identities() const { return identities_; }
  // Null where the rank is none of those.
  const RankIdentity* IdentityOf(int64_t rank) const;

 private:
  const Table* Find(std::string_view name) const;

  std::span<const Table> tables_;
  std::span<const KernelSequence> sequences_;
  std::span<const CollectiveTrack> collectives_;
  std::span<const RankIdentity> identities_;
};

// All relations that AnalyzeAcrossRanks fills, in the order of `dladvisor facts`.
std::vector<const Schema*> AcrossRanksSchemas();

// One table per schema of AcrossRanksSchemas(), in that order.
std::vector<Table> AnalyzeAcrossRanks(const FleetFacts& facts);

}  // namespace dladvisor
