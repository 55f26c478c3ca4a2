// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

#include "engine/base/cancellation.h"
#include "engine/base/error.h"
#include "engine/base/file_head.h"
#include "engine/base/sqlite.h"
#include "engine/base/text.h"
#include "src/fleet/digest_layout.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

using Db = SqliteDb;
using Statement = SqliteStatement;

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

constexpr size_t kHeadBytes = kDigestIdAt + kDigestIdBytes.size();

// The head and what follows it in the file, at once where the file's size is right.
std::string ReadRest(std::ifstream& in, std::string head, const fs::path& path) {
  constexpr size_t kMore = 64 << 10;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  std::string content = std::move(head);
  for (size_t want = error ? kMore : size + 1; in; want = content.size() + kMore) {  // + 1: meets the end
    const size_t had = content.size();
    content.resize(std::max<size_t>(want, had + 1));
    in.read(content.data() + had, static_cast<std::streamsize>(content.size() - had));
    content.resize(had + static_cast<size_t>(in.gcount()));
  }
  return content;
}

// The file from its beginning, without a buffer of its own.
std::ifstream OpenUnbuffered(const fs::path& path) {
  std::ifstream in;
  in.rdbuf()->pubsetbuf(nullptr, 0);
  in.open(path, std::ios::binary);
  return in;
}

std::string ReadBytes(const fs::path& path) {
  std::ifstream in = OpenUnbuffered(path);
  if (!in) throw Error(path.string(), "cannot be read", "Check the path and its permissions.");
  return ReadRest(in, "", path);
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

namespace {

// One without the mark in its head, of an earlier version or copied by other tools.
bool HoldsDigestTable(const fs::path& path) {
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
    return ReadHead(path, kDigestTableWithin).find(kDigestTable) != std::string::npos;
  if (sqlite3_step(table.get()) != SQLITE_ROW) return false;
  budget.Watch(db.get());
  const Statement version = PrepareSqlite(db.get(), "SELECT 1 FROM digest WHERE key = 'format_version'");
  return version && sqlite3_step(version.get()) == SQLITE_ROW;
}

// What is read of a pipe is gone for those that read it next.
bool MayBeDigest(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

bool IsDigest(const fs::path& path) {
  if (!MayBeDigest(path)) return false;
  const std::string head = ReadHead(path, kHeadBytes);
  return head.starts_with(kSqliteMagic) && (head.ends_with(kDigestIdBytes) || HoldsDigestTable(path));
}

std::optional<Digest> ReadIfDigest(const fs::path& path, const std::set<std::string>& left_out) {
  if (!MayBeDigest(path)) return std::nullopt;
  std::ifstream in = OpenUnbuffered(path);
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(in.gcount()));
  if (!head.starts_with(kSqliteMagic) || !(head.ends_with(kDigestIdBytes) || HoldsDigestTable(path)))
    return std::nullopt;
  return ParseDigest(ReadRest(in, std::move(head), path), path.string(), left_out);
}

Digest ReadDigest(const fs::path& path) { return ParseDigest(ReadBytes(path), path.string()); }

Digest ParseDigest(std::string content, const std::string& name, const std::set<std::string>& left_out) {
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
    if (std::string relation = Text(relations, 0); !left_out.contains(relation))
      digest.relations.push_back(ReadTable(
          db.get(), ReadSchema(db.get(), columns, std::move(relation), Text(relations, 1), path), path));
  digest.sequences = ReadSequences(db.get(), path);
  digest.collectives = ReadTracks(db.get(), path);
  return digest;
}

}  // namespace dladvisor
