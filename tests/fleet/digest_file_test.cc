// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/digest_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/sqlite.h"
#include "engine/store/heap_budget.h"
#include "src/fleet/digest_writer.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

Digest SmallDigest() {
  Table table({"gpu",
               "One row per device.",
               {"rank", "device"},
               {{"rank", Type::kInteger, Unit::kNone, "Rank.", false, ""},
                {"device", Type::kInteger, Unit::kNone, "Device.", false, ""},
                {"name", Type::kText, Unit::kText, "Name \"quoted\".", true, ""},
                {"idle_share", Type::kReal, Unit::kRatio, "Idle.", true, "gpu-work"}}});
  table.AddRow({int64_t{0}, int64_t{1}, std::string("NVIDIA\0A100", 11), 0.25});
  table.AddRow({int64_t{1}, int64_t{0}, Value(), Value()});
  Digest digest;
  digest.relations.push_back(std::move(table));
  digest.relations.emplace_back(
      Schema{"empty", "No rows.", {}, {{"x", Type::kInteger, Unit::kNone, "X.", false, ""}}});
  return digest;
}

std::string WhatOf(const fs::path& path) {
  try {
    ReadDigest(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void Execute(const fs::path& path, const std::string& sql) {
  int rc = SQLITE_OK;
  const SqliteDb db = OpenSqlite(rc, path.c_str());
  EXPECT_EQ(sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db.get());
}

size_t RootPage(const fs::path& path, const std::string& table) {
  int rc = SQLITE_OK;
  const SqliteDb db = OpenSqlite(rc, path.c_str());
  const SqliteStatement root =
      PrepareSqlite(db.get(), ("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'").c_str());
  EXPECT_EQ(sqlite3_step(root.get()), SQLITE_ROW);
  return static_cast<size_t>(sqlite3_column_int64(root.get(), 0));
}

TEST(Digest, RoundTripsValuesAndSchemas) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "a.digest";
  WriteDigest(SmallDigest(), path);
  EXPECT_TRUE(IsDigest(path));
  const Digest read = ReadDigest(path);
  ASSERT_EQ(read.relations.size(), 2u);
  const Table& gpu = read.relations[0];
  EXPECT_EQ(gpu.schema().name, "gpu");
  EXPECT_EQ(gpu.schema().key, (std::vector<std::string>{"rank", "device"}));
  EXPECT_EQ(gpu.schema().columns[2].doc, "Name \"quoted\".");
  EXPECT_EQ(gpu.schema().columns[3].unit, Unit::kRatio);
  EXPECT_EQ(gpu.schema().columns[3].capture, "gpu-work");
  EXPECT_TRUE(gpu.schema().columns[3].nullable);
  ASSERT_EQ(gpu.rows(), 2u);
  EXPECT_EQ(gpu.At(0, 1).integer, 1);
  EXPECT_EQ(gpu.At(0, 2).text, std::string_view("NVIDIA\0A100", 11));
  EXPECT_EQ(gpu.At(0, 3).real, 0.25);
  EXPECT_EQ(gpu.At(1, 3).kind, CellView::Kind::kNull);
  EXPECT_EQ(read.relations[1].rows(), 0u);
}

TEST(Digest, IsReadWithoutWhatNobodyAsksFor) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "a.digest", other = scratch.path() / "other";
  WriteDigest(SmallDigest(), path);
  const std::optional<Digest> whole = ReadIfDigest(path);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->relations.size(), 2u);
  const std::optional<Digest> part = ReadIfDigest(path, {"gpu"});
  ASSERT_TRUE(part);
  ASSERT_EQ(part->relations.size(), 1u);
  EXPECT_NE(part->relations[0].schema().name, "gpu");
  test::WriteFile(other, "{}");
  EXPECT_FALSE(ReadIfDigest(other));
  EXPECT_FALSE(ReadIfDigest(scratch.path() / "missing"));
}

