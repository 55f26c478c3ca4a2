// SPDX-License-Identifier: Apache-2.0
// Every real log of a training beside the checkout gives a report that says what it is, or is refused with a
// reason; what is read of it agrees with a plain search of its text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "tests/corpus/written_report.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

double Ask(const Database& database, const std::string& sql) {
  const ResultSet result = database.Query(sql, {}, 1);
  return result.rows.empty() ? -1 : AsNumber(result.rows[0][0]).value_or(-1);
}

// What a search of the text finds, without regard to lines.
struct Found {
  int64_t iterations = 0, skipped = 0;
  double elapsed_ms = 0;
  std::set<int64_t> ranks;
};

Found Search(const std::string& text) {
  Found found;
  re2::StringPiece rest(text);
  const RE2 line(
      R"(iteration +\d+/ +\d+ \|[^\n]*?elapsed time per iteration \(ms\): ([\d.]+)[^\n]*?skipped iterations: +(\d+))");
  double ms = 0;
  int64_t skipped = 0, rank = 0;
  while (RE2::FindAndConsume(&rest, line, &ms, &skipped)) {
    ++found.iterations;
    found.elapsed_ms += ms;
    found.skipped += skipped;
  }
  rest = text;
  const RE2 memory(R"(\[Rank (\d+)\] \(after \d+ iterations\) memory)");
  while (RE2::FindAndConsume(&rest, memory, &rank)) found.ranks.insert(rank);
  return found;
}

TEST(TrainingLogCorpus, EveryLogGivesAReportOrAReason) {
  std::vector<fs::path> files;
  for (const char* extension : {".out", ".txt", ".md"})
    for (const fs::path& file : test::DataFiles("megatron_logs", extension)) files.push_back(file);
  if (files.empty()) GTEST_SKIP() << "no real logs: set DLADVISOR_DATA to their folder";
  size_t reports = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    try {
      const Profile profile = LoadProfile(file, {});
      const test::WrittenReport read = test::WriteReport(profile);
      if (read.text.find("A training log of ") == std::string::npos) {  // a benchmark beside the trainings
        EXPECT_THAT(read.text, HasSubstr("The output of a benchmark of collectives, not a trace"));
        EXPECT_EQ(Search(test::ReadFile(file)).iterations, 0);
        continue;
      }
      EXPECT_THAT(read.text, Not(HasSubstr("No GPU work was recorded")));
      EXPECT_THAT(read.text, Not(HasSubstr("--trace=cuda ")));
      EXPECT_THAT(read.markdown, HasSubstr("## Training Log"));
      EXPECT_THAT(read.html, HasSubstr("Training Log"));
      EXPECT_THAT(read.fired, Contains("training-log-only"));
      EXPECT_THAT(read.fired, Not(Contains("no-gpu-work")));
      ++reports;

      const Found found = Search(test::ReadFile(file));
      const Database database = profile.OpenDatabase();
      EXPECT_EQ(Ask(database, "SELECT count(*) FROM training_memory WHERE rank IS NOT NULL"),
                static_cast<double>(found.ranks.size()));
      if (found.iterations == 0) continue;  // of Hugging Face's Trainer
      EXPECT_EQ(Ask(database, "SELECT lines FROM training"), static_cast<double>(found.iterations));
      EXPECT_EQ(Ask(database, "SELECT skipped FROM training"), static_cast<double>(found.skipped));
      EXPECT_NEAR(Ask(database, "SELECT sum(elapsed_ns) / 1e6 FROM training_log"), found.elapsed_ms,
                  1e-6 * found.elapsed_ms);
    } catch (const Error& e) {
      EXPECT_FALSE(file.extension() == ".out") << e.what();
      EXPECT_FALSE(e.reason().empty());
      EXPECT_FALSE(e.hint().empty());
    }
  }
  EXPECT_GE(reports, 14u);
}

