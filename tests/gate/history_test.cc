// SPDX-License-Identifier: Apache-2.0
#include "src/gate/model/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <random>

#include "engine/base/error.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

HistoryRun ARun(const std::string& label, double step_ns) {
  HistoryRun run;
  run.utc_ns = 1'700'000'000'000'000'000;
  run.label = label;
  run.setting = "8 x H200";
  run.verdict = "pass";
  run.values["step.time"] = {"Step time", Unit::kNanoseconds, step_ns};
  run.values["gpu.utilization"] = {"GPU utilization", Unit::kRatio, 1};
  run.findings = {{"pageable-copies", R"({"rank":0})"}, {"pageable-copies", R"({"rank":1})"}};
  return run;
}

void Execute(const fs::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

class HistoryFileTest : public testing::Test {
 protected:
  // What the Error of both functions says; the file is left as it was.
  std::string Refusal() const {
    const std::string before = test::ReadFile(file);
    std::string reading, adding;
    try {
      ReadHistory(file);
    } catch (const Error& error) {
      reading = error.what();
      EXPECT_FALSE(error.hint().empty());
    }
    try {
      AppendToHistory(file, ARun("x", 1));
    } catch (const Error& error) {
      adding = error.what();
    }
    EXPECT_EQ(reading, adding);
    EXPECT_TRUE(test::ReadFile(file) == before);
    EXPECT_FALSE(fs::exists(file.string() + "-journal"));
    EXPECT_THAT(adding, testing::StartsWith(file.string() + ": "));
    return adding;
  }

  const test::ScratchDir folder;
  const fs::path file = folder.path() / "history.sqlite";
};

TEST_F(HistoryFileTest, IsEmptyWhereThereIsNoFile) {
  EXPECT_THAT(ReadHistory(file), IsEmpty());
  EXPECT_FALSE(fs::exists(file));
  test::WriteFile(file, "");
  EXPECT_THAT(ReadHistory(file), IsEmpty());
}

TEST_F(HistoryFileTest, HasARecordingOnce) {
  HistoryRun run = ARun("c1", 1e9);
  run.recording = "node1 1700 8 step.time 1e9 4e12";
  EXPECT_TRUE(AppendToHistory(file, run));
  run.label = "c2";
  EXPECT_FALSE(AppendToHistory(file, run));
  run.recording = "node1 1800 8 step.time 1e9 4e12";
  EXPECT_TRUE(AppendToHistory(file, run));
  run.recording.clear();  // what cannot be told apart counts each time
  EXPECT_TRUE(AppendToHistory(file, run));
  EXPECT_TRUE(AppendToHistory(file, run));
  const auto runs = ReadHistory(file);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].recording, "node1 1800 8 step.time 1e9 4e12");
}

// Only the history that is added to is made.
TEST_F(HistoryFileTest, TheHintFitsWhatIsMerged) {
  const fs::path other = folder.path() / "other.txt";
  test::WriteFile(other, "no history");
  try {
    MergeHistory(file, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(),
              "Name one that is; for --history also a file that is not there yet, which is made.");
  }
}

// Gated at other times, on two branches.
TEST_F(HistoryFileTest, MergedHistoriesHaveARecordingOnce) {
  HistoryRun run = ARun("c1", 1e9);
  run.recording = "node1 1700 8 step.time 1e9 4e12";
  AppendToHistory(file, run);
  const fs::path other = folder.path() / "other.sqlite";
  run.utc_ns += 1;
  AppendToHistory(other, run);
  EXPECT_EQ(MergeHistory(file, other), 0U);
}

TEST_F(HistoryFileTest, OfAnEarlierProgramHasNoRecordings) {
  AppendToHistory(file, ARun("c1", 1e9));
  Execute(file, "ALTER TABLE run DROP COLUMN recording");
  ASSERT_EQ(ReadHistory(file).size(), 1U);
  HistoryRun run = ARun("c2", 1e9);
  run.recording = "node1 1700 8 step.time 1e9 4e12";
  EXPECT_TRUE(AppendToHistory(file, run));
  EXPECT_FALSE(AppendToHistory(file, run));
  EXPECT_EQ(ReadHistory(file).size(), 2U);
}

