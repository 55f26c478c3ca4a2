// SPDX-License-Identifier: Apache-2.0
// Everything that is neither a profile nor a rule: one message that names it, status 3, nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <random>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

class BadInput : public testing::Test {
 protected:
  // Runs `report` on the path into a file that must not appear.
  void ExpectRefused(const fs::path& path, const std::string& reason, const std::string& options = "") {
    const fs::path output = scratch_.path() / "report.html";
    const test::RunResult run = test::Run(test::ProgramPath().string() + " report '" + path.string() +
                                          "' -o '" + output.string() + "' " + options);
    EXPECT_EQ(run.status, 3) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(reason));
    EXPECT_THAT(run.err, testing::StartsWith("dladvisor: "));
    EXPECT_FALSE(fs::exists(output));
    for (const auto& entry : fs::directory_iterator(scratch_.path()))
      EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith(".report")));
  }

  fs::path Write(const std::string& name, const std::string& content) {
    test::WriteFile(scratch_.path() / name, content);
    return scratch_.path() / name;
  }

  // A database with one small nsys table per statement of `sql`.
  fs::path Database(const std::string& name, const std::string& sql) {
    const fs::path path = scratch_.path() / name;
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    return path;
  }

  test::ScratchDir scratch_;
};

constexpr const char* kTinyExport =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES(1, 'k');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, "
    "correlationId INT, globalPid INT, demangledName INT, shortName INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 1, 7, 1, 16777216, 1, 1);";

TEST_F(BadInput, MissingFile) { ExpectRefused(scratch_.path() / "none.sqlite", "none.sqlite"); }

TEST_F(BadInput, Folder) { ExpectRefused(scratch_.path(), scratch_.path().string()); }

TEST_F(BadInput, EmptyFile) { ExpectRefused(Write("empty.sqlite", ""), "empty"); }

TEST_F(BadInput, Noise) {
  std::mt19937 random(7);
  std::string noise(1024, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  ExpectRefused(Write("noise.sqlite", noise), "noise.sqlite");
}

TEST_F(BadInput, TextNamedSqlite) { ExpectRefused(Write("notes.sqlite", "kernel times\n"), "notes.sqlite"); }

TEST_F(BadInput, TruncatedDatabase) {
  std::string rows;
  for (int i = 0; i < 4000; ++i)
    rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 1, 7, 1, 16777216, 1, 1);";
  const std::string bytes =
      test::ReadFile(Database("whole.sqlite", std::string(kTinyExport) + "BEGIN;" + rows + "COMMIT;"));
  ASSERT_GT(bytes.size(), 50'000u);
  for (const size_t keep : {bytes.size() - 4096, bytes.size() / 2, size_t{5000}, size_t{1000}, size_t{50}})
    ExpectRefused(Write("cut.sqlite", bytes.substr(0, keep)), "cut.sqlite");
}

TEST_F(BadInput, DatabaseOfSomethingElse) {
  ExpectRefused(Database("shop.sqlite", "CREATE TABLE orders(id INT);"), "shop.sqlite");
}

TEST_F(BadInput, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const fs::path path = Database("locked.sqlite", kTinyExport);
  fs::permissions(path, fs::perms::none);
  ExpectRefused(path, "locked.sqlite");
}

TEST_F(BadInput, OutputOverTheProfileItself) {
  const fs::path path = Database("tiny.sqlite", kTinyExport);
  const std::string before = test::ReadFile(path);
  const test::RunResult run = test::Run(test::ProgramPath().string() + " report " + path.string() +
                                        " --format html -o " + path.string());
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("is the profile itself"));
  EXPECT_EQ(test::ReadFile(path), before);
}

TEST_F(BadInput, OutputThatCannotBeWritten) {
  const fs::path path = Database("tiny.sqlite", kTinyExport);
  const test::RunResult run = test::Run(test::ProgramPath().string() + " report " + path.string() + " -o " +
                                        (scratch_.path() / "none" / "r.html").string());
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("r.html"));
}

