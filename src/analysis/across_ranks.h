// Facts that need the facts of all ranks: computed from the merged relations of all profiles, after each was
// analysed alone. A profile by itself goes through it as well: it may hold several ranks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/relation.h"

namespace dladvisor {

// The merged relations: ranks and profiles are numbered once over all files.
class FleetFacts {
 public:
  explicit FleetFacts(std::span<const Table> tables) : tables_(tables) {}

  // The rows of a relation; none where no profile has it.
  template <class Row>
  std::vector<Row> RowsOf(const RelationOf<Row>& relation) const {
    const Table* table = Find(relation.schema().name);
    return table ? relation.ToRows(*table) : std::vector<Row>();
  }

 private:
  const Table* Find(std::string_view name) const;

  std::span<const Table> tables_;
};

// All relations that AnalyzeAcrossRanks fills, in the order of `dladvisor facts`.
std::vector<const Schema*> AcrossRanksSchemas();

// One table per schema of AcrossRanksSchemas(), in that order.
std::vector<Table> AnalyzeAcrossRanks(const FleetFacts& facts);

}  // namespace dladvisor
