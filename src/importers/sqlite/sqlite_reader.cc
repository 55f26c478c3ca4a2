// SPDX-License-Identifier: Apache-2.0
#include "src/importers/sqlite/sqlite_reader.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/file_head.h"
#include "engine/base/sqlite.h"
#include "src/importers/sqlite/damaged.h"

namespace dladvisor::sqlite {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

uint32_t BigEndian(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// SQLite writes its own length into the header; the two counters agree where that number can be trusted.
void CheckLength(const std::string& where, std::string_view head, uint64_t bytes) {
  if (head.size() < 100) throw Damaged(where, "the SQLite database is truncated");
  uint64_t page = BigEndian(head, 16, 2);
  if (page == 1) page = 65536;
  if (page < 512 || (page & (page - 1)) != 0)
    throw Damaged(where, "the SQLite database is damaged: impossible page size");
  const uint64_t pages = BigEndian(head, 28, 4);
  const bool trusted = BigEndian(head, 24, 4) == BigEndian(head, 92, 4);
  if (trusted && pages * page > bytes)
    throw Damaged(where, "the SQLite database is truncated: " + std::to_string(bytes) + " of " +
                             std::to_string(pages * page) + " bytes are there");
}

// What another program has written but not yet merged into the file would be missing from every figure.
void CheckCompanions(const std::string& where, const fs::path& file) {
  std::error_code none;
  const fs::path wal = file.string() + "-wal", journal = file.string() + "-journal";
  if (fs::exists(wal, none) && fs::file_size(wal, none) > 0 && !none)
    throw Error(
        where,
        "a write-ahead log lies beside it (" + wal.filename().string() + "), with rows not yet in the file",
        "merge it first: sqlite3 '" + file.string() + "' 'PRAGMA wal_checkpoint(TRUNCATE)'");
  if (ReadHead(journal, kJournalMagic.size()) == kJournalMagic)
    throw Error(
        where,
        "a rollback journal lies beside it (" + journal.filename().string() + "): a write did not finish",
        "let SQLite restore it first: sqlite3 '" + file.string() + "' 'SELECT count(*) FROM sqlite_master'");
}

std::string ImmutableUri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || std::strchr("/-._~", c) != nullptr;
    if (plain && c != '\0') {
      uri += c;
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri + "?mode=ro&immutable=1";
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

}  // namespace

void Finalize::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Database::Database(const fs::path& path) : path_(path.string()) {
  std::error_code failed;
  fs::path file = fs::canonical(path, failed);  // companions lie beside what a link points to
  if (failed) file = path;
  const std::string head = ReadHead(file, 100);
  if (!std::string_view(head).starts_with(kSqliteMagic))
    throw Error(path_, "not a SQLite database", "give a file that a profiler wrote or exported");
  bytes_ = static_cast<int64_t>(fs::file_size(file, failed));
  CheckLength(path_, head, failed ? 0 : static_cast<uint64_t>(bytes_));
  CheckCompanions(path_, file);

  sqlite3* db = nullptr;
  const int rc = sqlite3_open_v2(ImmutableUri(file).c_str(), &db,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (rc != SQLITE_OK) Fail();
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);

  // Only ordinary tables: a view or virtual table runs code of whoever wrote the file.
  const Statement list =
      Prepare("SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
  while (Step(list)) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(list.get(), 0));
    if (name) tables_.emplace(name, sqlite3_column_int64(list.get(), 1));
  }
}

Statement Database::Prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    Fail();
  return Statement(statement);
}

bool Database::Step(const Statement& statement) const {
  const int rc = sqlite3_step(statement.get());
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) Fail();
  return rc == SQLITE_ROW;
}

int64_t Database::LastRow(std::string_view table) const {
  if (!Has(table)) return 0;
  sqlite3_stmt* raw = nullptr;
  const std::string sql = "SELECT max(rowid) FROM " + QuotedName(table);
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return 0;
  const Statement statement(raw);
  if (sqlite3_step(raw) != SQLITE_ROW) return 0;
  const int64_t most = bytes_ / 16;  // no activity row is smaller
  return std::clamp<int64_t>(sqlite3_column_int64(raw, 0), 0, most);
}

void Database::Fail() const {
  const int code = db_ ? sqlite3_errcode(db_.get()) & 0xFF : SQLITE_NOMEM;
  const std::string message = db_ ? sqlite3_errmsg(db_.get()) : "out of memory";
  switch (code) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
    case SQLITE_ERROR:  // a schema that SQLite cannot parse
      throw Damaged(path_, "the SQLite database is damaged: " + message);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error(path_, "cannot open the database: " + message, "check that you may read the file");
    default:
      throw Error(path_, "cannot read the database: " + message);
  }
}