TEST_F(HistoryFileTest, ReadsWhatWasAdded) {
  HistoryRun hostile = ARun("'; DROP TABLE run; --\xff", 1e9 / 3);
  hostile.values["unknown"] = {"Unknown", Unit::kBytes, std::numeric_limits<double>::quiet_NaN()};
  AppendToHistory(file, ARun("abc", 2e9));
  AppendToHistory(file, hostile);
  const auto runs = ReadHistory(file);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].id, 1);
  EXPECT_EQ(runs[1].id, 2);
  EXPECT_EQ(runs[0].utc_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(runs[0].label, "abc");
  EXPECT_EQ(runs[0].setting, "8 x H200");
  EXPECT_EQ(runs[0].verdict, "pass");
  EXPECT_EQ(runs[0].findings, ARun("", 0).findings);
  EXPECT_EQ(runs[1].label, hostile.label);
  ASSERT_EQ(runs[1].values.size(), 2U);
  EXPECT_EQ(runs[1].values.at("step.time").value, 1e9 / 3);
  EXPECT_EQ(runs[1].values.at("step.time").title, "Step time");
  EXPECT_EQ(runs[1].values.at("gpu.utilization").unit, Unit::kRatio);
}

TEST_F(HistoryFileTest, IsOneFileInTheLayoutOfItsHeader) {
  AppendToHistory(file, ARun("abc", 2e9));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  test::Sqlite db(file, SQLITE_OPEN_READONLY);
  EXPECT_EQ(db.Query("SELECT key, value FROM history")[0], (std::vector<std::string>{"format_version", "1"}));
  EXPECT_EQ(db.Query("SELECT metric FROM value WHERE run = 1 ORDER BY metric")[1][0], "step.time");
  EXPECT_EQ(db.Query("PRAGMA journal_mode")[0][0], "delete");
}

TEST_F(HistoryFileTest, RefusesOtherFiles) {
  test::WriteFile(file, "step,time\n1,2\n");
  EXPECT_THAT(Refusal(), HasSubstr("is not a history of `dladvisor gate`"));
  test::WriteFile(file, std::string(5000, 'x'));
  EXPECT_THAT(Refusal(), HasSubstr("is not a history"));
  fs::remove(file);
  test::MakeDatabase(file, "CREATE TABLE run(id); CREATE TABLE history(key, value)");
  EXPECT_THAT(Refusal(), HasSubstr("is not a history"));
}

TEST_F(HistoryFileTest, RefusesFolders) {
  EXPECT_THROW(ReadHistory(folder.path()), Error);
  EXPECT_THROW(AppendToHistory(folder.path(), ARun("", 1)), Error);
  EXPECT_THROW(AppendToHistory(folder.path() / "none" / "history.sqlite", ARun("", 1)), Error);
}

TEST_F(HistoryFileTest, RefusesNewerFormats) {
  AppendToHistory(file, ARun("abc", 2e9));
  test::Sqlite(file).Run("UPDATE history SET value = '2'");
  EXPECT_THAT(Refusal(), HasSubstr("has history format 2, this program reads up to 1"));
}

