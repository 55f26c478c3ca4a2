// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/sqlite.h"
#include "src/fleet/digest_file.h"
#include "src/fleet/digest_layout.h"

namespace dladvisor {
namespace {

int BindCell(sqlite3_stmt* s, int index, const CellView& cell) {
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
    Execute(fmt::format("PRAGMA application_id = {}", kDigestApplicationId));
    Execute("BEGIN");
    Execute("CREATE TABLE digest(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID");
    Execute(std::string(kDigestTable) + ", position INTEGER, doc TEXT) WITHOUT ROWID");
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
    const SqliteStatement insert = PrepareInsert(name, schema.columns.size());
    for (size_t row = 0; row < table.rows(); ++row) {
      for (size_t c = 0; c < schema.columns.size(); ++c)
        Check(BindCell(insert.get(), static_cast<int>(c) + 1, table.At(row, c)));
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

  void Step(const SqliteStatement& insert) {
    const int rc = sqlite3_step(insert.get());
    Check(rc == SQLITE_DONE ? SQLITE_OK : rc);
    Check(sqlite3_reset(insert.get()));
  }

  SqliteStatement PrepareInsert(std::string_view table, size_t columns) {
    std::string marks = "?";
    for (size_t i = 1; i < columns; ++i) marks += ",?";
    SqliteStatement insert =
        PrepareSqlite(db_.get(), ("INSERT INTO " + QuotedName(table) + " VALUES(" + marks + ")").c_str());
    if (!insert) Check(sqlite3_errcode(db_.get()));
    return insert;
  }

  void Insert(std::string_view table, const std::vector<Value>& values) {
    const SqliteStatement insert = PrepareInsert(table, values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      CellView cell;
      if (const auto* integer = std::get_if<int64_t>(&values[i])) cell = CellView::Of(*integer);
      if (const auto* text = std::get_if<std::string>(&values[i]))
        cell = CellView::Of(std::string_view(*text));
      Check(BindCell(insert.get(), static_cast<int>(i) + 1, cell));
    }
    Step(insert);
  }

  std::string name_;
  SqliteDb db_;
};

}  // namespace

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

void WriteDigest(const Digest& digest, const std::filesystem::path& path) {
  WriteFileWhole(path, SerializeDigest(digest, path.string()));
}

}  // namespace dladvisor
