// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "engine/base/cancellation.h"
#include "engine/base/error.h"
#include "engine/base/file_head.h"
#include "engine/base/output_file.h"
#include "engine/base/sqlite.h"
#include "engine/base/text.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

using Db = SqliteDb;
using Statement = SqliteStatement;

// Stands in the header of SQLite files for what they are: "dlad" of a digest.
constexpr int kApplicationId = 0x646c6164, kIdAt = 68;
constexpr std::string_view kIdBytes = "dlad";

// Of a table of every digest, and how far from the beginning of the file it stands at most.
constexpr std::string_view kDefinition = "CREATE TABLE digest_relation(name TEXT PRIMARY KEY";
constexpr size_t kDefinitionsWithin = 256 << 10;

// Refuses files that are not digests with a sentence that says what to do instead.
[[noreturn]] void Refuse(const fs::path& path, const std::string& reason) {
  throw Error(path.string(), reason,
              fmt::format("Write it again with `dladvisor digest PROFILE -o {}`.", path.string()));
}

[[noreturn]] void RefuseToRead(int rc, const std::string& why, const fs::path& path) {
  ThrowIfCancelled();
  if (rc == SQLITE_NOMEM) throw Error(path.string(), "cannot be read: " + why, "Check the free memory.");
  Refuse(path, fmt::format("is a damaged digest ({})",
                           rc == SQLITE_INTERRUPT ? "its tables hold more than the file could" : why));
}

// Stops statements that take more steps than any over the rows of so large a file.
class StepBudget {
 public:
  explicit StepBudget(uintmax_t bytes) : checks_left_(static_cast<int64_t>(bytes / 100) + 1000) {}

  // REQUIRES: it outlives the connection.
  void Watch(sqlite3* db) {
    sqlite3_progress_handler(
        db, kStepsPerCheck,
        [](void* self) {
          return IsCancelled() || --static_cast<StepBudget*>(self)->checks_left_ < 0 ? 1 : 0;
        },
        this);
  }

 private:
  static constexpr int kStepsPerCheck = 1000;
  int64_t checks_left_;
};

Statement Prepare(sqlite3* db, const std::string& sql, const fs::path& path) {
  Statement statement = PrepareSqlite(db, sql.c_str());
  if (!statement) RefuseToRead(sqlite3_errcode(db), sqlite3_errmsg(db), path);
  return statement;
}

// Steps to the next row; false at the end.
bool NextRow(sqlite3* db, const Statement& statement, const fs::path& path) {
  const int rc = sqlite3_step(statement.get());
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) RefuseToRead(rc, sqlite3_errmsg(db), path);
  return rc == SQLITE_ROW;
}

bool IsPlainName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Names become part of SQL, and no relation or column that this program writes has another.
void CheckName(const std::string& name, const std::string& of, const fs::path& path) {
  if (!IsPlainName(name))
    Refuse(path, fmt::format("is a damaged digest (name of {}: '{}' is not of letters, digits and _)", of,
                             ValidUtf8(name)));
}

std::string Text(const Statement& s, int column) {
  const auto* text = static_cast<const char*>(sqlite3_column_blob(s.get(), column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(s.get(), column))) : std::string();
}

// The value at hand, whose text lies in the statement; nothing where it does not fit the type.
std::optional<CellView> ReadCell(const Statement& s, int column, Type type) {
  sqlite3_value* value = sqlite3_column_value(s.get(), column);
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      if (type == Type::kText) return std::nullopt;
      return CellView::Of(int64_t{sqlite3_value_int64(value)});
    case SQLITE_FLOAT:
      if (type != Type::kReal) return std::nullopt;
      return CellView::Of(sqlite3_value_double(value));
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
      if (type != Type::kText) return std::nullopt;
      const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
      const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
      return CellView::Of(text ? std::string_view(text, size) : std::string_view());
    }
    default:
      return CellView::Null();
  }
}

