// SPDX-License-Identifier: Apache-2.0
// A SQLite file that somebody else wrote, opened so that nothing of it or beside it can change, and a reader
// that asks only for tables and columns that are there: sets of both differ by version of the exporter.
//
// The file is hostile until read: any cell may be NULL or of another type than declared, any page damaged.
// Damage found while reading is an Error that says so; a cell of the wrong type reads as absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/sqlite/table_scan.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace dladvisor::sqlite {

struct Finalize {
  void operator()(sqlite3_stmt* s) const;
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

class Database {
 public:
  // Checks header, length and companion files, then opens read-only and immutable. Throws Error.
  explicit Database(const std::filesystem::path& path);

  bool Has(std::string_view table) const { return tables_.contains(table); }
  const std::map<std::string, int64_t, std::less<>>& tables() const { return tables_; }
  const std::string& path() const { return path_; }
  // The highest rowid of a table, at most as many as the file could hold; 0 where the table has none.
  int64_t LastRow(std::string_view table) const;

 private:
  friend class Rows;
  struct Close {
    void operator()(sqlite3* db) const;
  };

  Statement Prepare(const std::string& sql) const;
  bool Step(const Statement& statement) const;  // false at the end
  [[noreturn]] void Fail() const;               // throws the Error for the last failed call of SQLite

  std::string path_;
  int64_t bytes_ = 0;
  bool is_utf8_ = false;
  std::unique_ptr<sqlite3, Close> db_;
  std::map<std::string, int64_t, std::less<>> tables_;  // name -> root page
};

// Rowids, inclusive.
struct RowRange {
  int64_t first = std::numeric_limits<int64_t>::min(), last = std::numeric_limits<int64_t>::max();
};

// The rows of one table, all or those of a range, in the file's order, with the columns asked for that exist;
// the others, and all of a missing table, read as NULL. Columns are then known by their position in
// `columns`. A range is only for tables with rowids: see Database::LastRow.
class Rows {
 public:
  Rows(const Database& db, std::string_view table, const std::vector<std::string_view>& columns,
       const RowRange& range = {});
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool Next();
  // Calls `visit` at each row, instead of Next(): for large tables, whose pages are read without SQLite where
  // their records hold all that is asked for.
  void ForEach(const std::function<void()>& visit);
  bool HasColumn(size_t c) const { return index_[c] >= 0; }
  int64_t count() const { return count_; }  // rows read so far
  // An upper bound of the rows, for reserving; never more than the file could hold.
  size_t SizeHint() const;

  bool IsNull(size_t c) const;
  bool IsText(size_t c) const;  // text or blob
  // Integers, and reals without a fraction.
  std::optional<int64_t> Integer(size_t c) const {
    int64_t value = 0;
    return GetInteger(c, value) ? std::optional(value) : std::nullopt;
  }
  int64_t Integer(size_t c, int64_t fallback) const {
    int64_t value = 0;
    return GetInteger(c, value) ? value : fallback;
  }
  std::optional<double> Real(size_t c) const;
  // Bytes as they are, "" for NULL, valid until the next row; of ForEach() also "" for numbers.
  std::string_view Text(size_t c) const;

 private:
  void CountRow();
  sqlite3_value* Cell(size_t c) const;
  const ScannedCell& Scanned(size_t c) const { return scanned_[index_[c]]; }
  // Integer() as its caller sees it, who can keep it in registers: most of the time of reading a row.
  bool GetInteger(size_t c, int64_t& value) const {
    if (index_[c] < 0) return false;
    if (!scanned_ || !Scanned(c).IsInteger()) return GetOtherInteger(c, value);
    value = Scanned(c).Integer();
    return true;
  }
  bool GetOtherInteger(size_t c, int64_t& value) const;

  const Database& db_;
  std::string table_;
  std::string select_, from_;  // of the statement
  std::vector<int> index_;     // column asked for -> column of the statement, or -1
  std::vector<int> stored_;    // columns of the statement as records hold them, none where they do not
  Statement statement_;
  const ScannedCell* scanned_ = nullptr;  // of the row that ForEach() is at, where SQLite does not read it
  int64_t count_ = 0;
  RowRange range_;
};

}  // namespace dladvisor::sqlite