TEST(Digest, SameFactsGiveTheSameBytes) {
  test::ScratchDir scratch;
  WriteDigest(SmallDigest(), scratch.path() / "a");
  WriteDigest(SmallDigest(), scratch.path() / "b");
  WriteDigest(ReadDigest(scratch.path() / "a"), scratch.path() / "c");
  const std::string bytes = test::ReadFile(scratch.path() / "a");
  EXPECT_EQ(bytes, test::ReadFile(scratch.path() / "b"));
  EXPECT_EQ(bytes, test::ReadFile(scratch.path() / "c"));
}

// With too little memory for it SQLite cannot insert all rows, nor hand out the bytes.
TEST(Digest, IsWholeOrNotThere) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  Digest digest = SmallDigest();
  Table notes({"note", "One row per note.", {}, {{"text", Type::kText, Unit::kText, "Text.", false, ""}}});
  for (int i = 0; i < 400; ++i) notes.AddRow({std::string(10'000, 'x')});
  digest.relations.push_back(std::move(notes));
  for (const int64_t megabytes : {2, 4, 6}) {
    test::WriteFile(path, "as it was");
    std::string what;
    try {
      const HeapBudget budget(megabytes << 20);
      WriteDigest(digest, path);
    } catch (const Error& error) {
      what = error.where() + ": " + error.reason();
    }
    EXPECT_EQ(what, path.string() + ": cannot be written: out of memory") << megabytes;
    EXPECT_EQ(test::ReadFile(path), "as it was") << megabytes;
  }
  WriteDigest(digest, path);
  EXPECT_EQ(ReadDigest(path).relations.size(), 3u);
  try {
    WriteDigest(digest, "/dev/full");
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/full: cannot be written: No space left"),
              std::string::npos)
        << error.what();
  }
}

TEST(Digest, TakesNothingOutOfAPipe) {
  test::ScratchDir scratch;
  const fs::path pipe = scratch.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int end = ::open(pipe.c_str(), O_RDWR);
  ASSERT_GE(end, 0);
  const std::string content(4000, 'x');
  ASSERT_EQ(::write(end, content.data(), content.size()), 4000);
  EXPECT_FALSE(IsDigest(pipe));
  EXPECT_FALSE(ReadIfDigest(pipe));
  int left = 0;
  EXPECT_EQ(::ioctl(end, FIONREAD, &left), 0);
  EXPECT_EQ(left, 4000);
  ::close(end);
}

TEST(Digest, RefusesWhatIsNone) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  test::WriteFile(path, "not a database");
  EXPECT_FALSE(IsDigest(path));
  EXPECT_NE(WhatOf(path).find("is not a digest"), std::string::npos);
  EXPECT_FALSE(IsDigest(scratch.path()));
  EXPECT_FALSE(IsDigest(scratch.path() / "missing"));
  EXPECT_NE(WhatOf(scratch.path() / "missing").find("cannot be read"), std::string::npos);
}

TEST(Digest, RefusesTruncatedAndForeignVersions) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  WriteDigest(SmallDigest(), path);
  const std::string bytes = test::ReadFile(path);
  for (const size_t keep : {bytes.size() / 2, size_t{4096}, size_t{600}, size_t{100}, size_t{16}}) {
    test::WriteFile(path, bytes.substr(0, keep));
    EXPECT_NE(WhatOf(path), "") << "kept " << keep;
  }
  std::string newer = bytes;
  const size_t version = newer.find("format_version2");
  ASSERT_NE(version, std::string::npos);
  newer[version + 14] = '9';
  test::WriteFile(path, newer);
  EXPECT_NE(WhatOf(path).find("has digest format 9, this program reads 2"), std::string::npos);
}

TEST(Digest, IsKnownByItsHeaderOrByItsTables) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  WriteDigest(SmallDigest(), path);
  EXPECT_EQ(test::ReadFile(path).substr(68, 4), "dlad");
  Execute(path, "PRAGMA application_id = 0");
  EXPECT_TRUE(IsDigest(path));
  EXPECT_EQ(ReadDigest(path).relations.size(), 2u);
  Execute(path, "DELETE FROM digest");
  EXPECT_FALSE(IsDigest(path));
}