int Bind(sqlite3_stmt* s, int index, const CellView& cell) {
  switch (cell.kind) {
    case CellView::Kind::kNull:
      return sqlite3_bind_null(s, index);
    case CellView::Kind::kInteger:
      return sqlite3_bind_int64(s, index, cell.integer);
    case CellView::Kind::kReal:
      return sqlite3_bind_double(s, index, cell.real);
    case CellView::Kind::kText:
      return sqlite3_bind_text64(s, index, cell.text.data(), cell.text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return SQLITE_MISUSE;
}

// The database in memory, so that it reaches the disk in one atomic write. Every call of SQLite that fails is
// an Error about `name`: a digest is whole or not there.
class DigestWriter {
 public:
  explicit DigestWriter(std::string name) : name_(std::move(name)) {
    int rc = SQLITE_OK;
    db_ = OpenSqlite(rc);
    Check(rc);
    Execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
    Execute("BEGIN");
    Execute("CREATE TABLE digest(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID");
    Execute(std::string(kDefinition) + ", position INTEGER, doc TEXT) WITHOUT ROWID");
    Execute(
        "CREATE TABLE digest_column(relation TEXT, position INTEGER, name TEXT, type TEXT, unit TEXT, doc "
        "TEXT, "
        "nullable INTEGER, capture TEXT, key_position INTEGER, PRIMARY KEY(relation, position)) WITHOUT "
        "ROWID");
    Execute(
        "CREATE TABLE kernel_sequence(n INTEGER PRIMARY KEY, rank INTEGER, device INTEGER, fingerprint "
        "INTEGER, "
        "names BLOB, communication BLOB, blocks BLOB, other_steps INTEGER, cells BLOB)");
    Execute(
        "CREATE TABLE kernel_sequence_step(n INTEGER, position INTEGER, step INTEGER, start_ns INTEGER, "
        "end_ns INTEGER, to_sync_ns INTEGER, blocks INTEGER, PRIMARY KEY(n, position)) WITHOUT ROWID");
    Execute("CREATE TABLE collective_track(n INTEGER PRIMARY KEY, rank INTEGER, device INTEGER, calls BLOB)");
    Execute(
        "CREATE TABLE collective_track_kind(n INTEGER, position INTEGER, collective TEXT, process_group "
        "TEXT, "
        "group_ranks TEXT, stream INTEGER, PRIMARY KEY(n, position)) WITHOUT ROWID");
    Insert("digest", {std::string("format_version"), std::to_string(kDigestFormatVersion)});
  }

  void Add(const Table& table, int64_t position) {
    const Schema& schema = table.schema();
    Insert("digest_relation", {schema.name, position, schema.doc});
    std::string columns;
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      const Column& c = schema.columns[i];
      const auto key = std::find(schema.key.begin(), schema.key.end(), c.name);
      Insert("digest_column",
             {schema.name, static_cast<int64_t>(i), c.name, std::string(TypeName(c.type)),
              std::string(UnitName(c.unit)), c.doc, static_cast<int64_t>(c.nullable), c.capture,
              key == schema.key.end() ? Value() : Value(static_cast<int64_t>(key - schema.key.begin()))});
      columns += (i ? ", " : "") + QuotedName(c.name);
    }
    const std::string name = "fact_" + schema.name;
    Execute("CREATE TABLE " + QuotedName(name) + "(" + columns + ")");
    const Statement insert = PrepareInsert(name, schema.columns.size());
    for (size_t row = 0; row < table.rows(); ++row) {
      for (size_t c = 0; c < schema.columns.size(); ++c)
        Check(Bind(insert.get(), static_cast<int>(c) + 1, table.At(row, c)));
      Step(insert);
    }
  }

  void Add(const KernelSequence& sequence, int64_t n) {
    std::string names, blocks;
    for (const std::string& name : sequence.names) names += name + '\0';
    for (const double of_position : sequence.blocks)
      blocks.append(reinterpret_cast<const char*>(&of_position), sizeof of_position);
    Insert("kernel_sequence",
           {n, sequence.rank, sequence.device, static_cast<int64_t>(sequence.fingerprint), names,
            std::string(sequence.communication.begin(), sequence.communication.end()), blocks,
            sequence.other_steps, sequence.encoded});
    for (int64_t i = 0; const KernelSequence::Step& step : sequence.steps)
      Insert("kernel_sequence_step", {n, i++, step.number, step.start_ns, step.end_ns,
                                      step.to_sync_ns ? Value(*step.to_sync_ns) : Value(), step.blocks});
  }

  void Add(const CollectiveTrack& track, int64_t n) {
    Insert("collective_track", {n, track.rank, track.device, EncodeCalls(track.calls)});
    for (int64_t i = 0; const CollectiveTrack::Kind& kind : track.kinds)
      Insert("collective_track_kind", {n, i++, kind.collective, kind.group, kind.group_ranks, kind.stream});
  }

  // The file's bytes.
  std::string Finish() {
    Execute("COMMIT");
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
        sqlite3_serialize(db_.get(), "main", &size, 0), sqlite3_free);
    if (!bytes) Check(SQLITE_NOMEM);
    return {reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)};
  }

 private:
  void Check(int rc) {
    if (rc == SQLITE_OK) return;
    throw Error(name_, fmt::format("cannot be written: {}", sqlite3_errstr(rc)),
                "Check the free memory, or write digests of fewer profiles.");
  }

  void Execute(const std::string& sql) {
    Check(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  void Step(const Statement& insert) {
    const int rc = sqlite3_step(insert.get());
    Check(rc == SQLITE_DONE ? SQLITE_OK : rc);
    Check(sqlite3_reset(insert.get()));
  }

  Statement PrepareInsert(std::string_view table, size_t columns) {
    std::string marks = "?";
    for (size_t i = 1; i < columns; ++i) marks += ",?";
    Statement insert =
        PrepareSqlite(db_.get(), ("INSERT INTO " + QuotedName(table) + " VALUES(" + marks + ")").c_str());
    if (!insert) Check(sqlite3_errcode(db_.get()));
    return insert;
  }

  void Insert(std::string_view table, const std::vector<Value>& values) {
    const Statement insert = PrepareInsert(table, values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      CellView cell;
      if (const auto* integer = std::get_if<int64_t>(&values[i])) cell = CellView::Of(*integer);
      if (const auto* text = std::get_if<std::string>(&values[i]))
        cell = CellView::Of(std::string_view(*text));
      Check(Bind(insert.get(), static_cast<int>(i) + 1, cell));
    }
    Step(insert);
  }

  std::string name_;
  Db db_;
};

std::string ReadBytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string(), "cannot be read", "Check the path and its permissions.");
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

