// SPDX-License-Identifier: Apache-2.0
#include "src/importers/sqlite/sqlite_reader.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/base/cancellation.h"
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
  is_utf8_ = head.size() >= 100 && BigEndian(head, 56, 4) == SQLITE_UTF8;
  CheckLength(path_, head, failed ? 0 : static_cast<uint64_t>(bytes_));
  CheckCompanions(path_, file);

  sqlite3* db = nullptr;
  const int rc = sqlite3_open_v2(ImmutableUri(file).c_str(), &db,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (rc != SQLITE_OK) Fail();
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  constexpr int kStepsPerCheck = 10'000;
  sqlite3_progress_handler(
      db, kStepsPerCheck, [](void*) { return IsCancelled() ? 1 : 0; }, nullptr);

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
  ThrowIfCancelled();
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
  struct Present {
    std::string name;
    bool has_default;
  };
  std::vector<std::optional<Present>> present;  // by place in the table
  bool in_records = db.is_utf8_;
  {
    const Statement info = db.Prepare("PRAGMA table_xinfo(" + QuotedName(table) + ")");
    while (db.Step(info)) {
      const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(info.get(), 1));
      const bool has_default = sqlite3_column_type(info.get(), 4) != SQLITE_NULL;
      const bool in_key = sqlite3_column_int(info.get(), 5) != 0;  // maybe the number of the row itself
      const bool generated = sqlite3_column_int(info.get(), 6) != 0;
      present.emplace_back();
      if (name && !generated) present.back() = {name, has_default};
      in_records &= !in_key && !generated;
    }
  }
  int selected = 0;
  size_t c = 0;
  for (const std::string_view column : columns) {
    for (size_t i = 0; i < present.size(); ++i) {
      if (!present[i] || !EqualsIgnoringCase(present[i]->name, column)) continue;
      select_ += (selected ? ", " : "") + QuotedName(present[i]->name);
      index_[c] = selected++;
      stored_.push_back(static_cast<int>(i));
      in_records &= !present[i]->has_default;  // rows from before it was added lack it
      break;
    }
    ++c;
  }
  if (!in_records) stored_.clear();
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

void Rows::ForEach(const std::function<void()>& visit) {
  if (!statement_) return;
  if (stored_.empty()) {
    while (Next()) visit();
    return;
  }
  TableScan scan(db_.path_, db_.tables_.find(table_)->second, stored_);
  scanned_ = scan.cells();
  scan.ForEach(range_.first, range_.last, [&] {
    CountRow();
    visit();
  });
  scanned_ = nullptr;
  statement_.reset();
}

size_t Rows::SizeHint() const {
  if (!statement_) return 0;
  const int64_t last = std::min(range_.last, db_.LastRow(table_));
  const int64_t before = std::max<int64_t>(range_.first, 1) - 1;
  return static_cast<size_t>(std::max<int64_t>(0, last - before));
}

sqlite3_value* Rows::Cell(size_t c) const { return sqlite3_column_value(statement_.get(), index_[c]); }

bool Rows::IsNull(size_t c) const {
  if (index_[c] < 0) return true;
  return scanned_ ? Scanned(c).IsNull() : sqlite3_value_type(Cell(c)) == SQLITE_NULL;
}

bool Rows::IsText(size_t c) const {
  if (index_[c] < 0) return false;
  if (scanned_) return Scanned(c).IsText();
  const int type = sqlite3_value_type(Cell(c));
  return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

// Of a cell that no scan found to be an integer.
bool Rows::GetOtherInteger(size_t c, int64_t& value) const {
  double real = 0;
  if (scanned_) {
    if (!Scanned(c).IsReal()) return false;
    real = Scanned(c).Real();
  } else {
    sqlite3_value* cell = Cell(c);
    const int type = sqlite3_value_type(cell);
    if (type == SQLITE_INTEGER) {
      value = sqlite3_value_int64(cell);
      return true;
    }
    if (type != SQLITE_FLOAT) return false;
    real = sqlite3_value_double(cell);
  }
  if (!(std::abs(real) < 9e18) || real != std::floor(real)) return false;
  value = static_cast<int64_t>(real);
  return true;
}

std::optional<double> Rows::Real(size_t c) const {
  if (index_[c] < 0) return std::nullopt;
  double value = 0;
  if (scanned_) {
    const ScannedCell& cell = Scanned(c);
    if (!cell.IsInteger() && !cell.IsReal()) return std::nullopt;
    value = cell.IsReal() ? cell.Real() : static_cast<double>(cell.Integer());
  } else {
    sqlite3_value* cell = Cell(c);
    const int type = sqlite3_value_type(cell);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
    value = sqlite3_value_double(cell);
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string_view Rows::Text(size_t c) const {
  if (index_[c] < 0) return {};
  if (scanned_) return Scanned(c).IsText() ? Scanned(c).Text() : std::string_view();
  sqlite3_value* cell = Cell(c);
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(cell));
  if (!text) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(cell))};
}

}  // namespace dladvisor::sqlite
