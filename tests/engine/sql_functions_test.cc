// Our functions of SQLite's names against SQLite's own.
#include "engine/store/sql_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/store/sandbox.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {

class SqlFunctions : public testing::Test {
 protected:
  SqlFunctions() {
    sqlite3_open(":memory:", &plain_);
    sqlite3_open(":memory:", &own_);
    RegisterFunctions(own_, &meter_);
    for (sqlite3* db : {plain_, own_}) sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  }
  ~SqlFunctions() override {
    sqlite3_close(plain_);
    sqlite3_close(own_);
  }

  // Type and value of the first column of all rows, or the error.
  static std::string Run(sqlite3* db, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return sqlite3_errmsg(db);
    std::string result;
    int rc = SQLITE_OK;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
      const int type = sqlite3_column_type(statement, 0);
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, 0));
      result += std::to_string(type) + ":" +
                std::string(text ? text : "", static_cast<size_t>(sqlite3_column_bytes(statement, 0))) + "|";
    }
    if (rc != SQLITE_DONE) result += sqlite3_errmsg(db);
    sqlite3_finalize(statement);
    return result;
  }

  void Same(const std::string& sql) { ASSERT_EQ(Run(own_, sql), Run(plain_, sql)) << sql; }

  size_t Below(size_t n) { return random_() % n; }

  std::string Text(const std::vector<std::string>& alphabet, size_t most) {
    std::string text;
    for (size_t n = Below(most + 1); n > 0; --n) text += alphabet[Below(alphabet.size())];
    return text;
  }

  // Mostly a text; now and then NULL, a number or a blob.
  std::string Literal(const std::vector<std::string>& alphabet, size_t most) {
    switch (Below(20)) {
      case 0:
        return "NULL";
      case 1:
        return "11";
      case 2:
        return "1.5";
      case 3:
        return "CAST('" + Text(alphabet, most) + "' AS BLOB)";
      default:
        return "'" + Text(alphabet, most) + "'";
    }
  }

  Meter meter_{0, INT64_MAX / 100};
  sqlite3 *plain_ = nullptr, *own_ = nullptr;
  std::mt19937_64 random_{7};
};

const std::vector<std::string> kText = {"a", "A", "b", "1", " ", "é", "É", "ü", "€", "😀", "_", "]"};

TEST_F(SqlFunctions, LikeIsSqlites) {
  const std::vector<std::string> pattern = {"a", "A", "b", "é", "€", "😀", "%", "%", "_", "\\"};
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = Literal(kText, 8), like = Literal(pattern, 6);
    Same("SELECT " + text + " LIKE " + like);
    Same("SELECT " + text + " LIKE " + like + " ESCAPE " + Literal(pattern, i % 50 == 0 ? 3 : 1));
  }
}

TEST_F(SqlFunctions, GlobIsSqlites) {
  const std::vector<std::string> pattern = {"a", "b", "é", "€", "*", "*", "?", "[", "]", "^", "-", "A"};
  for (int i = 0; i < 30'000; ++i) Same("SELECT " + Literal(kText, 8) + " GLOB " + Literal(pattern, 8));
}

TEST_F(SqlFunctions, SearchesAreSqlites) {
  const std::vector<std::string> few = {"a", "b", "é", "€"};
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = Literal(few, 12), part = Literal(few, 3);
    Same("SELECT instr(" + text + ", " + part + ")");
    Same("SELECT replace(" + text + ", " + part + ", " + Literal(few, 4) + ")");
    for (const std::string trim : {"trim", "ltrim", "rtrim"}) {
      Same("SELECT " + trim + "(" + text + ", " + part + ")");
      Same("SELECT " + trim + "(" + Literal(kText, 4) + ")");
    }
  }
  // A blob that begins within a character.
  Same("SELECT instr('é', x'a9')");
  Same("SELECT instr(x'c3a9', x'a9')");
  Same("SELECT instr(x'a9', 'a'), instr(x'a961', 'a')");
}

TEST_F(SqlFunctions, LinearFunctionsAreSqlites) {
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = Literal(kText, 8);
    const auto number = [&] { return std::to_string(static_cast<int>(Below(12)) - 6); };
    for (const std::string function : {"length", "lower", "upper", "unicode"})
      Same("SELECT " + function + "(" + text + ")");
    Same("SELECT substr(" + text + ", " + number() + ")");
    Same("SELECT substring(" + text + ", " + number() + ", " + number() + ")");
  }
  const std::string json = R"('{"a": {"b": [1, 2.5, "x"]}, "n": null}')";
  for (const std::string path : {"$.a", "$.a.b[1]", "$.a.b", "a", "n", "none", "$", "$["}) {
    Same("SELECT " + json + " ->> '" + path + "'");
    Same("SELECT " + json + " -> '" + path + "'");
    Same("SELECT " + json + " -> 'a' -> 'b' ->> 2");
    Same("SELECT json_extract(" + json + ", '" + path + "', '$.n')");
  }
  for (const std::string call : {"json_extract('{', '$')", "'{' ->> 'a'", "NULL ->> 'a'", "json_extract(1)"})
    Same("SELECT " + call);
}

TEST_F(SqlFunctions, GroupConcatIsSqlites) {
  for (int i = 0; i < 1'000; ++i) {
    std::string rows = "WITH r(g, v, s) AS (VALUES(0, 'a', '')";
    for (size_t n = Below(8); n > 0; --n)
      rows += ", (" + std::to_string(Below(2)) + ", " + (Below(4) ? "'" + Text(kText, 3) + "x'" : "NULL") +
              ", '" + Text(kText, 2) + "')";
    rows += ") SELECT ";
    const std::string frame = " OVER (ROWS BETWEEN " + std::to_string(Below(3)) + " PRECEDING AND " +
                              std::to_string(Below(3)) + " FOLLOWING) FROM r";
    for (const std::string call : {"group_concat(v)", "group_concat(v, s)", "group_concat(v, ' - ')"}) {
      Same(rows + call + " FROM r");
      Same(rows + call + " FROM r GROUP BY g");
      if (call != "group_concat(v, s)") Same(rows + call + frame);
    }
    Same(rows + "group_concat(DISTINCT v) FROM r");
  }
}

TEST_F(SqlFunctions, WorkIsCharged) {
  meter_.steps = 0;
  Run(own_, "SELECT instr(substr('" + std::string(16'000, 'a') + "', 1), 'b')");
  EXPECT_GT(meter_.steps, 2'000);
  EXPECT_LT(meter_.steps, 20'000);
  meter_.max_steps = 10;
  EXPECT_EQ(Run(own_, "SELECT instr('" + std::string(16'000, 'a') + "', 'b')"), "interrupted");
}

TEST(JsonKeys, CanBeReadByRules) {
  test::Shops shops;
  const auto row =
      shops.database
          .Query(
              R"(SELECT k ->> 'a', k -> 'b', json_extract(k, '$.b[0]') FROM (SELECT '{"a": 1, "b": ["x"]}' AS k))")
          .rows[0];
  EXPECT_THAT(row, testing::ElementsAre(Value(int64_t{1}), Value("[\"x\"]"), Value("x")));
}

}  // namespace
}  // namespace dladvisor