// Opens the bytes as a read-only database in memory: nothing is ever written beside the user's file.
Db OpenBytes(std::string& content, const fs::path& path) {
  int rc = SQLITE_OK;
  Db db = OpenSqlite(rc);
  const auto size = static_cast<sqlite3_int64>(content.size());
  if (rc == SQLITE_OK)
    rc = sqlite3_deserialize(db.get(), "main", reinterpret_cast<unsigned char*>(content.data()), size, size,
                             SQLITE_DESERIALIZE_READONLY);
  if (rc != SQLITE_OK) RefuseToRead(rc, sqlite3_errstr(rc), path);
  return db;
}

uint32_t BigEndian(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// SQLite writes the size of its pages and their number into the header.
void CheckLength(std::string_view content, const fs::path& path) {
  constexpr size_t kHeader = 100;
  if (content.size() < kHeader) Refuse(path, "is an incomplete digest");
  const uint64_t page = BigEndian(content, 16, 2),
                 bytes = (page == 1 ? 65536 : page) * BigEndian(content, 28, 4);
  if (bytes > content.size())
    Refuse(path, fmt::format("is an incomplete digest: {} of {} bytes are there", content.size(), bytes));
}

// A view or a virtual table runs code of whoever wrote the file.
void CheckTables(sqlite3* db, const fs::path& path) {
  const Statement strange = Prepare(db,
                                    "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR "
                                    "(type = 'table' AND rootpage = 0)",
                                    path);
  if (NextRow(db, strange, path))
    Refuse(path, fmt::format("is a damaged digest ({} is not a table)", ValidUtf8(Text(strange, 0))));
}

// `columns` gives those of the relation that it is asked for.
constexpr const char* kColumnsOfRelation =
    "SELECT name, type, unit, doc, nullable, capture, key_position FROM digest_column WHERE relation = ? "
    "ORDER BY position";

Schema ReadSchema(sqlite3* db, const Statement& columns, std::string name, std::string doc,
                  const fs::path& path) {
  CheckName(name, "a relation", path);
  Schema schema{std::move(name), std::move(doc), {}, {}};
  sqlite3_reset(columns.get());
  sqlite3_bind_text(columns.get(), 1, schema.name.c_str(), -1, SQLITE_TRANSIENT);
  std::vector<std::pair<int64_t, std::string>> keys;
  while (NextRow(db, columns, path)) {
    CheckName(Text(columns, 0), "a column of " + schema.name, path);
    const auto type = ParseType(Text(columns, 1));
    if (!type)
      Refuse(path, fmt::format("is a damaged digest (type of {}.{})", schema.name, Text(columns, 0)));
    schema.columns.push_back({Text(columns, 0), *type, ParseUnit(Text(columns, 2)).value_or(Unit::kNone),
                              Text(columns, 3), sqlite3_column_int(columns.get(), 4) != 0, Text(columns, 5)});
    if (sqlite3_column_type(columns.get(), 6) == SQLITE_INTEGER)
      keys.emplace_back(sqlite3_column_int64(columns.get(), 6), Text(columns, 0));
  }
  std::sort(keys.begin(), keys.end());
  for (auto& key : keys) schema.key.push_back(std::move(key.second));
  return schema;
}

Table ReadTable(sqlite3* db, Schema schema, const fs::path& path) {
  std::string columns;
  for (const Column& c : schema.columns) columns += (columns.empty() ? "" : ", ") + QuotedName(c.name);
  Table table(std::move(schema));
  const Schema& known = table.schema();
  const Statement rows = Prepare(
      db, "SELECT " + columns + " FROM " + QuotedName("fact_" + known.name) + " ORDER BY rowid", path);
  const size_t count = known.columns.size();
  while (NextRow(db, rows, path))
    for (size_t c = 0; c < count; ++c) {
      const std::optional<CellView> cell = ReadCell(rows, static_cast<int>(c), known.columns[c].type);
      if (!cell)
        Refuse(path, fmt::format("is a damaged digest (value of {}.{})", known.name, known.columns[c].name));
      table.AddCell(c, *cell);
    }
  return table;
}

// Names end in a zero byte; blocks are doubles as this machine has them, which are the same on all that run
// CUDA.
std::vector<KernelSequence> ReadSequences(sqlite3* db, const fs::path& path) {
  std::vector<KernelSequence> sequences;
  const Statement rows = Prepare(db,
                                 "SELECT n, rank, device, fingerprint, names, communication, blocks, "
                                 "other_steps, cells FROM kernel_sequence ORDER BY n",
                                 path);
  const Statement steps = Prepare(db,
                                  "SELECT step, start_ns, end_ns, to_sync_ns, blocks FROM "
                                  "kernel_sequence_step WHERE n = ? ORDER BY position",
                                  path);
  while (NextRow(db, rows, path)) {
    KernelSequence& sequence = sequences.emplace_back();
    sequence.rank = sqlite3_column_int64(rows.get(), 1);
    sequence.device = sqlite3_column_int64(rows.get(), 2);
    sequence.fingerprint = static_cast<uint64_t>(sqlite3_column_int64(rows.get(), 3));
    const std::string names = Text(rows, 4), communication = Text(rows, 5), blocks = Text(rows, 6);
    for (size_t at = 0; at < names.size();) {
      const size_t end = std::min(names.find('\0', at), names.size());
      sequence.names.push_back(names.substr(at, end - at));
      at = end + 1;
    }
    sequence.communication.assign(communication.begin(), communication.end());
    sequence.blocks.resize(blocks.size() / sizeof(double));
    if (!sequence.blocks.empty())
      std::memcpy(sequence.blocks.data(), blocks.data(), sequence.blocks.size() * sizeof(double));
    sequence.other_steps = sqlite3_column_int64(rows.get(), 7);
    sequence.encoded = Text(rows, 8);
    sqlite3_bind_int64(steps.get(), 1, sqlite3_column_int64(rows.get(), 0));
    while (NextRow(db, steps, path)) {
      KernelSequence::Step step;
      step.number = sqlite3_column_int64(steps.get(), 0);
      step.start_ns = sqlite3_column_int64(steps.get(), 1);
      step.end_ns = sqlite3_column_int64(steps.get(), 2);
      if (sqlite3_column_type(steps.get(), 3) == SQLITE_INTEGER)
        step.to_sync_ns = sqlite3_column_int64(steps.get(), 3);
      step.blocks = sqlite3_column_int64(steps.get(), 4);
      sequence.steps.push_back(step);
    }
    sqlite3_reset(steps.get());
    if (sequence.communication.size() != sequence.length() || sequence.blocks.size() != sequence.length())
      Refuse(path, "is a damaged digest (kernel sequences)");
    try {
      DecodeCells(sequence);
    } catch (const Error&) {
      Refuse(path, "is a damaged digest (kernel sequences)");
    }
  }
  return sequences;
}

std::vector<CollectiveTrack> ReadTracks(sqlite3* db, const fs::path& path) {
  std::vector<CollectiveTrack> tracks;
  const Statement rows = Prepare(db, "SELECT n, rank, device, calls FROM collective_track ORDER BY n", path);
  const Statement kinds = Prepare(db,
                                  "SELECT collective, process_group, group_ranks, stream FROM "
                                  "collective_track_kind WHERE n = ? ORDER BY position",
                                  path);
  while (NextRow(db, rows, path)) {
    CollectiveTrack& track = tracks.emplace_back();
    track.rank = sqlite3_column_int64(rows.get(), 1);
    track.device = sqlite3_column_int64(rows.get(), 2);
    sqlite3_bind_int64(kinds.get(), 1, sqlite3_column_int64(rows.get(), 0));
    while (NextRow(db, kinds, path))
      track.kinds.push_back(
          {Text(kinds, 0), Text(kinds, 1), Text(kinds, 2), sqlite3_column_int64(kinds.get(), 3)});
    sqlite3_reset(kinds.get());
    try {
      track.calls = DecodeCalls(Text(rows, 3), track.kinds.size());
    } catch (const Error&) {
      Refuse(path, "is a damaged digest (collectives)");
    }
  }
  return tracks;
}

}  // namespace

