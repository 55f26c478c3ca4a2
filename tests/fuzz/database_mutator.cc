// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/database_mutator.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

namespace dladvisor::fuzz {
namespace {

using Connection = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Random = std::minstd_rand;

Connection Open(const std::string& bytes) {
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  Connection db(opened, sqlite3_close);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) return db;
  std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  sqlite3_deserialize(db.get(), "main", copy, size, size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  return db;
}

std::string Bytes(sqlite3* db) {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(sqlite3_serialize(db, "main", &size, 0),
                                                                      sqlite3_free);
  return bytes == nullptr ? "" : std::string(bytes.get(), bytes.get() + size);
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + "\"";
}

// The first column of the rows; none where the statement fails.
std::vector<std::string> Texts(sqlite3* db, const std::string& sql) {
  std::vector<std::string> texts;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW)
    if (const unsigned char* text = sqlite3_column_text(statement, 0))
      texts.emplace_back(text, text + sqlite3_column_bytes(statement, 0));
  sqlite3_finalize(statement);
  return texts;
}

void Execute(sqlite3* db, const std::string& sql) {
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

std::vector<std::string> TablesOf(sqlite3* db) {
  return Texts(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
}

template <class T>
const T& OneOf(const std::vector<T>& all, Random& random) {
  return all[random() % all.size()];
}

std::string SomeValue(const std::string& column, Random& random) {
  static const std::vector<std::string> kValues = {"NULL",
                                                   "0",
                                                   "-1",
                                                   "1",
                                                   "255",
                                                   "2147483648",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "4611686018427387904",
                                                   "1e300",
                                                   "-0.5",
                                                   "''",
                                                   "'x'",
                                                   "x'00ff'",
                                                   "'{\"a\": [1, {\"b\": null}]}'",
                                                   "char(0, 10, 13, 65533, 1114111)",
                                                   "printf('%.*c', 5000, 'a')"};
  switch (random() % 4) {
    case 0:
      return fmt::format("{} + {}", column, static_cast<int>(random() % 2001) - 1000);
    case 1:
      return fmt::format("{} * {}", column, random() % 1'000'000);
    default:
      return OneOf(kValues, random);
  }
}

std::string OneChange(sqlite3* db, Random& random) {
  const std::vector<std::string> tables = TablesOf(db);
  if (tables.empty()) return "";
  const std::string& name = OneOf(tables, random);
  const std::string table = Quoted(name);
  const std::vector<std::string> columns =
      Texts(db, fmt::format("SELECT name FROM pragma_table_info({})", "'" + name + "'"));
  if (columns.empty()) return "DROP TABLE " + table;
  const std::string column = Quoted(OneOf(columns, random)), other = Quoted(OneOf(columns, random));
  const std::string some_row =
      fmt::format("rowid = (SELECT rowid FROM {} LIMIT 1 OFFSET abs({}) % max(1, (SELECT count(*) FROM {})))",
                  table, random(), table);
  switch (random() % 16) {
    case 0:
      return fmt::format("UPDATE {} SET {} = {}", table, column, SomeValue(column, random));
    case 1:
      return fmt::format("UPDATE {} SET {} = {}", table, column, other);
    case 2:
      return fmt::format("DELETE FROM {} WHERE {}", table, some_row);
    case 3:
      return fmt::format("INSERT OR IGNORE INTO {} SELECT * FROM {} WHERE {}", table, table, some_row);
    case 4:
      return fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column);
    case 5:
      return fmt::format("ALTER TABLE {} RENAME COLUMN {} TO {}", table, column,
                         Quoted("x" + std::to_string(random() % 9)));
    case 6:
      return "DROP TABLE " + table;
    case 7:
      return fmt::format("DELETE FROM {}", table);
    case 8:
      return fmt::format("ALTER TABLE {} RENAME TO {}", table, Quoted(OneOf(tables, random) + "_"));
    case 9:
      return fmt::format("UPDATE {} SET {} = (SELECT {} FROM {} ORDER BY random() LIMIT 1) WHERE {}", table,
                         column, other, table, some_row);
    default:
      return fmt::format("UPDATE {} SET {} = {} WHERE {}", table, column, SomeValue(column, random),
                         some_row);
  }
}

}  // namespace

std::string MutateDatabase(const std::string& bytes, unsigned seed) {
  Random random(seed);
  const Connection db = Open(bytes);
  const std::string change = OneChange(db.get(), random);
  if (change.empty()) return bytes;
  Execute(db.get(), change);
  const std::string changed = Bytes(db.get());
  return changed.empty() ? bytes : changed;
}

std::string ShrinkDatabase(const std::string& bytes, size_t rows) {
  const Connection db = Open(bytes);
  const std::vector<std::string> tables = TablesOf(db.get());
  if (tables.empty()) return "";
  for (const std::string& table : tables)
    Execute(db.get(), fmt::format("DELETE FROM {0} WHERE rowid NOT IN (SELECT rowid FROM {0} LIMIT {1})",
                                  Quoted(table), rows));
  Execute(db.get(), "VACUUM");
  return Bytes(db.get());
}

}  // namespace dladvisor::fuzz
