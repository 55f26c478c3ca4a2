// SPDX-License-Identifier: Apache-2.0
// Test databases from SQL text, and plain SQL over files, for values that do not come from the importer.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace dladvisor::test {

class Sqlite {
 public:
  explicit Sqlite(const std::filesystem::path& path, int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK)
      throw std::runtime_error("cannot open " + path.string());
  }
  ~Sqlite() { sqlite3_close_v2(db_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void Run(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error(std::string(sqlite3_errmsg(db_)) + " in " + sql);
  }

  // Rows of text cells; "" for NULL.
  std::vector<std::vector<std::string>> Query(const std::string& sql) {
    sqlite3_stmt* s = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &s, nullptr) != SQLITE_OK)
      throw std::runtime_error(std::string(sqlite3_errmsg(db_)) + " in " + sql);
    std::vector<std::vector<std::string>> rows;
    while (sqlite3_step(s) == SQLITE_ROW) {
      std::vector<std::string> row;
      for (int c = 0; c < sqlite3_column_count(s); ++c) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, c));
        row.emplace_back(text ? text : "", static_cast<size_t>(sqlite3_column_bytes(s, c)));
      }
      rows.push_back(row);
    }
    sqlite3_finalize(s);
    return rows;
  }

  bool HasTable(const std::string& name) {
    return !Query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + name + "'").empty();
  }

 private:
  sqlite3* db_ = nullptr;
};

inline std::filesystem::path MakeDatabase(const std::filesystem::path& path, const std::string& sql) {
  Sqlite(path).Run("BEGIN;" + sql + ";COMMIT");
  return path;
}

// Global ids as exports write them, of the first machine.
inline std::string Pid(int64_t pid) { return std::to_string((int64_t{1} << 48) + (pid << 24)); }
inline std::string Tid(int64_t pid, int64_t tid) {
  return std::to_string((int64_t{1} << 48) + (pid << 24) + tid);
}

}  // namespace dladvisor::test
