// SPDX-License-Identifier: Apache-2.0
// SQL over relations: an in-memory SQLite database in which every relation is a virtual table that reads the
// relation where it lies (no copies). Equality and range constraints on the relation's sorted column are
// pushed down as a binary search. Only SELECT on what was added is allowed: an authorizer refuses ATTACH,
// PRAGMA, writes, sqlite_master, extensions and the functions that read files, the clock or randomness; a
// budget of VM steps stops runaway statements. Double-quoted string literals are off.
// Extra functions: ratio(a, b) = a / b as real, NULL when b is 0 or either is NULL; regexp(pattern, text)
// behind the REGEXP operator, RE2 syntax.
// Not thread-safe: one Database per thread; relations may be shared.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql/binding.h"
#include "engine/store/relation.h"
#include "engine/store/sql_error.h"
#include "engine/store/sql_reads.h"

namespace dladvisor {

struct ResultColumn {
  std::string name;
  // Of a plain column the relation's; a computed column has the unit that its name ends in (_ns, _bytes,
  // _share).
  Unit unit = Unit::kNone;
};

struct ResultSet {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<Value>> rows;
};

class Database {
 public:
  Database();
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  // The relation must outlive the database. A second relation of the same name replaces the first.
  void Add(const Relation& relation);
  // The same for a relation that the database is to own.
  void Add(std::unique_ptr<const Relation> relation);
  // A named SELECT over relations, e.g. the tables under the names that DLProf's users know.
  void AddView(std::string_view name, std::string_view sql);

  // Statements that take more VM steps than this are stopped (about 20 ns each); 500 million.
  void SetStepBudget(int64_t steps);
  // Statements are stopped that take more memory than this, their result included; 512 MiB.
  void SetMemoryLimit(int64_t bytes);
  // A watchdog for statements whose steps are long, such as searches in large texts; two minutes. It looks at
  // the time between steps: a single call of a function can take longer. Ordinary statements end
  // by their steps, so that same input gives same results.
  void SetTimeLimit(std::chrono::milliseconds limit);

  std::vector<std::string> Views() const;        // sorted
  std::vector<const Schema*> Relations() const;  // in the order added
  const Schema* FindRelation(std::string_view name) const;
  size_t RowCount(std::string_view relation) const;  // REQUIRES: the relation was added
  // The rows themselves, computed where they were not, for what takes no SQL; null where there is none.
  const Relation* FindRows(std::string_view relation) const;

  // Runs one SELECT. Throws SqlError; the message names the nearest known word for unknown tables/columns.
  ResultSet Query(std::string_view sql, std::span<const Binding> bindings = {},
                  size_t max_rows = SIZE_MAX) const;
  // Checks one SELECT without running it. Throws SqlError.
  SqlReads Prepare(std::string_view sql) const;

  // While it lives, the statements of the database have one step budget and time limit together.
  class SharedBudget {
   public:
    explicit SharedBudget(const Database& db);
    ~SharedBudget();
    SharedBudget(const SharedBudget&) = delete;
    SharedBudget& operator=(const SharedBudget&) = delete;

   private:
    const Database& db_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dladvisor
