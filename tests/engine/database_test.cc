// SPDX-License-Identifier: Apache-2.0
#include "engine/store/database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>

#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::Shops;
using test::WhyRefused;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Database, ReadsEveryType) {
  Shops shops;
  const ResultSet result = shops.database.Query("SELECT * FROM shop ORDER BY shop");
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_THAT(result.rows[0], ElementsAre(Value(int64_t{1}), Value("Ulm"), Value(int64_t{36'000'000}),
                                          Value(0.8), Value(int64_t{1536})));
  EXPECT_TRUE(IsNull(result.rows[1][1]));
  EXPECT_TRUE(IsNull(result.rows[1][3]));
}

TEST(Database, KnowsUnits) {
  Shops shops;
  const auto columns = shops.database
                           .Query(
                               "SELECT open_ns, max(stock_bytes) AS most_bytes, avg(busy_share) AS busy, "
                               "town AS place FROM shop")
                           .columns;
  EXPECT_EQ(columns[0].unit, Unit::kNanoseconds);
  EXPECT_EQ(columns[1].unit, Unit::kBytes);  // by its name
  EXPECT_EQ(columns[2].unit, Unit::kNone);
  EXPECT_EQ(columns[3].unit, Unit::kText);  // renamed, still a plain column
  EXPECT_EQ(shops.database.Query("SELECT s FROM (SELECT busy_share AS s FROM shop)").columns[0].unit,
            Unit::kRatio);
  for (const char* name : {"open_share", "share_of_visits", "busy_share_of_day"})
    EXPECT_EQ(
        shops.database.Query(fmt::format("SELECT sum(busy_share) AS {} FROM shop", name)).columns[0].unit,
        Unit::kRatio)
        << name;
}

TEST(Database, BindsValuesByName) {
  Shops shops;
  const std::vector<Binding> bindings = {{"item", std::string("it's <b>")}, {"least", 10.0}};
  EXPECT_EQ(shops.database.Query("SELECT number FROM orders WHERE item = :item AND price > :least", bindings)
                .rows.size(),
            1u);
  EXPECT_THROW(shops.database.Query("SELECT :itm", bindings), SqlError);
  const std::vector<Binding> null = {{"x", Value()}};
  EXPECT_TRUE(IsNull(shops.database.Query("SELECT :x", null).rows[0][0]));
}

TEST(Database, RatioIsNeverIntegerDivisionAndNullOnZero) {
  Shops shops;
  const auto row =
      shops.database.Query("SELECT ratio(1, 2), ratio(1, 0), ratio(NULL, 2), ratio(1, NULL), ratio('x', 2)")
          .rows[0];
  EXPECT_EQ(row[0], Value(0.5));
  for (size_t i = 1; i < 5; ++i) EXPECT_TRUE(IsNull(row[i])) << i;
}

TEST(Database, RegexpIsRe2) {
  Shops shops;
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM orders WHERE item REGEXP '^t.a$'").rows[0][0],
            Value(int64_t{2}));
  EXPECT_TRUE(IsNull(shops.database.Query("SELECT NULL REGEXP 'a'").rows[0][0]));
  EXPECT_THAT(WhyRefused(shops.database, "SELECT 'a' REGEXP '('"), HasSubstr("regexp: "));
  // A pattern that makes backtracking matchers run for ever.
  EXPECT_EQ(
      shops.database.Query("SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '^(a+)+$'").rows[0][0],
      Value(int64_t{0}));
}

TEST(Database, NamesTheRightWord) {
  Shops shops;
  int offset = -2;
  EXPECT_EQ(WhyRefused(shops.database, "SELECT busy_shar FROM shop", &offset),
            "no such column: busy_shar (did you mean busy_share?)");
  EXPECT_EQ(offset, 7);
  EXPECT_EQ(WhyRefused(shops.database, "SELECT * FROM order", &offset), "near \"order\": syntax error");
  EXPECT_EQ(WhyRefused(shops.database, "SELECT * FROM shops", &offset),
            "no such relation: shops (did you mean shop?)");
  EXPECT_EQ(offset, 14);
  EXPECT_EQ(WhyRefused(shops.database, "SELECT rato(1, 2)", &offset),
            "no such function: rato (did you mean ratio?)");
  EXPECT_EQ(WhyRefused(shops.database, ""), "is empty");
  EXPECT_EQ(WhyRefused(shops.database, "SELECT 1; SELECT 2"), "only one statement is allowed");
  EXPECT_THAT(WhyRefused(shops.database, "SELECT \"tea\" FROM orders"), HasSubstr("no such column: tea"));
}