TEST_F(BadInput, Arguments) {
  const fs::path path = Database("tiny.sqlite", kTinyExport);
  ExpectRefused(path, "is not a range of steps", "--steps 9:3");
  ExpectRefused(path, "is not a range of steps", "--steps abc");
  ExpectRefused(path, "is not a range of steps", "--steps :");
  ExpectRefused(path, "is not a range of steps", "--steps 3:x");
  ExpectRefused(path, "is not a valid regular expression", "--step-range '('");
  ExpectRefused(path, "is not a valid regular expression", "--pipeline '('");
  ExpectRefused(path, "has no group for the phase", "--pipeline fwd");
  ExpectRefused(path, "none named phase", "--pipeline '(?P<fase>fwd)'");
  ExpectRefused(path, "matches no range", "--pipeline '(fwd) mb7'");
  ExpectRefused(path, "--format", "--format pdf");
  ExpectRefused(path, "--rulez", "--rulez x");
  for (const char* arguments : {"", "reprot x", "report", "rules"}) {
    const test::RunResult run = test::Run(test::ProgramPath().string() + " " + arguments);
    EXPECT_EQ(run.status, 3) << arguments;
    EXPECT_THAT(run.err, HasSubstr("--help"));
  }
}

TEST_F(BadInput, MistypedCommandsAreNamed) {
  const auto error = [](const std::string& arguments) {
    return test::Run(test::ProgramPath().string() + " " + arguments).err;
  };
  EXPECT_THAT(error("reprot x"), HasSubstr("dladvisor: 'reprot' is not a command (did you mean report?)\n"));
  EXPECT_THAT(error("rules test --filtr x"),
              HasSubstr("`dladvisor rules test --help` shows how it is used."));
  EXPECT_THAT(error("nope.sqlite"), HasSubstr("nope.sqlite: no such file"));
  EXPECT_THAT(error("--format json nope.sqlite"), HasSubstr("nope.sqlite: no such file"));
  EXPECT_THAT(error("--quiet"), HasSubstr("give a command, or a profile for its report"));
  EXPECT_THAT(error("rules tset"), HasSubstr("'tset' is not a command (did you mean test?)"));
}

TEST_F(BadInput, AStepThatIsInNoneOfSeveralFiles) {
  const fs::path a = Database("a.sqlite", kTinyExport), b = Database("b.sqlite", kTinyExport);
  const test::RunResult run =
      test::Run(test::ProgramPath().string() + " report " + scratch_.path().string() + " --steps 3");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("2 files: none can be used; the first: " + a.string() + ": has no step 3"));
}

TEST_F(BadInput, StepsOfALog) {
  const fs::path log = scratch_.path() / "gpu.csv";
  test::WriteFile(log, "timestamp, index, utilization.gpu [%]\n2024/01/02 03:04:05.678, 0, 30 %\n");
  ExpectRefused(log, "--steps 3:9: chooses none of a log's iterations", "--steps 3:9");
  EXPECT_EQ(test::Run(test::ProgramPath().string() + " report " + log.string() + " --steps none").status, 0);
}

TEST_F(BadInput, RuleFiles) {
  const fs::path profile = Database("tiny.sqlite", kTinyExport);
  const std::string rule =
      "id: slow-gpu\ntitle: Slow\nfor: gpu\nwhen:\n  - COLUMN > 0.5\nproblem: GPU {{device}} is slow\n"
      "recommendation: [Change it.]\n";
  const auto with = [&](std::string column) {
    std::string text = rule;
    return text.replace(text.find("COLUMN"), 6, column);
  };
  const std::string options = "--rules '" + (scratch_.path() / "rules").string() + "'";
  const fs::path file = scratch_.path() / "rules" / "team" / "slow-gpu.yaml";

  test::WriteFile(file, "id: slow-gpu\n  title: [\n");
  ExpectRefused(profile, "slow-gpu.yaml:", options);

  test::WriteFile(file, with("idle_shar"));
  ExpectRefused(profile, "slow-gpu.yaml:5:5: slow-gpu: ", options);
  ExpectRefused(profile, "did you mean idle_share?", options);

  test::WriteFile(file, with("idle_share"));
  test::WriteFile(scratch_.path() / "rules" / "other" / "slow-gpu.yaml", with("idle_share"));
  ExpectRefused(profile, "slow-gpu", options);

  fs::remove_all(scratch_.path() / "rules");
  ExpectRefused(profile, "rules", options);
}

}  // namespace
}  // namespace dladvisor
