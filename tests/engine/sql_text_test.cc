// SPDX-License-Identifier: Apache-2.0
// SQL as text: what is a word, what a parameter, and statements that can be run again with their values.
#include "engine/sql/sql_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/shop.h"

namespace dladvisor {
namespace {

TEST(SqlText, TokensCoverEveryByte) {
  for (const std::string sql :
       {"SELECT 'it''s', \"a\"\"b\", [c], `d` FROM x -- end", "a /* b", "'open", "\"open", "[open", ":",
        "?1 @a $b :c", "1.5e3 0x1F x'00ff'", "größe >= :maß", "", "--", "/*/ still a comment */ 1"}) {
    std::string all;
    for (const SqlToken& token : SqlTokens(sql)) {
      EXPECT_EQ(token.start, all.size()) << sql;
      EXPECT_FALSE(token.text.empty()) << sql;
      all += token.text;
    }
    EXPECT_EQ(all, sql);
  }
}

TEST(SqlText, WordsAreWholeAndOutsideStringsAndComments) {
  EXPECT_TRUE(NamesWord("idle > 1", "idle"));
  EXPECT_TRUE(NamesWord("1+IDLE*2", "idle"));  // as SQL has it
  EXPECT_TRUE(NamesWord("subject.idle", "idle"));
  EXPECT_TRUE(NamesWord("\"idle\" > 1", "idle"));
  EXPECT_TRUE(NamesWord("[idle] > 1", "idle"));
  EXPECT_TRUE(NamesWord("'it''s' = idle", "idle"));
  EXPECT_TRUE(NamesWord("1 -- why\n + idle", "idle"));
  EXPECT_FALSE(NamesWord("idle_share > 1", "idle"));
  EXPECT_FALSE(NamesWord("my_idle > 1", "idle"));
  EXPECT_FALSE(NamesWord(":idle > 1", "idle"));
  EXPECT_FALSE(NamesWord("town = 'idle'", "idle"));
  EXPECT_FALSE(NamesWord("town = 'it''s idle'", "idle"));
  EXPECT_FALSE(NamesWord("1 -- idle", "idle"));
  EXPECT_FALSE(NamesWord("1 /* idle */", "idle"));
}

TEST(SqlText, ParametersAreWhole) {
  EXPECT_EQ(FindParameter("a > :max_busy AND b > :max", "max"), 22u);
  EXPECT_EQ(FindParameter("a > :max_busy", "max"), std::nullopt);
  EXPECT_EQ(FindParameter("a = ':max'", "max"), std::nullopt);
  EXPECT_EQ(FindParameter("1 -- :max", "max"), std::nullopt);
}

// Whatever a value is, the statement that names it gives the same with it bound and with it written out.
TEST(SqlText, WrittenOutValuesGiveTheSameResults) {
  test::Shops shops;
  const std::vector<Value> values = {Value(),
                                     int64_t{0},
                                     int64_t{-7},
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max(),
                                     5.0,
                                     -0.0,
                                     0.1,
                                     -2.5e-300,
                                     1e300,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::nan(""),
                                     std::string(),
                                     std::string("it's"),
                                     std::string("''--x"),
                                     std::string(":x"),
                                     std::string("größe\n")};
  const std::vector<std::string> statements = {
      "SELECT :x, typeof(:x), 9 / :x, 3 -:x, 7 - :x, -:x, :x || ':x' -- it's :x",
      "SELECT count(*) FROM orders WHERE item > :x /* ' */ AND shop IS NOT :x"};
  for (const std::string& statement : statements)
    for (const Value& value : values) {
      const std::vector<Binding> bindings = {{"x", value}, {"xx", int64_t{1}}};
      const std::string written = WithValues(statement, bindings);
      EXPECT_EQ(shops.database.Query(written).rows, shops.database.Query(statement, bindings).rows)
          << written;
    }
}

TEST(SqlText, LeavesUnknownParametersAlone) {
  const std::vector<Binding> bindings = {{"a", int64_t{1}}};
  EXPECT_EQ(WithValues(":a + :ab + ':a'", bindings), "1 + :ab + ':a'");
}

}  // namespace
}  // namespace dladvisor
