// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sql_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "engine/base/embedded.h"
#include "engine/base/error.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;

constexpr std::array<std::string_view, 2> kKeys = {"title", "note"};

std::string ErrorOf(const std::string& content) {
  try {
    ReadSqlFile("x.sql", content, kKeys);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SqlFile, HasStatementsAndWhatIsSaidOfThem) {
  const auto statements = ReadSqlFile("x.sql", R"(-- For readers: no key.
-- id: window
-- note: What the profile covers, where
--   warm-up is left out.
SELECT total
FROM time_ledger;

-- id: ops
-- title: Ops: all
SELECT op,
    'two  spaces;
kept' AS "a  b"
-- For readers.
FROM op;
)",
                                      kKeys);
  ASSERT_EQ(statements.size(), 2u);
  EXPECT_EQ(statements[0].Get("id"), "window");
  EXPECT_EQ(statements[0].Get("note"), "What the profile covers, where warm-up is left out.");
  EXPECT_EQ(statements[0].Get("title"), "");
  EXPECT_EQ(statements[0].sql, "SELECT total FROM time_ledger");
  EXPECT_EQ(statements[1].Get("title"), "Ops: all");
  EXPECT_EQ(statements[1].sql, "SELECT op, 'two  spaces; kept' AS \"a  b\" FROM op");
}

TEST(SqlFile, ErrorsHaveTheirLine) {
  EXPECT_THAT(ErrorOf("\nSELECT 1;"), HasSubstr("x.sql:2: a statement has no \"-- id: ...\" before it"));
  EXPECT_THAT(ErrorOf("-- id: a\n-- colour: red\nSELECT 1;"),
              HasSubstr("x.sql:2: unknown key \"colour\"; there are title, note"));
  EXPECT_THAT(ErrorOf("-- id: a\nSELECT 1"),
              HasSubstr("x.sql:2: the last statement does not end with \";\""));
  EXPECT_THAT(ErrorOf("-- id: a\n"), HasSubstr("x.sql:1: the last statement"));
}

TEST(SqlFile, FilesThatAreNotEmbeddedAreErrors) {
  constexpr std::array<EmbeddedFile, 1> files = {{{"a.sql", "SELECT 1;"}}};
  EXPECT_EQ(FindEmbedded(files, "a.sql"), "SELECT 1;");
  EXPECT_THROW(FindEmbedded(files, "b.sql"), Error);
}

}  // namespace
}  // namespace dladvisor
