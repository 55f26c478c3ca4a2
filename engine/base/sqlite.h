// SPDX-License-Identifier: Apache-2.0
// Handles of SQLite that close what they hold. Users link SQLite::SQLite3.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

namespace dladvisor {

struct CloseSqlite {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteDb = std::unique_ptr<sqlite3, CloseSqlite>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

// Opens a database, by default an empty one in memory. The handle is also there, with the error's message,
// where `rc` is not SQLITE_OK; it is null only where memory is short. One thread at a time may use it.
inline SqliteDb OpenSqlite(int& rc, const char* path = ":memory:",
                           int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
  sqlite3* raw = nullptr;
  rc = sqlite3_open_v2(path, &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  return SqliteDb(raw);
}

// Prepares one statement; null where it fails, with the error in the database.
inline SqliteStatement PrepareSqlite(sqlite3* db, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &raw, nullptr);
  return SqliteStatement(raw);
}

// A name as SQL takes it whatever it holds: in double quotes.
inline std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace dladvisor
