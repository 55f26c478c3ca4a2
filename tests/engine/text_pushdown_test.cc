// SPDX-License-Identifier: Apache-2.0
// LIKE and REGEXP that are asked of many rows, against what SQLite makes of an expression that it cannot push
// down.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/store/database.h"
#include "engine/store/relation.h"

namespace dladvisor {
namespace {

Schema NamesSchema() {
  return {"kernels",
          "Kernels.",
          {},
          {{"id", Type::kInteger, Unit::kNone, "Number.", false, ""},
           {"name", Type::kText, Unit::kText, "Name.", true, ""}}};
}

Table Names(int64_t rows) {
  const std::string names[] = {"sgemm_nn", "SGEMM_tn", "",      "gem",           "volta_h884gemm",
                               "a_b",      "axb",      "Gämma", "softmax\nwarp", std::string("ge\0mm", 5)};
  Table table(NamesSchema());
  for (int64_t i = 0; i < rows; ++i)
    table.AddRow({i, i % 11 == 10 ? Value() : Value(names[static_cast<size_t>(i % 11)])});
  return table;
}

TEST(TextPushdown, FindsTheRowsThatSqliteFinds) {
  const Table table = Names(5000);
  Database database;
  database.Add(table);
  for (const char* asked : {"LIKE '%gemm%'", "LIKE '%GEMM%'", "LIKE 'sgemm%'", "LIKE '%a_b%'", "LIKE '%ä%'",
                            "LIKE ''", "LIKE '%mm%'", "LIKE NULL", "LIKE 5", "NOT LIKE '%gemm%'",
                            "REGEXP 'gemm'", "REGEXP '(?i)gemm'", "REGEXP '^$'", "REGEXP 'x\\nw'",
                            "REGEXP NULL", "REGEXP 5", "NOT REGEXP 'gemm'", "LIKE '%' || id || '%'"}) {
    const auto found = [&](const char* column) {
      return database.Query(fmt::format("SELECT count(*), sum(id) FROM kernels WHERE {} {}", column, asked));
    };
    EXPECT_EQ(found("name").rows, found("+name").rows) << asked;
  }
  EXPECT_THROW(database.Query("SELECT * FROM kernels WHERE name REGEXP '('"), SqlError);
}

TEST(TextPushdown, OfMorePatternsThanAreTestedAhead) {
  const Table table = Names(3000);
  Database database;
  database.Add(table);
  const auto found = [&](const char* column) {
    return database.Query(
        fmt::format("SELECT a.id, (SELECT count(*) FROM kernels AS b WHERE {} LIKE '%' || a.name || '%') "
                    "FROM kernels AS a WHERE a.id < 40",
                    column));
  };
  EXPECT_EQ(found("b.name").rows, found("b.name || ''").rows);
}

// SQLite sees the rows alone that have what is asked for.
TEST(TextPushdown, LeavesOtherRowsAlone) {
  const Table table = Names(100'000);
  Database database;
  database.Add(table);
  database.SetStepBudget(150'000);
  EXPECT_EQ(database.Query("SELECT count(*) FROM kernels WHERE name LIKE '%softmax%' AND id >= 0").rows[0][0],
            Value(int64_t{9091}));
  EXPECT_EQ(
      database.Query("SELECT count(*) FROM kernels WHERE name REGEXP '^softmax' AND id >= 0").rows[0][0],
      Value(int64_t{9091}));
  EXPECT_THROW(database.Query("SELECT count(*) FROM kernels WHERE name || '' LIKE '%softmax%'"), SqlError);
}

}  // namespace
}  // namespace dladvisor
