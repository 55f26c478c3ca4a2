// SPDX-License-Identifier: Apache-2.0
#include "engine/sql/type_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

// Columns by name, whatever their qualifier; :most is a real of unit ns, :many an integer above one.
SqlType Resolve(std::string_view qualifier, std::string_view name) {
  static const std::map<std::string, SqlType, std::less<>> kColumns = {
      {"calls", TypeOfColumn("calls", Type::kInteger, Unit::kCount)},
      {"busy_ns", TypeOfColumn("busy_ns", Type::kInteger, Unit::kNanoseconds)},
      {"wall_ns", TypeOfColumn("wall_ns", Type::kReal, Unit::kNanoseconds)},
      {"size", TypeOfColumn("size", Type::kInteger, Unit::kBytes)},
      {"idle_share", TypeOfColumn("idle_share", Type::kReal, Unit::kRatio)},
      {"speedup", TypeOfColumn("speedup", Type::kReal, Unit::kRatio)},
      {"name", TypeOfColumn("name", Type::kText, Unit::kText)},
      {"rank", TypeOfColumn("rank", Type::kInteger, Unit::kNone)},
      {":most", TypeOfColumn("", Type::kReal, Unit::kNanoseconds)},
      {":many", {Type::kInteger, std::nullopt, false, false, 7.0}}};
  const auto found = kColumns.find(qualifier == ":" ? ":" + std::string(name) : std::string(name));
  return found == kColumns.end() ? SqlType() : found->second;
}

std::vector<std::string> TypeProblems(std::string_view sql) {
  std::vector<std::string> problems;
  for (const SqlTypeProblem& problem : InferTypes(sql, Resolve).problems)
    problems.push_back(std::to_string(problem.offset) + ": " + problem.reason);
  return problems;
}

class Sound : public testing::TestWithParam<const char*> {};
TEST_P(Sound, HasNoProblem) { EXPECT_THAT(TypeProblems(GetParam()), IsEmpty()) << GetParam(); }
INSTANTIATE_TEST_SUITE_P(
    Expressions, Sound,
    testing::Values("1 - idle_share > 0.5", "ratio(busy_ns, wall_ns) > 0.5", "busy_ns / 2.0 > :most",
                    "busy_ns / wall_ns", "CAST(busy_ns AS REAL) / calls", "name = 'x' AND calls > 3",
                    "name LIKE '%gemm%'", "name || calls = 'x1'", "name IN ('a', 'b')",
                    "calls BETWEEN 1 AND 5 AND calls > 2", "rank = 3 OR name IS NULL", "speedup > 2",
                    "busy_ns * idle_share > :most", "0.3 * busy_ns < wall_ns", "idle_share * 100 > 15",
                    "unknown_thing / calls", "CASE WHEN calls > 1 THEN busy_ns ELSE wall_ns END > :most",
                    "coalesce(busy_ns, 0) > :most",
                    "busy_ns > (SELECT avg(wall_ns) FROM t WHERE t.name = 'x')",
                    "calls NOT IN (SELECT rank FROM t)", "EXISTS (SELECT 1 FROM t WHERE calls = 1)",
                    "NOT EXISTS (SELECT 1 FROM t)", "iif(calls > 1, busy_ns, 0) > 0",
                    "max(busy_ns, wall_ns) - busy_ns > :most", "count(*) FILTER (WHERE calls > 1) > 3",
                    "name ->> 'rank' = 0", "sum(busy_ns) OVER (PARTITION BY rank ORDER BY calls) > :most",
                    "-calls < 0", "calls & 1 = 1", "idle_ns > -5", "idle_share * 100 > 15",
                    "idle_share + idle_share > 1.5", "idle_share - 0.5 * idle_share < -0.1",
                    "coalesce(idle_share, -1) = -1",
                    "SELECT sum(busy_ns) AS total, name FROM t WHERE idle_share > 0.2 GROUP BY name ORDER BY "
                    "total DESC LIMIT 3",
                    "WITH x AS (SELECT busy_ns AS b FROM t) SELECT b + wall_ns FROM x", "1e6 < busy_ns",
                    "x'00' = name", "", "(", ")))", "calls > ", "SELECT", "CASE", "CAST(", "f(,,)",
                    "a.b.c.d = 1", "IN (", "NOT", "''''", "BETWEEN AND"));