TEST(Database, TellsWhatAStatementReads) {
  Shops shops;
  const SqlReads reads = shops.database.Prepare(
      "WITH o AS (SELECT shop AS s, price FROM orders) SELECT count(*) FROM shop, o WHERE o.s = shop.shop "
      "AND price > :least AND (SELECT count(*) FROM shop) > 0");
  EXPECT_EQ(reads.columns,
            (std::vector<ColumnRead>{{"orders", "price"}, {"orders", "shop"}, {"shop", "shop"}}));
  EXPECT_THAT(reads.relations, ElementsAre("orders", "shop"));
  EXPECT_EQ(reads.parameters, std::vector<std::string>{"least"});
}

TEST(Database, ViewsAreReadable) {
  Shops shops;
  shops.database.AddView("tea_order", "SELECT shop, number FROM orders WHERE item = 'tea'");
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM tea_order").rows[0][0], Value(int64_t{2}));
  EXPECT_EQ(WhyRefused(shops.database, "SELECT * FROM tea_ordr"),
            "no such relation: tea_ordr (did you mean tea_order?)");
}

// A relation sorted by its first column, as event tables are.
class Sorted final : public Relation {
 public:
  explicit Sorted(std::vector<int64_t> times) : times_(std::move(times)) {}
  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return times_.size(); }
  CellView At(size_t row, size_t column) const override {
    ++reads;
    return CellView::Of(column == 0 ? times_[row] : static_cast<int64_t>(row));
  }
  std::optional<size_t> SortedColumn() const override { return 0; }
  mutable size_t reads = 0;

 private:
  Schema schema_{"event",
                 "Events.",
                 {},
                 {{"at", Type::kInteger, Unit::kNanoseconds, "Time.", false, ""},
                  {"row", Type::kInteger, Unit::kNone, "Row.", false, ""}}};
  std::vector<int64_t> times_;
};

TEST(PushDown, AgreesWithBruteForce) {
  std::mt19937_64 random(11);
  std::vector<int64_t> times;
  for (int i = 0; i < 400; ++i) times.push_back(static_cast<int64_t>(random() % 300));
  for (const int64_t extreme : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::max() - 1})
    times.push_back(extreme);
  std::sort(times.begin(), times.end());
  const Sorted events(times);
  Database database;
  database.Add(events);
  const std::vector<std::string> operators = {"=", "<", "<=", ">", ">="};
  for (int i = 0; i < 300; ++i) {
    const std::string a = operators[random() % 5], b = operators[random() % 5];
    std::string x = std::to_string(static_cast<int64_t>(random() % 320) - 10),
                y = std::to_string(random() % 300);
    if (i % 10 == 0) x = "9223372036854775807";
    if (i % 10 == 1) x += ".5";
    if (i % 10 == 2) y = "NULL";
    if (i % 10 == 3) y = "'" + y + "'";
    const std::string condition = "at " + a + " " + x + " AND at " + b + " " + y;
    // The + hides the column from the planner, so that no bound is pushed down.
    const std::string hidden = "+at " + a + " " + x + " AND +at " + b + " " + y;
    if (y[0] == '\'') continue;  // text compares by affinity, which + removes
    EXPECT_EQ(database.Query("SELECT row FROM event WHERE " + condition + " ORDER BY row").rows,
              database.Query("SELECT row FROM event WHERE " + hidden + " ORDER BY row").rows)
        << condition;
  }
}

TEST(PushDown, ReadsOnlyWhatIsAskedFor) {
  std::vector<int64_t> times(100'000);
  for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i);
  const Sorted events(times);
  Database database;
  database.Add(events);
  EXPECT_EQ(database.Query("SELECT count(*) FROM event WHERE at >= 500 AND at < 510").rows[0][0],
            Value(int64_t{10}));
  EXPECT_LT(events.reads, 200u);
}

TEST(Database, ReadsKeysOfJson) {
  Shops shops;
  const auto row =
      shops.database
          .Query(
              R"(SELECT k ->> 'a', k -> 'b', json_extract(k, '$.b[0]') FROM (SELECT '{"a": 1, "b": ["x"]}' AS k))")
          .rows[0];
  EXPECT_THAT(row, ElementsAre(Value(int64_t{1}), Value("[\"x\"]"), Value("x")));
}

TEST(Database, ReplacesARelationOfTheSameName) {
  Shops shops;
  Table other(test::ShopSchema());
  shops.database.Add(other);
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{0}));
  EXPECT_EQ(shops.database.Relations().size(), 2u);
}

}  // namespace
}  // namespace dladvisor