Rows::Rows(const Database& db, std::string_view table, const std::vector<std::string_view>& columns,
           const RowRange& range)
    : db_(db), table_(table), index_(columns.size(), -1), range_(range) {
  if (!db.Has(table)) return;
  std::vector<std::string> present;
  {
    const Statement info = db.Prepare("PRAGMA table_xinfo(" + QuotedName(table) + ")");
    while (db.Step(info)) {
      const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(info.get(), 1));
      const bool generated = sqlite3_column_int(info.get(), 6) != 0;
      if (name && !generated) present.emplace_back(name);
    }
  }
  int selected = 0;
  size_t c = 0;
  for (const std::string_view column : columns) {
    for (const std::string& name : present) {
      if (!EqualsIgnoringCase(name, column)) continue;
      select_ += (selected ? ", " : "") + QuotedName(name);
      index_[c] = selected++;
      break;
    }
    ++c;
  }
  if (!selected) select_ = "NULL";
  from_ = " FROM " + QuotedName(table);
  if (range.first != RowRange{}.first || range.last != RowRange{}.last)
    from_ += " WHERE rowid BETWEEN " + std::to_string(range.first) + " AND " + std::to_string(range.last);
  statement_ = db.Prepare("SELECT " + select_ + from_);
}

bool Rows::Next() {
  if (!statement_) return false;
  if (!db_.Step(statement_)) {
    statement_.reset();
    return false;
  }
  CountRow();
  return true;
}

// A row takes two bytes at the least: more rows than that come from pages that refer to each other in a ring.
void Rows::CountRow() {
  if (++count_ > db_.bytes_)
    throw Damaged(db_.path_, "the SQLite database is damaged: " + table_ + " never ends");
}

struct Rows::Visit {
  Rows& rows;
  const std::function<void()>& visit;
  std::exception_ptr failed = nullptr;  // no exception may pass through SQLite
};

void Rows::Step(sqlite3_context* context, int, sqlite3_value** cells) {
  Visit& at = *static_cast<Visit*>(sqlite3_user_data(context));
  try {
    at.rows.CountRow();
    at.rows.cells_ = cells;
    at.visit();
  } catch (...) {
    at.failed = std::current_exception();
    sqlite3_result_error_code(context, SQLITE_ABORT);
  }
}

void Rows::ForEach(const std::function<void()>& visit) {
  if (!statement_) return;
  Visit at{*this, visit};
  constexpr char kFunction[] = "visit_row";
  if (sqlite3_create_function_v2(
          db_.db_.get(), kFunction, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &at, nullptr, Step,
          [](sqlite3_context*) {}, nullptr) != SQLITE_OK)
    db_.Fail();
  statement_ = db_.Prepare(std::string("SELECT ") + kFunction + "(" + select_ + ")" + from_);
  const int rc = sqlite3_step(statement_.get());
  cells_ = nullptr;
  if (at.failed) std::rethrow_exception(at.failed);
  if (rc != SQLITE_ROW) db_.Fail();
  statement_.reset();
}

size_t Rows::SizeHint() const {
  if (!statement_) return 0;
  const int64_t last = std::min(range_.last, db_.LastRow(table_));
  const int64_t before = std::max<int64_t>(range_.first, 1) - 1;
  return static_cast<size_t>(std::max<int64_t>(0, last - before));
}

sqlite3_value* Rows::Cell(size_t c) const {
  return cells_ ? cells_[index_[c]] : sqlite3_column_value(statement_.get(), index_[c]);
}

bool Rows::IsNull(size_t c) const { return index_[c] < 0 || sqlite3_value_type(Cell(c)) == SQLITE_NULL; }

bool Rows::IsText(size_t c) const {
  if (index_[c] < 0) return false;
  const int type = sqlite3_value_type(Cell(c));
  return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

bool Rows::GetInteger(size_t c, int64_t& value) const {
  if (index_[c] < 0) return false;
  sqlite3_value* cell = Cell(c);
  const int type = sqlite3_value_type(cell);
  if (type == SQLITE_INTEGER) {
    value = sqlite3_value_int64(cell);
    return true;
  }
  if (type != SQLITE_FLOAT) return false;
  const double real = sqlite3_value_double(cell);
  if (std::abs(real) >= 9e18 || real != std::floor(real)) return false;
  value = static_cast<int64_t>(real);
  return true;
}

std::optional<double> Rows::Real(size_t c) const {
  if (index_[c] < 0) return std::nullopt;
  sqlite3_value* cell = Cell(c);
  const int type = sqlite3_value_type(cell);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  const double value = sqlite3_value_double(cell);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string_view Rows::Text(size_t c) const {
  if (index_[c] < 0) return {};
  sqlite3_value* cell = Cell(c);
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(cell));
  if (!text) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(cell))};
}

}  // namespace dladvisor::sqlite
