// SPDX-License-Identifier: Apache-2.0
// A family of facts: a relation with all that is known of it, declared once, in the file of the relation.
//
//   const Family& GpuFamily() {
//     static const Family family = FamilyOf(GpuRelation(), ComputeGpus);
//     return family;
//   }
//
// The parameters of the function are what the rows are computed from (values.h). It gives the rows, one row,
// the table of them, or a value of which a member holds them: FamilyOf(OpRelation(), &OpFamilies::ops). A
// family that is computed from values of the fleet compares ranks; all others are of one profile, and of
// several profiles become one relation as the family says. families.def lists all of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/family/numbering.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

// Where one of several profiles stands among all, whose ranks, steps and files are numbered once.
struct ProfilePlace {
  int64_t profile = 0;                     // number of the file
  int64_t rank_shift = 0, step_shift = 0;  // from its own numbers to those among all
  std::optional<int64_t> duplicate_of;     // number of the file that holds the same rank
  std::optional<int64_t> node;             // of a log: nothing in it says so itself
};

// The rows of a relation in one profile, and how many ranks that holds.
template <class Row>
struct ProfileRows {
  std::vector<Row> rows;
  int64_t ranks = 0;
};

// The relations of a fleet. Refers to the tables.
struct FleetTables {
  std::span<const Table> tables;

  // Null where there is none of that name.
  const Table* Find(std::string_view name) const;
  template <class Row>
  std::vector<Row> RowsOf(const RelationOf<Row>& relation) const {
    const Table* table = Find(relation.schema().name);
    return table ? relation.ToRows(*table) : std::vector<Row>();
  }
};
template <>
inline constexpr Given kValue<FleetTables>{"relations of all ranks", Subject::kFleet};

// The rows of a relation over all ranks, as the input of a family that compares ranks; RELATION is the
// function that declares it: const RowsOfFleet<GpuRelation>& gpus.
template <auto Relation>
struct RowsOfFleet;
template <class Row, const RelationOf<Row>& (*Relation)()>
struct RowsOfFleet<Relation> {
  std::vector<Row> rows;

  static std::string Name() { return Relation().schema().name + " of all ranks"; }
  static RowsOfFleet Read(const FleetTables& tables) { return {tables.RowsOf(Relation())}; }
};
template <auto Relation>
inline constexpr Computed kValue<RowsOfFleet<Relation>>{"", &RowsOfFleet<Relation>::Read};

// What all ranks have beside relations, as an input of a family that compares them.
template <class T>
struct OfFleet {
  std::span<const T> all;
};

struct Family {
  enum class Merge {
    kRows,     // rows of all profiles, but for those that hold a rank a second time
    kOfFiles,  // rows of all profiles
    kOwn,      // `merge` makes them
  };
  // `fleet` are the relations that have been merged from rows.
  using MergeTables = std::function<Table(std::span<const std::pair<const Table*, int64_t>> profiles,
                                          const FleetTables& fleet)>;

  const Schema* schema = nullptr;
  std::shared_ptr<const ValueKind> kind;  // a Relation
  bool detail = false;                    // of very many profiles it is kept of some only
  bool on_demand = false;                 // computed when it is first read; no digest has it
  std::optional<size_t> sorted;           // of on-demand rows, the column that is in ascending order
  Merge merge = Merge::kRows;
  MergeTables merge_tables;                                       // of kOwn
  std::function<Table(const Table&, const ProfilePlace&)> place;  // what numberings alone do not say, or null

  bool IsAcrossRanks() const { return kind->subject == Subject::kFleet; }

  Family Detail() && {
    detail = true;
    return std::move(*this);
  }
  Family OnDemand(std::optional<size_t> sorted_column = std::nullopt) && {
    on_demand = true;
    sorted = sorted_column;
    return std::move(*this);
  }
  Family OfFiles() && {
    merge = Merge::kOfFiles;
    return std::move(*this);
  }
  // Changes a row to what it is among several profiles.
  template <class Row>
  Family Placed(const RelationOf<Row>& relation, void (*change)(Row& row, const ProfilePlace& place)) && {
    place = [&relation, change](const Table& table, const ProfilePlace& at) {
      std::vector<Row> rows = relation.ToRows(table);
      for (Row& row : rows) change(row, at);
      return relation.ToTable(rows);
    };
    return std::move(*this);
  }
  template <class Row>
  Family MergedBy(const RelationOf<Row>& relation,
                  std::vector<Row> (*rows_of)(const std::vector<ProfileRows<Row>>& profiles,
                                              const FleetTables& fleet)) && {
    merge = Merge::kOwn;
    merge_tables = [&relation, rows_of](std::span<const std::pair<const Table*, int64_t>> profiles,
                                        const FleetTables& fleet) {
      std::vector<ProfileRows<Row>> all;
      for (const auto& [table, ranks] : profiles) all.push_back({relation.ToRows(*table), ranks});
      return relation.ToTable(rows_of(all, fleet));
    };
    return std::move(*this);
  }
};

// A family of this schema whose relation a function gives as std::shared_ptr<Relation>.
Family MakeFamily(const Schema& schema, std::vector<const ValueKind*> inputs,
                  std::function<std::shared_ptr<void>(const ComputedValues& values)> compute);
// The table as such a relation.
std::shared_ptr<void> SharedRelation(Table table);

// Of a relation that is not a table of rows: `make` gives it as std::unique_ptr<Relation>, or as a
// shared one.
template <class Make>
Family FamilyOfRelation(const Schema& schema, Make make) {
  using Function = Signature<Make>;
  return MakeFamily(schema, Function::Kinds(), [make](const ComputedValues& values) -> std::shared_ptr<void> {
    return std::shared_ptr<Relation>(Function::Call(make, values));
  });
}

template <class Row, class Compute>
Family FamilyOf(const RelationOf<Row>& relation, Compute compute) {
  using Function = Signature<Compute>;
  return MakeFamily(relation.schema(), Function::Kinds(), [&relation, compute](const ComputedValues& values) {
    decltype(auto) rows = Function::Call(compute, values);
    if constexpr (std::is_same_v<decltype(rows), Table>)
      return SharedRelation(std::move(rows));
    else if constexpr (std::convertible_to<decltype(rows), std::span<const Row>>)
      return SharedRelation(relation.ToTable(rows));
    else
      return SharedRelation(relation.ToTable({&rows, 1}));
  });
}

// The rows are a member of a value.
template <class Row, class Value>
Family FamilyOf(const RelationOf<Row>& relation, std::vector<Row> Value::*member) {
  return FamilyOf(relation,
                  [member](const Value& value) -> const std::vector<Row>& { return value.*member; });
}

// The rows are a value, which others are computed from, too.
template <class Value, class Row>
Family FamilyOf(const RelationOf<Row>& relation) {
  return FamilyOf(relation, [](const Value& value) -> const Value& { return value; });
}

}  // namespace dladvisor