// What the schedule of a pipeline says, and what its last rank waits for other stages, are one figure, though
// found from arguments and timers.
TEST(TrainingLogCorpus, BubblesAreAsLongAsTheScheduleSays) {
  size_t checked = 0;
  for (const fs::path& file : test::DataFiles("megatron_logs", ".out")) {
    if (file.filename().string().find("meg_gpt2_base_n") == std::string::npos) continue;
    SCOPED_TRACE(file.filename().string());
    const Profile profile = LoadProfile(file, {});
    const Database database = profile.OpenDatabase();
    const double bubble = Ask(database, "SELECT bubble_share FROM training");
    const double waits = Ask(database,
                             "SELECT sum(s) FROM (SELECT avg(t.share) AS s FROM training_timer AS t JOIN "
                             "training_log AS l ON l.attempt = "
                             "t.attempt AND l.iteration = t.iteration WHERE NOT l.warmup AND (t.timer LIKE "
                             "'%recv' OR t.timer LIKE "
                             "'%embedding-all-reduce') GROUP BY t.timer)");
    EXPECT_NEAR(waits, bubble, 0.05);
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no real logs: set DLADVISOR_DATA to their folder";
}

// 40 lines of a healthy training; what is wrong is added by `change`.
template <class Change>
std::set<std::string> Fired(Change change) {
  test::ScratchDir dir;
  std::string text =
      "  global_batch_size ....... 256\n  micro_batch_size ....... 4\n  data_parallel_size ....... 1\n"
      "  pipeline_model_parallel_size ....... 4\n  tensor_model_parallel_size ....... 2\n"
      "  world_size ....... 8\n  log_interval ....... 10\n";
  for (int i = 1; i <= 40; ++i) {
    double elapsed = 1000 + 3 * (i % 5), input = 5;
    int skipped = 0, nan = 0;
    std::string before;
    change(i, elapsed, input, skipped, nan, before);
    text += before + " iteration " + std::to_string(10 * i) +
            "/ 1000 | elapsed time per iteration (ms): " + std::to_string(elapsed) +
            " | global batch size: 256 | lm loss: 2.5E+00 | number of skipped iterations: " +
            std::to_string(skipped) + " | number of nan iterations: " + std::to_string(nan) +
            " |\ntime (ms) | forward-compute: 300.0 | backward-compute: 600.0 | batch-generator: " +
            std::to_string(input) + "\n";
  }
  test::WriteFile(dir.path() / "run.log", text);
  std::set<std::string> fired = test::WriteReport(LoadProfile(dir.path() / "run.log", {})).fired;
  EXPECT_EQ(fired.erase("training-log-only"), 1u);
  return fired;
}

TEST(TrainingLogCorpus, WhatIsWrongIsSaid) {
  using Rules = std::set<std::string>;
  EXPECT_EQ(Fired([](int, double&, double&, int&, int&, std::string&) {}), Rules{});
  EXPECT_EQ(Fired([](int, double& elapsed, double& input, int&, int&, std::string&) {
              elapsed += 100;
              input += 100;
            }),
            (Rules{"log-input-share"}));
  EXPECT_EQ(Fired([](int, double& elapsed, double& input, int&, int&, std::string&) {
              elapsed += 300;
              input += 300;
            }),
            (Rules{"log-input-bound"}));
  EXPECT_EQ(Fired([](int i, double&, double&, int& skipped, int&, std::string&) { skipped = i < 4 ? 5 : 0; }),
            (Rules{"loss-scale-skips"}));
  EXPECT_EQ(Fired([](int i, double&, double&, int&, int& nan, std::string&) { nan = i == 20 ? 1 : 0; }),
            (Rules{"nan-iterations"}));
  EXPECT_EQ(Fired([](int i, double& elapsed, double&, int&, int&, std::string& before) {
              if (i % 10 != 0) return;
              elapsed += 900;
              before = "saving checkpoint at iteration 100 to /data\n";
            }),
            (Rules{"slow-iterations-explained"}));
}

}  // namespace
}  // namespace dladvisor
