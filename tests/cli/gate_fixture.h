// SPDX-License-Identifier: Apache-2.0
// Runs of a program, and the gate over them as a build runs it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/cli/planted_run.h"
#include "tests/support/files.h"

namespace dladvisor::test {

inline void Execute(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

class Gate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<ScratchDir>();
    for (int run = 1; run <= 3; ++run) {
      WriteRun(Path("base" + std::to_string(run)), run);
      WriteRun(Path("same" + std::to_string(run)), 10 + run);
      WriteRun(Path("slow" + std::to_string(run)), 20 + run, 0.3);
    }
    WriteRun(Path("wide"), 1, 0, {.gpus = 4});
    EXPECT_EQ(Run("gate --baseline base --update base1 base2 base3").status, 0);
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static std::filesystem::path Path(const std::string& name) { return scratch_->path() / name; }

  static RunResult Run(const std::string& arguments) {
    return test::Run("cd '" + scratch_->path().string() + "' && '" + ProgramPath().string() + "' " +
                     arguments);
  }

  inline static std::unique_ptr<ScratchDir> scratch_;
};

}  // namespace dladvisor::test