bool IsDigest(const fs::path& path) {
  const std::string head = ReadHead(path, kIdAt + 4);
  if (!head.starts_with(kSqliteMagic)) return false;
  if (head.ends_with(kIdBytes)) return true;
  // One without it, of an earlier version or copied by other tools.
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  std::error_code error;
  StepBudget budget(fs::file_size(path, error));
  int rc = SQLITE_OK;
  const Db db = OpenSqlite(rc, (uri + "?immutable=1").c_str(), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (rc != SQLITE_OK) return false;
  const Statement table = PrepareSqlite(
      db.get(), "SELECT 1 FROM sqlite_schema WHERE name = 'digest' AND type = 'table' AND rootpage > 0");
  if (!table)  // it is cut or damaged, which whoever reads it reports
    return ReadHead(path, kDefinitionsWithin).find(kDefinition) != std::string::npos;
  if (sqlite3_step(table.get()) != SQLITE_ROW) return false;
  budget.Watch(db.get());
  const Statement version = PrepareSqlite(db.get(), "SELECT 1 FROM digest WHERE key = 'format_version'");
  return version && sqlite3_step(version.get()) == SQLITE_ROW;
}

Digest ReadDigest(const fs::path& path) { return ParseDigest(ReadBytes(path), path.string()); }

Digest ParseDigest(std::string content, const std::string& name) {
  const fs::path path = name;
  if (!std::string_view(content).starts_with(kSqliteMagic)) Refuse(path, "is not a digest");
  CheckLength(content, path);
  StepBudget budget(content.size());
  const Db db = OpenBytes(content, path);
  budget.Watch(db.get());
  CheckTables(db.get(), path);
  const Statement version =
      Prepare(db.get(), "SELECT CAST(value AS INTEGER) FROM digest WHERE key = 'format_version'", path);
  if (!NextRow(db.get(), version, path)) Refuse(path, "is not a digest (it names no format version)");
  if (const int found = sqlite3_column_int(version.get(), 0); found != kDigestFormatVersion)
    throw Error(path.string(),
                fmt::format("has digest format {}, this program reads {}", found, kDigestFormatVersion),
                "Use the dladvisor that wrote it, or write it again from the profile.");
  Digest digest;
  const Statement relations =
      Prepare(db.get(), "SELECT name, doc FROM digest_relation ORDER BY position", path);
  const Statement columns = Prepare(db.get(), kColumnsOfRelation, path);
  while (NextRow(db.get(), relations, path))
    digest.relations.push_back(ReadTable(
        db.get(), ReadSchema(db.get(), columns, Text(relations, 0), Text(relations, 1), path), path));
  digest.sequences = ReadSequences(db.get(), path);
  digest.collectives = ReadTracks(db.get(), path);
  return digest;
}

std::string SerializeDigest(const Digest& digest, const std::string& name) {
  DigestWriter writer(name);
  for (size_t i = 0; i < digest.relations.size(); ++i)
    writer.Add(digest.relations[i], static_cast<int64_t>(i));
  for (size_t i = 0; i < digest.sequences.size(); ++i)
    writer.Add(digest.sequences[i], static_cast<int64_t>(i));
  for (size_t i = 0; i < digest.collectives.size(); ++i)
    writer.Add(digest.collectives[i], static_cast<int64_t>(i));
  return writer.Finish();
}

void WriteDigest(const Digest& digest, const fs::path& path) {
  WriteFileWhole(path, SerializeDigest(digest, path.string()));
}

}  // namespace dladvisor
