// SPDX-License-Identifier: Apache-2.0
#include "src/gate/model/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <tuple>

#include "engine/base/error.h"
#include "engine/base/sqlite.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

constexpr int kFormatVersion = 1;
constexpr int64_t kApplicationId = 0x646c6168;  // "dlah", in the header of the file
constexpr int kBusyTimeoutMs = 30'000;          // gates hold the file for milliseconds

constexpr const char* kSchema =
    "CREATE TABLE history(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE run(id INTEGER PRIMARY KEY, utc_ns INTEGER, label TEXT, setting TEXT, verdict TEXT, "
    "recording "
    "TEXT);"
    "CREATE TABLE value(run INTEGER, metric TEXT, title TEXT, unit TEXT, value REAL, PRIMARY KEY(run, "
    "metric)) "
    "WITHOUT ROWID;"
    "CREATE TABLE finding(run INTEGER, rule TEXT, subject TEXT, PRIMARY KEY(run, rule, subject)) WITHOUT "
    "ROWID;";

constexpr const char* kStartAnother =
    "Restore it from a copy; --history may also name a file that is not there yet, to start a new one.";

[[noreturn]] void RefuseOther(const fs::path& path) {
  throw Error(path.string(), "is not a history of `dladvisor gate`",
              "Name one that is; for --history also a file that is not there yet, which is made.");
}

[[noreturn]] void RefuseDamaged(const fs::path& path, const std::string& detail) {
  throw Error(path.string(), fmt::format("is a damaged history ({})", detail), kStartAnother);
}

// Refuses a file that says by its first bytes that it is something else, before SQLite touches it. After a
// crash those bytes are only right once SQLite has rolled back what the journal beside the file holds.
void CheckHeader(const fs::path& path) {
  std::error_code none;
  if (fs::exists(path.string() + "-journal", none)) return;
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path, none))
    throw Error(path.string(), "cannot be read", "Check the path and its permissions.");
  unsigned char header[100] = {};
  in.read(reinterpret_cast<char*>(header), sizeof header);
  if (in.gcount() == 0) return;
  constexpr char kMagic[16] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3', 0};
  const int64_t id = header[68] << 24 | header[69] << 16 | header[70] << 8 | header[71];
  if (in.gcount() != sizeof header || std::memcmp(header, kMagic, sizeof kMagic) != 0 || id != kApplicationId)
    RefuseOther(path);
  // SQLite takes the rest of a page that is cut off for zeros.
  const unsigned page_size = header[16] << 8 | header[17];
  if (const auto size = fs::file_size(path, none); page_size == 0 || size % page_size != 0)
    RefuseDamaged(path, "its end is missing");
}

// The open file. A transaction that is not committed is rolled back when it closes.
class HistoryFile {
 public:
  // A statement of the file.
  class Statement {
   public:
    Statement(HistoryFile& file, const char* sql) : file_(file) {
      sqlite3_stmt* raw = nullptr;
      file.Check(sqlite3_prepare_v2(file.db_.get(), sql, -1, &raw, nullptr));
      statement_.reset(raw);
    }
    void Bind(int index, int64_t value) { file_.Check(sqlite3_bind_int64(statement_.get(), index, value)); }
    void Bind(int index, double value) { file_.Check(sqlite3_bind_double(statement_.get(), index, value)); }
    void Bind(int index, std::string_view text) {
      file_.Check(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                                      SQLITE_UTF8));
    }
    // To the next row; false at the end, where it can be bound again.
    bool Next() {
      const int rc = sqlite3_step(statement_.get());
      if (rc == SQLITE_ROW) return true;
      sqlite3_reset(statement_.get());
      if (rc != SQLITE_DONE) file_.Fail(rc);
      return false;
    }
    int64_t Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
    double Real(int column) const { return sqlite3_column_double(statement_.get(), column); }
    bool IsReal(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT; }
    std::string Text(int column) const {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
      const int size = sqlite3_column_bytes(statement_.get(), column);
      return text ? std::string(text, static_cast<size_t>(size)) : std::string();
    }

