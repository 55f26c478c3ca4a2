// SPDX-License-Identifier: Apache-2.0
// What SQLite asks while it prepares a statement: which actions, relations and functions are allowed. Notes
// what the statement reads.
#pragma once

#include <sqlite3.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/store/catalog.h"
#include "engine/store/sql_error.h"
#include "engine/store/sql_reads.h"
#include "engine/store/virtual_table.h"

namespace dladvisor {

class Authorizer {
 public:
  // All must outlive it.
  Authorizer(sqlite3* db, const Catalog& catalog, const RelationModule& module);

  // Between these two SQLite asks about what it prepares. What that reads is noted where `notes_reads`.
  void Begin(bool notes_reads);
  void End();

  // Why the statement `sql` was refused, if it was.
  std::optional<SqlError> Refusal(std::string_view sql) const;
  const std::set<ColumnRead>& columns() const { return columns_; }
  const std::set<std::string>& relations() const { return relations_; }

 private:
  int Decide(int action, const char* first, const char* second);
  int Refuse(std::string why, std::string word = {}, std::string hint = {});
  bool IsBuiltIn(std::string_view name) const;

  sqlite3* db_;
  const Catalog& catalog_;
  const RelationModule& module_;
  std::set<std::string, std::less<>> modules_;  // of SQLite's own virtual tables
  bool notes_reads_ = false;
  std::set<ColumnRead> columns_;
  std::set<std::string> relations_;
  std::string refusal_, refused_word_, hint_;  // of the first refusal
};

}  // namespace dladvisor