TEST(Digest, AnIncompleteOneIsSaidToBeOne) {
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  WriteDigest(SmallDigest(), path);
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_TRUE(IsDigest(path));
  const std::string what = WhatOf(path);
  EXPECT_NE(what.find("x.digest: is an incomplete digest: "), std::string::npos) << what;
  EXPECT_NE(what.find("`dladvisor digest PROFILE -o " + path.string() + "`"), std::string::npos) << what;
}

TEST(Digest, RefusesViewsInThePlaceOfTables) {
  test::ScratchDir scratch;
  const std::string endless =
      " AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i AS x, i AS rowid, i AS "
      "key FROM n";
  const fs::path facts = scratch.path() / "facts.digest", version = scratch.path() / "version.digest";
  for (const auto& [path, name] : {std::pair(facts, "fact_empty"), std::pair(version, "digest")}) {
    WriteDigest(SmallDigest(), path);
    Execute(path, std::string("DROP TABLE ") + name + "; CREATE VIEW " + name + endless);
  }
  EXPECT_NE(WhatOf(facts).find("facts.digest: is a damaged digest (fact_empty is not a table)"),
            std::string::npos)
      << WhatOf(facts);
  EXPECT_TRUE(IsDigest(version));
  EXPECT_NE(WhatOf(version).find("digest is not a table"), std::string::npos) << WhatOf(version);
}

