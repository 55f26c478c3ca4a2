// SPDX-License-Identifier: Apache-2.0
// The virtual table against plain C++ over the same rows: every kind of cell, every bound that is pushed
// down.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/sqlite.h"
#include "engine/store/database.h"

namespace dladvisor {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Events in order of time, as a view over columns.
class Events final : public Relation {
 public:
  explicit Events(std::vector<int64_t> times) : times_(std::move(times)) {}
  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return times_.size(); }
  CellView At(size_t row, size_t column) const override {
    return CellView::Of(column == 1 ? times_[row] : static_cast<int64_t>(row));
  }
  std::optional<size_t> SortedColumn() const override { return 1; }
  const std::vector<int64_t>& times() const { return times_; }

 private:
  Schema schema_{"event",
                 "Events.",
                 {},
                 {{"row", Type::kInteger, Unit::kNone, "Row.", false, ""},
                  {"at", Type::kInteger, Unit::kNanoseconds, "Time.", false, ""}}};
  std::vector<int64_t> times_;
};

// The times that the property test searches among and asks for: dense, with duplicates and extremes.
std::vector<int64_t> Times(std::mt19937_64& random, size_t size) {
  const std::vector<int64_t> extremes = {kLeast,
                                         kLeast + 1,
                                         kMost,
                                         kMost - 1,
                                         0,
                                         int64_t{1} << 53,
                                         (int64_t{1} << 53) + 1,
                                         1'700'000'000'000'000'001,
                                         1'700'000'000'000'000'002};
  std::vector<int64_t> times;
  for (size_t i = 0; i < size; ++i)
    times.push_back(random() % 4 == 0 ? extremes[random() % extremes.size()]
                                      : static_cast<int64_t>(random() % 40) - 20);
  std::sort(times.begin(), times.end());
  return times;
}

struct Bound {
  std::string op;
  // Compared exactly, the way SQLite compares integers with reals.
  std::variant<int64_t, long double> value;
  std::string sql;

  bool Holds(int64_t time) const {
    const long double x = time;  // 64 bits of mantissa hold every int64 and every double
    const long double y = std::visit([](auto v) { return static_cast<long double>(v); }, value);
    if (op == "=") return x == y;
    if (op == "<") return x < y;
    if (op == "<=") return x <= y;
    if (op == ">") return x > y;
    return x >= y;
  }
};

Bound RandomBound(std::mt19937_64& random, const std::vector<int64_t>& pool) {
  static const std::vector<std::string> kOps = {"=", "<", "<=", ">", ">="};
  Bound bound{kOps[random() % kOps.size()], int64_t{0}, ""};
  const int64_t time = pool[random() % pool.size()];
  switch (random() % 4) {
    case 0: {  // between two integers
      const double real = static_cast<double>(static_cast<int64_t>(random() % 40) - 20) + 0.5;
      bound.value = static_cast<long double>(real);
      bound.sql = fmt::format("{}", real);
      break;
    }
    case 1: {  // a real that is an integer, rounded where a double does not hold it
      const auto real = static_cast<double>(time);
      bound.value = static_cast<long double>(real);
      bound.sql = fmt::format("{:.1f}", real);
      break;
    }
    case 2:  // a text that the column's type makes a number
      bound.value = time;
      bound.sql = fmt::format("'{}'", time);
      break;
    default:
      bound.value = time;
      bound.sql = fmt::format("{}", time);
  }
  return bound;
}

std::vector<int64_t> RowsOf(const ResultSet& result) {
  std::vector<int64_t> rows;
  for (const auto& row : result.rows) rows.push_back(std::get<int64_t>(row[0]));
  return rows;
}

TEST(VirtualTable, BoundsGiveTheRowsThatAPlainLoopGives) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const Events events(Times(random, round % 20));
    Database database;
    database.Add(events);
    const std::vector<int64_t> pool = Times(random, 30);
    for (int i = 0; i < 30; ++i) {
      std::vector<Bound> bounds;
      std::string where;
      for (size_t n = 1 + random() % 4; n > 0; --n) {
        bounds.push_back(RandomBound(random, pool));
        where += fmt::format("{}at {} {}", where.empty() ? "" : " AND ", bounds.back().op, bounds.back().sql);
      }
      std::vector<int64_t> expected;
      for (size_t row = 0; row < events.rows(); ++row)
        if (std::ranges::all_of(bounds, [&](const Bound& b) { return b.Holds(events.times()[row]); }))
          expected.push_back(static_cast<int64_t>(row));
      EXPECT_EQ(RowsOf(database.Query("SELECT row FROM event WHERE " + where)), expected) << where;
      std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(
          RowsOf(database.Query("SELECT row FROM event WHERE " + where + " ORDER BY at DESC, row DESC")),
          expected)
          << where;
    }
  }
}