   private:
    HistoryFile& file_;
    SqliteStatement statement_;
  };

  // Opened for writing even to read: what a crash left is rolled back first. SQLite falls back to reading
  // where the file may not be written.
  enum class Missing { kFail, kMake };
  HistoryFile(const fs::path& path, Missing missing) : path_(path) {
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | (missing == Missing::kMake ? SQLITE_OPEN_CREATE : 0);
    const int rc = sqlite3_open_v2(fs::absolute(path).c_str(), &raw, flags, nullptr);
    db_.reset(raw);
    Check(rc);
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  }

  void Execute(const char* sql) { Check(sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr)); }

  // False where the file is empty. Throws Error where it holds anything but a history of this version.
  bool CheckFormat() {
    Statement tables(*this, "SELECT count(*) FROM sqlite_schema");
    tables.Next();
    if (tables.Integer(0) == 0) return false;
    Statement id(*this, "PRAGMA application_id");
    if (!id.Next() || id.Integer(0) != kApplicationId) RefuseOther(path_);
    Statement version(*this, "SELECT CAST(value AS INTEGER) FROM history WHERE key = 'format_version'");
    if (!version.Next() || version.Integer(0) < 1) FailDamaged("it names no format version");
    if (version.Integer(0) > kFormatVersion)
      throw Error(path_.string(),
                  fmt::format("has history format {}, this program reads up to {}", version.Integer(0),
                              kFormatVersion),
                  "Use the dladvisor that wrote it, or a newer one.");
    return true;
  }

  bool HasRecordings() {
    Statement column(*this, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'recording'");
    column.Next();
    return column.Integer(0) > 0;
  }

  void CheckWhole() {
    Statement check(*this, "PRAGMA quick_check(1)");
    if (!check.Next() || check.Text(0) != "ok") FailDamaged(check.Text(0));
  }

  [[noreturn]] void FailDamaged(const std::string& detail) const { RefuseDamaged(path_, detail); }

 private:
  void Check(int rc) const {
    if (rc != SQLITE_OK) Fail(rc);
  }

  [[noreturn]] void Fail(int rc) const {
    const std::string detail = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        throw Error(path_.string(), "is in use by another program", "Run it again when that has ended.");
      case SQLITE_CANTOPEN:
      case SQLITE_READONLY:
      case SQLITE_PERM:
      case SQLITE_FULL:
      case SQLITE_IOERR:
        throw Error(path_.string(), fmt::format("cannot be opened or written ({})", detail),
                    "Check the folder, its permissions and the free space.");
      default:
        FailDamaged(detail);
    }
  }

  fs::path path_;
  SqliteDb db_;
};

}  // namespace

std::vector<HistoryRun> ReadHistory(const fs::path& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return {};
  CheckHeader(path);
  HistoryFile file(path, HistoryFile::Missing::kFail);
  file.Execute("BEGIN");  // all of one state, whoever writes meanwhile
  if (!file.CheckFormat()) return {};
  std::vector<HistoryRun> runs;
  std::map<int64_t, size_t> index;
  HistoryFile::Statement rows(
      file, file.HasRecordings()
                ? "SELECT id, utc_ns, label, setting, verdict, recording FROM run ORDER BY id"
                : "SELECT id, utc_ns, label, setting, verdict, '' FROM run ORDER BY id");
  while (rows.Next()) {
    HistoryRun& run = runs.emplace_back();
    run.id = rows.Integer(0);
    run.utc_ns = rows.Integer(1);
    run.label = rows.Text(2);
    run.setting = rows.Text(3);
    run.verdict = rows.Text(4);
    run.recording = rows.Text(5);
    index[run.id] = runs.size() - 1;
  }
  const auto run_of = [&](int64_t id) -> HistoryRun& {
    const auto found = index.find(id);
    if (found == index.end()) file.FailDamaged(fmt::format("there is no run {}", id));
    return runs[found->second];
  };
  HistoryFile::Statement values(file, "SELECT run, metric, title, unit, value FROM value");
  while (values.Next()) {
    const auto unit = ParseUnit(values.Text(3));
    if (!unit || !values.IsReal(4)) file.FailDamaged(fmt::format("value of {}", values.Text(1)));
    run_of(values.Integer(0)).values[values.Text(1)] = {values.Text(2), *unit, values.Real(4)};
  }
  HistoryFile::Statement findings(file, "SELECT run, rule, subject FROM finding ORDER BY run, rule, subject");
  while (findings.Next())
    run_of(findings.Integer(0)).findings.emplace_back(findings.Text(1), findings.Text(2));
  std::ranges::stable_sort(runs, {}, &HistoryRun::utc_ns);
  return runs;
}