std::string BigEndian(size_t value, int width) {
  std::string bytes;
  for (int i = width - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

// Each page of a tree names the next one 500 times: 500^4 rows.
TEST(Digest, RefusesTablesOfMoreRowsThanTheFileHolds) {
  constexpr size_t kPage = 4096, kChildren = 500;
  test::ScratchDir scratch;
  const fs::path path = scratch.path() / "x.digest";
  WriteDigest(SmallDigest(), path);
  const size_t pages = fs::file_size(path) / kPage, root = RootPage(path, "fact_empty");
  const auto page = [&](char type, const std::string& right, size_t cells, const std::string& cell) {
    std::string bytes =
        type + BigEndian(0, 2) + BigEndian(cells, 2) + BigEndian(kPage - cell.size(), 2) + '\0' + right;
    for (size_t i = 0; i < cells; ++i) bytes += BigEndian(kPage - cell.size(), 2);
    return bytes + std::string(kPage - bytes.size() - cell.size(), '\0') + cell;
  };
  const auto inner = [&](size_t child) {
    return page(5, BigEndian(child, 4), kChildren, BigEndian(child, 4) + '\1');
  };
  std::string bytes = test::ReadFile(path);
  bytes.replace((root - 1) * kPage, kPage, inner(pages + 1));
  for (size_t i = 1; i < 4; ++i) bytes += inner(pages + i + 1);
  bytes += page(13, "", 1, std::string("\3\1\2\1\5", 5));  // a row: rowid 1, x = 5
  bytes.replace(28, 4, BigEndian(pages + 4, 4));
  test::WriteFile(path, bytes);
  EXPECT_NE(WhatOf(path).find("x.digest: is a damaged digest (its tables hold more than the file could)"),
            std::string::npos)
      << WhatOf(path);
}

// Names become part of SQL when rules and queries read the relations.
TEST(Digest, RefusesNamesThatAreNone) {
  const std::string hostile = "x\" USING fts5(a); DROP TABLE temp.gpu; --";
  const auto what_of = [](const std::string& relation, const std::string& column) {
    Digest digest;
    digest.relations.emplace_back(
        Schema{relation, "Rows.", {}, {{column, Type::kInteger, Unit::kNone, "X.", false, ""}}});
    try {
      ParseDigest(SerializeDigest(digest), "odd.digest");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(what_of("gpu_2", "_X9"), "");
  for (const std::string& name : {hostile, std::string("2x"), std::string("a b"), std::string("\xc3\xa4")}) {
    EXPECT_NE(what_of(name, "x").find("odd.digest: is a damaged digest (name of a relation: '" + name),
              std::string::npos)
        << what_of(name, "x");
    EXPECT_NE(what_of("gpu", name).find("odd.digest: is a damaged digest (name of a column of gpu: '" + name),
              std::string::npos)
        << what_of("gpu", name);
  }
}

TEST(Digest, KeepsWhatRanksAreComparedBy) {
  KernelSequence sequence;
  sequence.rank = 3;
  sequence.device = 1;
  sequence.names = {"gemm", "nccl \"quoted\""};
  sequence.communication = {0, 1};
  sequence.blocks = {640, 8.5};
  sequence.fingerprint = FingerprintOf(sequence.names);
  sequence.other_steps = 2;
  sequence.steps = {{7, 100, 900, 800, 640}, {8, 1100, 1900, std::nullopt, 650}};
  const KernelSequence::Cells cells{{10, 20, 11, 21}, {0, 0, 0, 0}, {0, 0, 0, 0}, {5, -1, 6, -1}};
  sequence.encoded = EncodeCells(cells, 2);
  CollectiveTrack track;
  track.rank = 3;
  track.kinds = {{"AllReduce", "", "", 0}, {"AllGather", "tp", "[0, 1]", 1}};
  track.calls = {{0, 7, 0, 100, 200, 50, 150, -1}, {1, 7, 0, 300, 450, 0, 450, 4096, 12}};
  Digest digest;
  digest.sequences = {sequence};
  digest.collectives = {track};
  const Digest read = ParseDigest(SerializeDigest(digest), "x");
  ASSERT_EQ(read.sequences.size(), 1u);
  EXPECT_EQ(read.sequences[0].rank, 3);
  EXPECT_EQ(read.sequences[0].names, sequence.names);
  EXPECT_EQ(read.sequences[0].blocks, sequence.blocks);
  EXPECT_EQ(read.sequences[0].fingerprint, sequence.fingerprint);
  EXPECT_EQ(read.sequences[0].other_steps, 2);
  ASSERT_EQ(read.sequences[0].steps.size(), 2u);
  EXPECT_EQ(read.sequences[0].steps[0].to_sync_ns, 800);
  EXPECT_FALSE(read.sequences[0].steps[1].to_sync_ns);
  EXPECT_EQ(DecodeCells(read.sequences[0]).duration, cells.duration);
  ASSERT_EQ(read.collectives.size(), 1u);
  EXPECT_EQ(read.collectives[0].kinds, track.kinds);
  ASSERT_EQ(read.collectives[0].calls.size(), 2u);
  EXPECT_EQ(read.collectives[0].calls[0].number, 0);
  EXPECT_EQ(read.collectives[0].calls[1].number, 12);
  EXPECT_EQ(read.collectives[0].calls[1].bytes, 4096);
  EXPECT_EQ(read.collectives[0].calls[1].exposed_from, 450);
  EXPECT_EQ(SerializeDigest(read), SerializeDigest(digest));
}

TEST(Digest, KeepsASequenceOfNothing) {
  Digest digest;
  digest.sequences.resize(1);
  EXPECT_EQ(ParseDigest(SerializeDigest(digest), "x").sequences.size(), 1u);
}

TEST(Digest, RefusesDamagedSequences) {
  KernelSequence sequence;
  sequence.names = {"gemm"};
  sequence.communication = {0};
  sequence.blocks = {1};
  sequence.steps.resize(3);
  sequence.encoded = "x";
  Digest digest;
  digest.sequences = {sequence};
  EXPECT_THROW(ParseDigest(SerializeDigest(digest), "x"), Error);
  digest.sequences.clear();
  CollectiveTrack track;
  track.calls = {{5, 0, 0, 0, 0, 0, 0, 0}};  // of a kind that it does not have
  digest.collectives = {track};
  EXPECT_THROW(ParseDigest(SerializeDigest(digest), "x"), Error);
}

}  // namespace
}  // namespace dladvisor