TEST(VirtualTable, OtherWaysToAskForTimes) {
  const Events events({1, 2, 2, 3, 5, 8});
  Database database;
  database.Add(events);
  const auto rows = [&](const std::string& rest) {
    return RowsOf(database.Query("SELECT row FROM event " + rest));
  };
  using Rows = std::vector<int64_t>;
  EXPECT_EQ(rows("WHERE at BETWEEN 2 AND 3"), (Rows{1, 2, 3}));
  EXPECT_EQ(rows("WHERE at IN (8, 2, 7) ORDER BY at"), (Rows{1, 2, 5}));
  EXPECT_EQ(rows("WHERE at = 2 OR at > 4"), (Rows{1, 2, 4, 5}));
  EXPECT_EQ(rows("WHERE at IS NULL"), Rows{});
  EXPECT_EQ(rows("WHERE at = NULL"), Rows{});
  EXPECT_EQ(rows("WHERE at > NULL OR at IS 5"), Rows{4});
  for (const char* two : {"2", "2.0", "'2'", "' 2 '", "(SELECT '2')", "CAST('2' AS TEXT)"}) {
    EXPECT_EQ(rows(std::string("WHERE at = ") + two), (Rows{1, 2})) << two;
    EXPECT_EQ(rows(std::string("WHERE row = ") + two), Rows{2}) << two;
  }
  for (const char* other : {"2.5", "'x'", "'2x'", "x'32'", "1e300", "-1e300", "NULL"}) {
    EXPECT_EQ(rows(std::string("WHERE at = ") + other), Rows{}) << other;
    EXPECT_EQ(rows(std::string("WHERE row = ") + other), Rows{}) << other;
  }
  EXPECT_EQ(rows("AS a JOIN (SELECT '3' AS t) AS b ON a.at = b.t"), Rows{3});
  EXPECT_EQ(
      database.Query("SELECT x FROM (SELECT 9 AS x) LEFT JOIN event ON at = x WHERE row IS NULL").rows.size(),
      1u);
  EXPECT_EQ(
      database.Query("SELECT x FROM (SELECT 9 AS x) LEFT JOIN event ON row = x WHERE at IS 5").rows.size(),
      0u);
  EXPECT_EQ(rows("WHERE at <> 2"), (Rows{0, 3, 4, 5}));
  EXPECT_EQ(rows("WHERE at > 'x'"), Rows{});  // every text sorts after every number
  EXPECT_EQ(rows("WHERE at < 'x'"), (Rows{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rows("WHERE at < 9e999 AND at > -9e999"), (Rows{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rows("ORDER BY at DESC, row LIMIT 2"), (Rows{5, 4}));
  EXPECT_EQ(rows("AS a WHERE EXISTS (SELECT 1 FROM event AS b WHERE b.at = a.at + 1)"), (Rows{0, 1, 2}));
  EXPECT_EQ(rows("AS a WHERE a.at = (SELECT max(b.at) FROM event AS b WHERE b.at < 5)"), Rows{3});
  EXPECT_EQ(database.Query("SELECT at, count(*) FROM event GROUP BY at ORDER BY at").rows.size(), 5u);
  EXPECT_EQ(database.Query("SELECT DISTINCT at FROM event ORDER BY at DESC").rows[0][0], Value(int64_t{8}));
}

TEST(VirtualTable, JoinsOnTheSortedColumn) {
  std::mt19937_64 random(3);
  const Events events(Times(random, 50));
  Database database;
  database.Add(events);
  size_t expected = 0;
  for (const int64_t a : events.times())
    for (const int64_t b : events.times()) expected += a <= b;
  EXPECT_EQ(database.Query("SELECT count(*) FROM event a JOIN event b ON b.at >= a.at").rows[0][0],
            Value(static_cast<int64_t>(expected)));
}

// A table of every type of column, with unknown cells, against the same rows in a table of SQLite's own.
class Twin {
 public:
  Twin(std::mt19937_64& random, size_t rows) : table_({"mine", "Rows.", {}, Columns()}) {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
    plain_.reset(raw);
    Run("CREATE TABLE mine(i INTEGER, n INTEGER, r REAL, t TEXT, same TEXT, none REAL)");
    const std::vector<std::string> texts = {"", "a", "A", "ab", "abcdefgh", "abcdefghi", "abcdefgh\xc3\xa9",
                                            "b"};
    std::string insert = "BEGIN;";
    for (size_t i = 0; i < rows; ++i) {
      const auto unknown = [&] { return random() % 8 == 0; };
      std::vector<Value> row(6);
      row[0] = static_cast<int64_t>(random() % 50) - 25;
      if (!unknown()) row[1] = static_cast<int64_t>(random() % 3000);
      if (!unknown()) row[2] = static_cast<double>(static_cast<int64_t>(random() % 9) - 4) / 2;
      if (!unknown()) row[3] = texts[random() % texts.size()];
      row[4] = "one";
      table_.AddRow(row);
      insert += fmt::format("INSERT INTO mine VALUES({},{},{},{},{},{});", Sql(row[0]), Sql(row[1]),
                            Sql(row[2]), Sql(row[3]), Sql(row[4]), Sql(row[5]));
    }
    Run(insert + "COMMIT");
    database_.Add(table_);
  }

  void Compare(const std::string& sql) {
    std::vector<std::vector<Value>> expected;
    const SqliteStatement statement = PrepareSqlite(plain_.get(), sql.c_str());
    ASSERT_TRUE(statement) << sql << ": " << sqlite3_errmsg(plain_.get());
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
      auto& row = expected.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) row.push_back(Cell(statement.get(), i));
    }
    EXPECT_EQ(database_.Query(sql).rows, expected) << sql;
  }

 private:
  static std::vector<Column> Columns() {
    return {
        {"i", Type::kInteger, Unit::kNone, "", false, ""}, {"n", Type::kInteger, Unit::kNone, "", true, ""},
        {"r", Type::kReal, Unit::kNone, "", true, ""},     {"t", Type::kText, Unit::kText, "", true, ""},
        {"same", Type::kText, Unit::kText, "", false, ""}, {"none", Type::kReal, Unit::kNone, "", true, ""}};
  }
  void Run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(plain_.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  }
  static std::string Sql(const Value& value) {
    if (IsNull(value)) return "NULL";
    if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.1f}", *real);
    return "'" + std::get<std::string>(value) + "'";
  }
  static Value Cell(sqlite3_stmt* statement, int i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER:
        return int64_t{sqlite3_column_int64(statement, i)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, i);
      case SQLITE_TEXT:
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, i)));
      default:
        return {};
    }
  }

  Table table_;
  SqliteDb plain_;
  Database database_;
};