size_t MergeHistory(const fs::path& path, const fs::path& other) {
  const auto identity = [](const HistoryRun& run) {
    std::vector<std::pair<std::string, double>> values;
    for (const auto& [name, metric] : run.values) values.emplace_back(name, metric.value);
    return std::tuple(run.utc_ns, run.label, run.setting, std::move(values));
  };
  std::error_code none;
  if (!fs::exists(other, none))
    throw Error(other.string(), "is not there", "Give a history that a gate wrote.");
  std::set<decltype(identity(HistoryRun()))> known;
  for (const HistoryRun& run : ReadHistory(path)) known.insert(identity(run));
  size_t added = 0;
  for (const HistoryRun& run : ReadHistory(other))
    if (known.insert(identity(run)).second && AppendToHistory(path, run)) ++added;
  return added;
}

bool AppendToHistory(const fs::path& path, const HistoryRun& run) {
  std::error_code none;
  if (fs::exists(path, none)) CheckHeader(path);
  HistoryFile file(path, HistoryFile::Missing::kMake);
  file.Execute("PRAGMA journal_mode = DELETE");  // what is copied or cached is whole without other files
  file.Execute("BEGIN IMMEDIATE");
  if (file.CheckFormat()) {
    file.CheckWhole();
    if (!file.HasRecordings()) file.Execute("ALTER TABLE run ADD COLUMN recording TEXT");
  } else {
    file.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    file.Execute(kSchema);
    HistoryFile::Statement version(file, "INSERT INTO history VALUES('format_version', ?)");
    version.Bind(1, std::string_view(std::to_string(kFormatVersion)));
    version.Next();
  }

  if (!run.recording.empty()) {
    HistoryFile::Statement same(file, "SELECT 1 FROM run WHERE recording = ?");
    same.Bind(1, std::string_view(run.recording));
    if (same.Next()) return false;
  }
  HistoryFile::Statement row(
      file, "INSERT INTO run(utc_ns, label, setting, verdict, recording) VALUES(?, ?, ?, ?, ?) RETURNING id");
  row.Bind(1, run.utc_ns);
  row.Bind(2, std::string_view(run.label));
  row.Bind(3, std::string_view(run.setting));
  row.Bind(4, std::string_view(run.verdict));
  row.Bind(5, std::string_view(run.recording));
  row.Next();
  const int64_t id = row.Integer(0);
  row.Next();
  HistoryFile::Statement value(file, "INSERT INTO value VALUES(?, ?, ?, ?, ?)");
  for (const auto& [name, metric] : run.values) {
    if (!std::isfinite(metric.value)) continue;  // unknown
    value.Bind(1, id);
    value.Bind(2, std::string_view(name));
    value.Bind(3, std::string_view(metric.title));
    value.Bind(4, UnitName(metric.unit));
    value.Bind(5, metric.value);
    value.Next();
  }
  HistoryFile::Statement finding(file, "INSERT OR IGNORE INTO finding VALUES(?, ?, ?)");
  for (const auto& [rule, subject] : run.findings) {
    finding.Bind(1, id);
    finding.Bind(2, std::string_view(rule));
    finding.Bind(3, std::string_view(subject));
    finding.Next();
  }
  file.Execute("COMMIT");
  return true;
}

}  // namespace dladvisor