struct Wrong {
  const char* sql;
  const char* problem;
};
class Refused : public testing::TestWithParam<Wrong> {};
TEST_P(Refused, IsNamedInItsPlace) {
  EXPECT_THAT(TypeProblems(GetParam().sql), ElementsAre(GetParam().problem)) << GetParam().sql;
}
INSTANTIATE_TEST_SUITE_P(
    Expressions, Refused,
    testing::Values(
        Wrong{"busy_ns / calls", "8: divides integers, which drops the remainder: use ratio(a, b)"},
        Wrong{"2 * (busy_ns + 1) / calls > 3",
              "18: divides integers, which drops the remainder: use ratio(a, b)"},
        Wrong{"sum(busy_ns)/count(*)", "12: divides integers, which drops the remainder: use ratio(a, b)"},
        Wrong{"(SELECT busy_ns / calls FROM t) > :most",
              "16: divides integers, which drops the remainder: use ratio(a, b)"},
        Wrong{"calls > 1 AND busy_ns > size", "14: compares ns with bytes"},
        Wrong{"idle_share AND calls > 1",
              "0: idle_share is a number, which is neither true nor false: compare it"},
        Wrong{"calls > 1 OR :most", "13: :most is a number, which is neither true nor false: compare it"},
        Wrong{"calls > 1 AND (NOT busy_ns)",
              "19: busy_ns is a number, which is neither true nor false: compare it"},
        Wrong{"name AND calls > 1", "0: name is a text, which is neither true nor false: compare it"},
        Wrong{"size > :most", "0: compares bytes with ns"},
        Wrong{"calls = busy_ns", "0: compares count with ns"},
        Wrong{"NOT size BETWEEN 1 AND busy_ns", "4: compares bytes with ns"},
        Wrong{"size IN (1, busy_ns)", "0: compares bytes with ns"},
        Wrong{"(SELECT max(size) FROM t) > wall_ns", "0: compares bytes with ns"},
        Wrong{"busy_ns + size > 0", "0: adds ns and bytes"},
        Wrong{"busy_ns - size > 0", "0: subtracts bytes from ns"},
        Wrong{"idle_share > '15%'",
              "0: compares a text with a number, by type and not by value: CAST(... AS REAL) converts"},
        Wrong{"name = 3",
              "0: compares a text with a number, by type and not by value: CAST(... AS REAL) converts"},
        Wrong{"name <> calls",
              "0: compares a text with a number, by type and not by value: CAST(... AS REAL) converts"},
        Wrong{"idle_share > 15",
              "0: compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15"},
        Wrong{"coalesce(idle_share, 0) > 15",
              "0: compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15"},
        Wrong{"1 - idle_share > 15",
              "0: compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15"},
        Wrong{"idle_share >= :many",
              "0: compares a share, which lies between 0 and 1, with a larger number: 15 % is 0.15"},
        Wrong{"WITH x AS (SELECT size AS b FROM t) SELECT b + wall_ns FROM x", "43: adds bytes and ns"}));

TEST(SqlTypes, OfResults) {
  const auto of = [](const char* sql) { return InferTypes(sql, Resolve).result; };
  EXPECT_EQ(of("ratio(busy_ns, wall_ns)").unit, Unit::kRatio);
  EXPECT_EQ(of("ratio(busy_ns, calls)").unit, Unit::kNanoseconds);
  EXPECT_EQ(of("ratio(size, busy_ns)").unit, std::nullopt);
  EXPECT_EQ(of("busy_ns * idle_share").unit, Unit::kNanoseconds);
  EXPECT_EQ(of("idle_share * 100").unit, std::nullopt);
  EXPECT_EQ(of("busy_ns / 1e6").unit, std::nullopt);  // milliseconds
  EXPECT_EQ(of("size / 1024.0 / 1024").unit, std::nullopt);
  EXPECT_EQ(of("0.3 * busy_ns").unit, Unit::kNanoseconds);
  EXPECT_EQ(of("1 - idle_share").unit, Unit::kRatio);
  EXPECT_EQ(of("busy_ns + wall_ns").type, Type::kReal);
  EXPECT_EQ(of("count(*)").type, Type::kInteger);
  EXPECT_EQ(of("upper(name)").type, Type::kText);
  EXPECT_EQ(of("coalesce(busy_ns, 0)").unit, Unit::kNanoseconds);
  EXPECT_EQ(of("SELECT max(size), name FROM t").unit, Unit::kBytes);
  const auto columns = InferTypes("SELECT t.rank, sum(size) AS total, 1 AS one FROM t", Resolve).columns;
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns.at("total").unit, Unit::kBytes);
  EXPECT_EQ(columns.at("rank").type, Type::kInteger);
}

TEST(Comparisons, AreThoseOfTheConditionItself) {
  const auto of = [](const char* sql) {
    std::vector<std::string> lines;
    for (const Comparison& c : Comparisons(sql)) lines.push_back(c.left + " [" + c.op + "] " + c.right);
    return lines;
  };
  EXPECT_THAT(of("a > :x"), ElementsAre("a [>] :x"));
  EXPECT_THAT(of("a + 1 > 2 * b AND NOT (c = 'x' OR d <> 4)"),
              ElementsAre("a + 1 [>] 2 * b", "c [=] 'x'", "d [<>] 4"));
  EXPECT_THAT(of("x > (SELECT max(y) FROM t WHERE y < 3)"),
              ElementsAre("x [>] (SELECT max(y) FROM t WHERE y < 3)"));
  EXPECT_THAT(of("iif(a > b, 1, 0)"), IsEmpty());
  EXPECT_THAT(of("a IS NULL OR b BETWEEN 1 AND 2 OR name LIKE 'x'"), IsEmpty());
  EXPECT_THAT(of("a -- > 3\n >= 4"), ElementsAre("a [>=] 4"));
}

}  // namespace
}  // namespace dladvisor
