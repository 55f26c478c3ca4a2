// SPDX-License-Identifier: Apache-2.0
// The one SQLite module behind every relation: reads cells where they lie. Pushed down are equality and range
// constraints on the relation's sorted column as a binary search, equality of other columns as a test of
// cells or, in joins, a look-up in an index, and the order of rows.
#pragma once

#include <sqlite3.h>

#include <utility>
#include <vector>

#include "engine/store/catalog.h"

namespace dladvisor {

inline constexpr const char* kRelationModule = "relation";

class RelationModule {
 public:
  // `relations` must outlive the connections that this is registered on, as this must.
  explicit RelationModule(const RelationMap& relations) : relations_(relations) {}
  RelationModule(const RelationModule&) = delete;
  RelationModule& operator=(const RelationModule&) = delete;

  // `CREATE VIRTUAL TABLE temp.x USING relation` then reads `relations["x"]`.
  int Register(sqlite3* db);
  // Frees what statements that have ended were given: it counts as memory of theirs.
  void ForgetIndexes();

  const RelationMap& relations() const { return relations_; }
  // A table has an index that forget(table) frees.
  void HasIndex(sqlite3_vtab* table, void (*forget)(sqlite3_vtab*));

 private:
  const RelationMap& relations_;
  std::vector<std::pair<sqlite3_vtab*, void (*)(sqlite3_vtab*)>> with_index_;
};

}  // namespace dladvisor