TEST_F(HistoryFileTest, RefusesDamagedFiles) {
  for (int i = 0; i < 30; ++i) AppendToHistory(file, ARun(std::string(500, 'c'), i));
  const std::string whole = test::ReadFile(file);
  for (const size_t size : {size_t{50}, size_t{100}, size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    SCOPED_TRACE(size);
    test::WriteFile(file, whole.substr(0, size));
    Refusal();
    EXPECT_THROW(AppendToHistory(file, ARun("x", 1)), Error);
  }
}

TEST_F(HistoryFileTest, IsNeverMadeWorseByFlippedBytes) {
  for (int i = 0; i < 30; ++i) AppendToHistory(file, ARun(std::string(500, 'c'), i));
  const std::string whole = test::ReadFile(file);
  std::mt19937_64 random(1);
  for (int draw = 0; draw < 100; ++draw) {
    std::string flipped = whole;
    for (int i = 0; i < 8; ++i) flipped[random() % flipped.size()] = static_cast<char>(random());
    test::WriteFile(file, flipped);
    try {
      ReadHistory(file);
      AppendToHistory(file, ARun("x", 1));
    } catch (const Error&) {
      EXPECT_TRUE(test::ReadFile(file) == flipped);
    }
  }
}

TEST_F(HistoryFileTest, OfAnOldProgramInWalModeIsTurnedBack) {
  AppendToHistory(file, ARun("a", 1));
  test::Sqlite(file).Query("PRAGMA journal_mode = WAL");
  AppendToHistory(file, ARun("b", 2));
  EXPECT_EQ(ReadHistory(file).size(), 2U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

// Pages reach the file before the transaction ends, and then the process dies.
void DieWhileWriting(const fs::path& file, const std::string& sql) {
  const pid_t child = fork();
  if (child == 0) {
    sqlite3* db = nullptr;
    sqlite3_open(file.c_str(), &db);
    sqlite3_exec(db, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE", nullptr, nullptr,
                 nullptr);
    sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(fs::exists(file.string() + "-journal"));
}

constexpr const char* kManyRuns =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
    "INSERT INTO run(label) SELECT printf('%.500c', 'x') FROM n";

TEST_F(HistoryFileTest, IsWholeAfterACrash) {
  AppendToHistory(file, ARun("a", 1));
  DieWhileWriting(file, kManyRuns);
  ASSERT_GT(fs::file_size(file), 1'000'000U);
  EXPECT_EQ(ReadHistory(file).size(), 1U);
  DieWhileWriting(file, kManyRuns);
  AppendToHistory(file, ARun("b", 2));
  const auto runs = ReadHistory(file);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].label, "b");
}

TEST_F(HistoryFileTest, IsWholeAfterACrashOfTheFirstGate) {
  DieWhileWriting(file, std::string("CREATE TABLE run(id INTEGER PRIMARY KEY, label);") + kManyRuns);
  AppendToHistory(file, ARun("a", 1));
  EXPECT_EQ(ReadHistory(file).size(), 1U);
}

TEST_F(HistoryFileTest, TakesGatesThatAddAtOnce) {
  constexpr int kGates = 4, kRuns = 12;
  std::vector<pid_t> gates;
  for (int g = 0; g < kGates; ++g) {
    const pid_t child = fork();
    if (child == 0) {
      int failed = 0;
      for (int i = 0; i < kRuns; ++i) {
        try {
          AppendToHistory(file, ARun("gate " + std::to_string(g), i));
          ReadHistory(file);
        } catch (const std::exception&) {
          ++failed;
        }
      }
      _exit(failed);
    }
    gates.push_back(child);
  }
  for (const pid_t gate : gates) {
    int status = 0;
    waitpid(gate, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto runs = ReadHistory(file);
  ASSERT_EQ(runs.size(), static_cast<size_t>(kGates * kRuns));
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].id, static_cast<int64_t>(i + 1));
    EXPECT_EQ(runs[i].values.size(), 2U);
    EXPECT_EQ(runs[i].findings.size(), 2U);
  }
}

TEST(History, OfTwoBranchesBecomesOne) {
  const test::ScratchDir scratch;
  const auto run = [](int64_t time, const std::string& label) {
    HistoryRun entry;
    entry.utc_ns = time;
    entry.label = label;
    entry.values["step.time"] = {"Step time", Unit::kNanoseconds, 1e6 + static_cast<double>(time)};
    return entry;
  };
  for (const auto& [file, times] :
       {std::pair("a", std::vector<int64_t>{1, 3}), std::pair("b", std::vector<int64_t>{1, 2, 4})})
    for (const int64_t time : times)
      AppendToHistory(scratch.path() / file, run(time, "c" + std::to_string(time)));
  EXPECT_EQ(MergeHistory(scratch.path() / "a", scratch.path() / "b"), 2u);
  EXPECT_EQ(MergeHistory(scratch.path() / "a", scratch.path() / "b"), 0u);
  std::vector<std::string> labels;
  for (const HistoryRun& each : ReadHistory(scratch.path() / "a")) labels.push_back(each.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"c1", "c2", "c3", "c4"}));
  EXPECT_THROW(MergeHistory(scratch.path() / "a", scratch.path() / "none"), Error);
}

}  // namespace
}  // namespace dladvisor
