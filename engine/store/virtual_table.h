// SPDX-License-Identifier: Apache-2.0
// What is behind every relation in SQL: reads cells where they lie. Each is a module of SQLite of its own
// (eponymous, https://sqlite.org/vtab.html), which costs nothing until a statement names it. Pushed down are
// equality and range constraints on the relation's sorted column as a binary search, equality of other
// columns as a test of cells or, in joins, a look-up in an index, and the order of rows.
#pragma once

#include <sqlite3.h>

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/catalog.h"

namespace dladvisor {

class RelationModule {
 public:
  // `relations` must outlive the connections on which it is registered, as this must. `compute` is called
  // when a statement first searches a relation, whose rows may be computed then.
  RelationModule(const RelationMap& relations, std::function<void(const Relation& relation)> compute)
      : relations_(relations), compute_(std::move(compute)) {}
  RelationModule(const RelationModule&) = delete;
  RelationModule& operator=(const RelationModule&) = delete;

  // Statements then read `relations[name]` as a table of that name, in place of what had the name before.
  int Register(sqlite3* db, const std::string& name);
  // Frees what statements that have ended were given: it counts as memory of theirs.
  void ForgetIndexes();

  // Exceptions must not pass through SQLite: what stopped a statement is thrown after it, once.
  void ThrowFailure();

  const RelationMap& relations() const { return relations_; }
  // Gives SQLite the columns of a relation, for which it asks the authorizer of the statement that names it.
  int Declare(sqlite3* db, const std::string& declaration);
  bool is_declaring() const { return is_declaring_; }
  // False where that throws, which ThrowFailure() repeats.
  bool Compute(const Relation& relation) noexcept;
  // A table has an index that forget(table) frees.
  void HasIndex(sqlite3_vtab* table, void (*forget)(sqlite3_vtab*));

 private:
  const RelationMap& relations_;
  std::function<void(const Relation& relation)> compute_;
  std::exception_ptr failure_;
  bool is_declaring_ = false;
  std::vector<std::pair<sqlite3_vtab*, void (*)(sqlite3_vtab*)>> with_index_;
};

}  // namespace dladvisor
