// SPDX-License-Identifier: Apache-2.0
// Exports promise no order of their rows: the report does not depend on it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

#include "examples/data-parallel/exports.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

int AddName(void* names, int, char** cells, char**) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(cells[0]);
  return 0;
}

// Puts the rows of all tables that have no key into an order of their own.
void Shuffle(const fs::path& path, uint64_t seed) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  std::vector<std::string> tables;
  ASSERT_EQ(
      sqlite3_exec(db,
                   "SELECT name FROM sqlite_master AS t WHERE type = 'table' AND NOT EXISTS (SELECT 1 FROM "
                   "pragma_table_info(t.name) WHERE pk) AND name NOT LIKE '%META_DATA%'",
                   AddName, &tables, nullptr),
      SQLITE_OK);
  std::string sql = "BEGIN;";
  for (const std::string& table : tables)
    sql += fmt::format(
        "CREATE TEMP TABLE shuffled AS SELECT * FROM main.{0} ORDER BY (rowid * {1}) % 104729, rowid;"
        "DELETE FROM main.{0}; INSERT INTO main.{0} SELECT * FROM shuffled; DROP TABLE shuffled;",
        table, seed);
  EXPECT_EQ(sqlite3_exec(db, (sql + "COMMIT").c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  EXPECT_GT(tables.size(), 4u);
  sqlite3_close(db);
}

TEST(RowOrder, DoesNotMatter) {
  const test::ScratchDir scratch;
  example::JobOptions options;
  options.nodes = 1;
  options.gpus_per_node = 2;
  options.steps = 12;
  options.kernels = 60;
  options.seed = 5;
  options.program = 1;
  const example::Job job(options);
  const auto report = [&](const std::string& folder, uint64_t seed) {
    const fs::path files = scratch.path() / folder / "job";
    example::WriteJob(job, files, example::DefaultNsysSchema());
    if (seed > 0)
      for (const auto& file : fs::directory_iterator(files)) Shuffle(file.path(), seed);
    const test::RunResult run =
        test::Run(fmt::format("cd '{}' && '{}' report job --format json", files.parent_path().string(),
                              test::ProgramPath().string()));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out;
  };
  const std::string expected = report("sorted", 0);
  EXPECT_GT(expected.size(), 10'000u);
  EXPECT_EQ(report("shuffled", 7919), expected);
  EXPECT_EQ(report("again", 99991), expected);
}

}  // namespace
}  // namespace dladvisor