TEST(VirtualTable, GivesEqualRowsAndOrdersAsSqliteDoes) {
  std::mt19937_64 random(19);
  for (const size_t rows : {3u, 1200u, 12'000u}) {
    Twin twin(random, rows);
    for (const char* where : {"",
                              "WHERE i = 3",
                              "WHERE n = 17 AND t = 'ab'",
                              "WHERE n = NULL",
                              "WHERE t = 'abcdefgh'",
                              "WHERE t = 'A' COLLATE NOCASE",
                              "WHERE n = 17.0",
                              "WHERE n = '17'",
                              "WHERE t = 5",
                              "WHERE r = 1",
                              "WHERE n IN (5, 3, 4)",
                              "WHERE t IN ('ab', 'A', NULL, 'abcdefghi')",
                              "WHERE t IN (SELECT '')",
                              "WHERE t IN ('b', 5)",
                              "WHERE t NOT IN ('a', 'b')",
                              "WHERE t IN ('a', 'B') COLLATE NOCASE",
                              "WHERE t COLLATE NOCASE IN ('a', 'B')",
                              "WHERE t IN (NULL)",
                              "WHERE t IN (SELECT t FROM mine WHERE i = 1)",
                              "WHERE t IN (SELECT 'x' || i FROM mine UNION SELECT 'ab')",
                              "WHERE n IS NOT NULL AND t IS NOT NULL",
                              "WHERE none IS NOT NULL",
                              "WHERE r > 0.5",
                              "WHERE r >= 1 AND r < 2",
                              "WHERE r > -0.5 AND t IN ('a', 'ab')",
                              "WHERE n > 2990.5",
                              "WHERE n <= '20'",
                              "WHERE n < 'x'",
                              "WHERE n > 'x'",
                              "WHERE n > NULL",
                              "WHERE r < x'00'",
                              "WHERE n BETWEEN 10 AND 12",
                              "WHERE 5 > n",
                              "WHERE t > 'ab'",
                              "WHERE i > 20 AND i >= 22",
                              "WHERE t IS NULL AND i = 2",
                              "WHERE rowid = 7",
                              "WHERE t LIKE '%BC%'",
                              "WHERE t LIKE '%b'",
                              "WHERE t LIKE '%_b%'",
                              "WHERE t NOT LIKE '%a%'",
                              "WHERE n LIKE '%17%'"})
      for (const char* order :
           {"rowid", "n DESC, rowid", "t, r DESC, n, i DESC, rowid", "r, t DESC, rowid",
            "t COLLATE NOCASE, rowid", "n NULLS LAST, rowid", "r DESC, n, t, i, rowid LIMIT 5",
            "t DESC, i, rowid LIMIT 2000 OFFSET 3", "none DESC, same, r DESC, i, rowid LIMIT 7",
            "same DESC, none, n, t, i, rowid"})
        twin.Compare(fmt::format("SELECT rowid, * FROM mine {} ORDER BY {}", where, order));
    for (const char* sql :
         {"SELECT i, count(*), sum(n), max(t) FROM mine GROUP BY i ORDER BY i",
          "SELECT t, r, count(*) FROM mine GROUP BY t, r ORDER BY 1, 2",
          "SELECT min(n), max(n), min(t), max(r) FROM mine", "SELECT max(t) FROM mine",
          "SELECT min(r) FROM mine WHERE t = 'a'", "SELECT DISTINCT t FROM mine ORDER BY t DESC",
          "SELECT i, (SELECT b.t FROM mine AS b WHERE b.n = a.n ORDER BY b.i DESC, b.rowid LIMIT 1) FROM "
          "mine AS a ORDER BY a.rowid LIMIT 100",
          "SELECT count(*), sum(a.i * b.i) FROM mine AS a JOIN mine AS b USING (n)",
          "SELECT count(*), sum(a.r * b.i) FROM mine AS a JOIN mine AS b ON a.n = b.n AND a.t = b.t",
          "SELECT count(*), sum(b.i) FROM mine AS a JOIN mine AS b ON b.n = a.n AND b.r > a.r AND b.t IN "
          "(a.t, 'ab')",
          "SELECT t, sum(n) FROM mine WHERE r > 0 AND t IN ('a', 'ab', 'b') GROUP BY t HAVING sum(n) > 5 "
          "ORDER BY t",
          "SELECT a.rowid, b.rowid FROM mine AS a LEFT JOIN mine AS b ON b.n = a.n AND b.t IS NOT NULL AND "
          "b.i < a.i "
          "ORDER BY 1, 2",
          "SELECT a.rowid, b.rowid FROM mine AS a LEFT JOIN mine AS b ON b.n = a.n + 1 AND b.i = a.i ORDER "
          "BY 1, 2"})
      twin.Compare(sql);
  }
}

// SQLite steps over every row in a join without an index.
TEST(VirtualTable, AJoinOfManyRowsLooksThemUp) {
  Table table({"mine", "Rows.", {}, {{"i", Type::kInteger, Unit::kNone, "", false, ""}}});
  for (int64_t i = 0; i < 100'000; ++i) table.AddRow({(i * 7919) % 100'000});
  Database database;
  database.Add(table);
  database.SetStepBudget(10'000'000);
  const auto join = [&] {
    return database.Query("SELECT count(*) FROM mine AS a JOIN mine AS b USING (i)").rows;
  };
  EXPECT_EQ(join(), (std::vector<std::vector<Value>>{{int64_t{100'000}}}));
  database.SetMemoryLimit(600'000);  // the index has eight bytes for each row
  EXPECT_THROW(join(), SqlError);
}

// The sorted column alone, here of one value as the rank of a single profile, would leave every row.
TEST(VirtualTable, AJoinOnASortedColumnOfFewValuesLooksTheOthersUp) {
  Table table({"mine",
               "Rows.",
               {},
               {{"rank", Type::kInteger, Unit::kNone, "", false, ""},
                {"name", Type::kText, Unit::kNone, "", false, ""}}});
  for (int64_t i = 0; i < 50'000; ++i) table.AddRow({int64_t{0}, std::to_string((i * 7919) % 50'000)});
  Database database;
  database.Add(table);
  database.SetStepBudget(10'000'000);
  EXPECT_EQ(
      database.Query("SELECT count(*) FROM mine AS a JOIN mine AS b ON b.rank = a.rank AND b.name = a.name")
          .rows,
      (std::vector<std::vector<Value>>{{int64_t{50'000}}}));
}

TEST(VirtualTable, CellsOfEveryKind) {
  const Schema schema{"cells",
                      "Cells.",
                      {},
                      {{"i", Type::kInteger, Unit::kNone, "", true, ""},
                       {"r", Type::kReal, Unit::kNone, "", true, ""},
                       {"t", Type::kText, Unit::kText, "", true, ""}}};
  Table table(schema);
  const std::string long_text(200'000, 'x');
  const std::vector<std::vector<Value>> rows = {{int64_t{0}, 0.0, std::string()},
                                                {kLeast, -1e308, std::string("größe 🚀 'quoted' \"twice\"")},
                                                {kMost, std::numeric_limits<double>::infinity(), long_text},
                                                {Value(), Value(), Value()},
                                                {int64_t{1}, 0.1, std::string("\xff\xfe no UTF-8")}};
  for (const auto& row : rows) table.AddRow(row);
  table.AddRow({int64_t{2}, int64_t{3}, std::string("a real given as an integer")});
  table.AddRow({int64_t{3}, std::nan(""), std::string("not a number")});
  Database database;
  database.Add(table);
  const ResultSet result = database.Query("SELECT * FROM cells");
  ASSERT_EQ(result.rows.size(), 7u);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(result.rows[i], rows[i]) << i;
  EXPECT_EQ(result.rows[5][1], Value(3.0));
  EXPECT_TRUE(IsNull(result.rows[6][1]));  // unknown, not a number that nobody can compare
  EXPECT_EQ(database.Query("SELECT count(*), count(i), count(t) FROM cells").rows[0],
            (std::vector<Value>{int64_t{7}, int64_t{6}, int64_t{6}}));
  EXPECT_EQ(database.Query("SELECT typeof(r) FROM cells WHERE i = 2").rows[0][0], Value("real"));
}

// A view over columns may hand out a text that was never set.
TEST(VirtualTable, ATextWithoutBytesIsEmptyNotNull) {
  class Blank final : public Relation {
   public:
    const Schema& schema() const override { return schema_; }
    size_t rows() const override { return 1; }
    CellView At(size_t, size_t) const override { return CellView::Of(std::string_view()); }

   private:
    Schema schema_{"blank", "Blank.", {}, {{"t", Type::kText, Unit::kText, "", false, ""}}};
  };
  const Blank blank;
  Database database;
  database.Add(blank);
  EXPECT_EQ(database.Query("SELECT t FROM blank").rows[0][0], Value(std::string()));
}

TEST(VirtualTable, NamesThatHoldQuotes) {
  const std::string column = "a\", \"b", name = "x\" USING fts5(a); DROP TABLE temp.\"order\"; --";
  Table order({"order", "Orders.", {}, {{"n", Type::kInteger, Unit::kNone, "", false, ""}}});
  order.AddRow({int64_t{4}});
  Table odd({name, "Rows.", {}, {{column, Type::kInteger, Unit::kNone, "", false, ""}}});
  odd.AddRow({int64_t{5}});
  Database database;
  database.Add(order);
  database.Add(odd);
  database.Add(odd);
  EXPECT_EQ(database.Query("SELECT n FROM \"order\"").rows[0][0], Value(int64_t{4}));
  EXPECT_EQ(
      database
          .Query("SELECT \"a\"\", \"\"b\" FROM \"x\"\" USING fts5(a); DROP TABLE temp.\"\"order\"\"; --\"")
          .rows[0],
      (std::vector<Value>{int64_t{5}}));
}

TEST(VirtualTable, NamesThatAreKeywords) {
  Table table({"order", "Orders.", {}, {{"group", Type::kInteger, Unit::kNone, "", false, ""}}});
  table.AddRow({int64_t{4}});
  Database database;
  database.Add(table);
  EXPECT_EQ(database.Query("SELECT \"group\" FROM \"order\"").rows[0][0], Value(int64_t{4}));
  Table empty({"blank", "No rows.", {}, {{"x", Type::kInteger, Unit::kNone, "", false, ""}}});
  database.Add(empty);
  EXPECT_TRUE(database.Query("SELECT * FROM blank").rows.empty());
  EXPECT_TRUE(IsNull(database.Query("SELECT max(x) FROM blank").rows[0][0]));
}

}  // namespace
}  // namespace dladvisor
