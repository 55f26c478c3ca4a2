// SPDX-License-Identifier: Apache-2.0
// Pages read without SQLite give what SQLite gives.
#include "src/importers/sqlite/table_scan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "src/importers/sqlite/damaged.h"
#include "src/importers/sqlite/sqlite_reader.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor::sqlite {
namespace {
namespace fs = std::filesystem;

using Cells = std::vector<std::string>;

Cells CellsOf(const Rows& rows, size_t columns) {
  Cells cells;
  for (size_t c = 0; c < columns; ++c)
    cells.push_back(fmt::format("{} {} {} {} {}", rows.IsNull(c), rows.IsText(c), rows.Integer(c, -42),
                                rows.Real(c).value_or(-42), rows.IsText(c) ? rows.Text(c) : ""));
  return cells;
}

// By SQLite, and by pages.
std::pair<std::vector<Cells>, std::vector<Cells>> ReadBoth(const fs::path& file,
                                                           const std::vector<std::string_view>& columns,
                                                           const RowRange& range = {}) {
  const Database db(file);
  std::pair<std::vector<Cells>, std::vector<Cells>> read;
  Rows one(db, "t", columns, range), other(db, "t", columns, range);
  while (one.Next()) read.first.push_back(CellsOf(one, columns.size()));
  other.ForEach([&] { read.second.push_back(CellsOf(other, columns.size())); });
  return read;
}

// Values of all types and sizes, texts on several pages, rows from before a column was added.
fs::path WriteTable(const fs::path& file, int page_bytes, int rows) {
  test::Sqlite db(file);
  db.Run(fmt::format("PRAGMA page_size = {}; CREATE TABLE t (a, b INTEGER, c TEXT, d REAL)", page_bytes));
  db.Run(fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO t (rowid, a, "
      "b, "
      "c, d) SELECT 3 * i - 100, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i * 1.5 WHEN 2 THEN 'text ' || i "
      "WHEN 3 "
      "THEN zeroblob(i % 7) ELSE i % 2 END, CASE i % 9 WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN -i WHEN 3 "
      "THEN i * "
      "300 WHEN 4 THEN i * -70000 WHEN 5 THEN i * 20000000 WHEN 6 THEN i * 1000000000000 WHEN 7 THEN "
      "9223372036854775807 - i ELSE -9223372036854775807 + i END, CASE WHEN i % 50 = 7 THEN "
      "replace(hex(zeroblob(i "
      "* 3)), '00', 'long' || i) ELSE 'c' || i END, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i / 7.0 ELSE 1e999 "
      "END "
      "FROM n",
      rows));
  db.Run("ALTER TABLE t ADD COLUMN e");
  db.Run("INSERT INTO t VALUES (1, 2, 'three', 4.5, 'five')");
  return file;
}

TEST(TableScan, ReadsWhatSqliteReads) {
  const test::ScratchDir dir;
  for (const int page_bytes : {512, 1024, 4096, 65536})
    for (const int rows : {1, 30, 3000}) {
      const fs::path file =
          WriteTable(dir.path() / fmt::format("{}-{}.sqlite", page_bytes, rows), page_bytes, rows);
      const auto [one, other] = ReadBoth(file, {"e", "a", "missing", "c", "b", "d"});
      EXPECT_EQ(one.size(), static_cast<size_t>(rows) + 1);
      EXPECT_TRUE(other == one) << page_bytes << " bytes, " << rows << " rows";
      for (const auto& [first, last] : {std::pair<int64_t, int64_t>{-97, -97},
                                        {-1000, 500},
                                        {501, 4000},
                                        {8000, 1'000'000},
                                        {10, 9},
                                        {1'000'000, 2'000'000}}) {
        const auto [some, same] = ReadBoth(file, {"c", "b"}, {first, last});
        EXPECT_TRUE(same == some) << first << " to " << last;
      }
    }
}

TEST(TableScan, ReadsATableWithoutRows) {
  const test::ScratchDir dir;
  const fs::path file = dir.path() / "empty.sqlite";
  test::Sqlite(file).Run("CREATE TABLE t (a, b)");
  EXPECT_EQ(ReadBoth(file, {"a", "b"}).second, std::vector<Cells>());
}

// What SQLite computes or keeps elsewhere is left to it.
TEST(TableScan, LeavesToSqliteWhatRecordsDoNotHold) {
  const test::ScratchDir dir;
  const std::vector<std::string> tables = {
      "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (7, 'x'), (9, 'y')",
      "CREATE TABLE t (b, a, PRIMARY KEY (a)) WITHOUT ROWID; INSERT INTO t VALUES ('x', 7)",
      "CREATE TABLE t (z); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN a DEFAULT 7; ALTER TABLE t ADD "
      "COLUMN b",
      "CREATE TABLE t (z, b AS (z + 1) STORED, a AS (z * 2)); INSERT INTO t (z) VALUES (5)",
      "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a, b); INSERT INTO t VALUES (7, 'text')",
  };
  for (size_t i = 0; i < tables.size(); ++i) {
    const fs::path file = dir.path() / fmt::format("{}.sqlite", i);
    test::Sqlite(file).Run(tables[i]);
    const auto [one, other] = ReadBoth(file, {"a", "b"});
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(other, one) << tables[i];
  }
}

// Inner pages that name the next one twice lead to the one leaf 65,536 times.
TEST(TableScan, VisitsNoPageTwice) {
  const test::ScratchDir dir;
  const fs::path file = WriteTable(dir.path() / "a.sqlite", 512, 3000);
  std::string bytes = test::ReadFile(file);
  constexpr size_t kRoot = 2, kLeaf = 18;
  for (size_t number = kRoot; number <= kLeaf; ++number) {
    std::string page(512, '\0');
    const auto put = [&](size_t at, std::string_view what) { page.replace(at, what.size(), what); };
    const std::string next(1, static_cast<char>(number + 1));
    put(3, std::string_view("\0\1", 2));  // one cell
    if (number == kLeaf) {
      put(0, "\x0d");
      put(8, std::string_view("\1\0", 2));       // at byte 256
      put(256, std::string_view("\2\1\2\x08"));  // row 1, whose first column is 0
    } else {
      put(0, "\x05");
      put(11, next);  // the last child
      put(12, std::string_view("\1\0", 2));
      put(259, next + "\1");  // the first, up to row 1
    }
    bytes.replace((number - 1) * 512, 512, page);
  }
  test::WriteFile(file, bytes);
  const Database db(file);
  Rows rows(db, "t", {"a"});
  EXPECT_THROW(rows.ForEach([] {}), Damaged);
}

// Whatever a page says, it is read or refused.
TEST(TableScan, AnswersEveryDamage) {
  const test::ScratchDir dir;
  const fs::path file = WriteTable(dir.path() / "a.sqlite", 512, 400);
  const std::string whole = test::ReadFile(file);
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 4; ++j)
      damaged[512 + random() % (damaged.size() - 512)] = static_cast<char>(random());
    test::WriteFile(file, damaged);
    try {
      const Database db(file);
      Rows rows(db, "t", {"a", "b", "c", "d", "e"});
      rows.ForEach([&] { CellsOf(rows, 5); });
    } catch (const Damaged& error) {
      EXPECT_THAT(error.reason(), testing::HasSubstr("the SQLite database is damaged"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace dladvisor::sqlite
