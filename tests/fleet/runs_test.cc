// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "examples/data-parallel/exports.h"
#include "src/analysis/summary/profile.h"
#include "src/fleet/digest_writer.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;

class Runs : public testing::Test {
 protected:
  // The exports of a job's ranks.
  std::string Job(const std::string& name, uint64_t seed, int gpus = 2) {
    example::JobOptions options;
    options.nodes = 1;
    options.gpus_per_node = gpus;
    options.steps = 6;
    options.kernels = 40;
    options.seed = seed;
    example::WriteJob(example::Job(options), scratch_.path() / name, example::DefaultNsysSchema());
    return (scratch_.path() / name).string();
  }

  std::string DigestOf(const std::string& path, const std::string& name) {
    Alone alone;
    WriteDigest(LoadProfiles({path}, {}, alone).digest, scratch_.path() / name);
    return (scratch_.path() / name).string();
  }

  // "name: number of profiles" of each run.
  std::vector<std::string> Load(const std::vector<std::string>& arguments,
                                const AnalysisOptions& options = {}) {
    std::vector<std::string> runs;
    unreadable_ = LoadRuns(arguments, options, [&](const std::string& name, Profile profile) {
      runs.push_back(fs::path(name).filename().string() + ": " +
                     std::to_string(profile.digest.Find("profile")->rows()));
    });
    return runs;
  }

  test::ScratchDir scratch_;
  std::vector<std::string> unreadable_;
};

TEST_F(Runs, AFolderHoldsTheRanksOfOneRun) {
  EXPECT_THAT(Load({Job("a", 1), Job("b", 2)}), ElementsAre("a: 2", "b: 2"));
}

TEST_F(Runs, FilesAreRunsOfTheirOwn) {
  const std::string job = Job("a", 1, 1), other = Job("b", 2, 1);
  EXPECT_THAT(Load({job + "/job_0_0.sqlite", other + "/job_0_0.sqlite"}),
              ElementsAre("job_0_0.sqlite: 1", "job_0_0.sqlite: 1"));
}

TEST_F(Runs, FilesThatTellDifferentRanksOfAJobAreOne) {
  const std::string job =
      Job("a", 1);  // the names of their steps contain the rank, and nothing gives the size of the job
  const auto runs = Load({job + "/job_0_0.sqlite", job + "/job_0_1.sqlite"});
  EXPECT_THAT(runs, ElementsAre("job_0_0.sqlite: 2"));
}

TEST_F(Runs, AFolderOfDigestsOfOneRankHoldsRepeats) {
  fs::create_directories(scratch_.path() / "base");
  DigestOf(Job("a", 1, 1), "base/run-1.digest");
  DigestOf(Job("b", 2, 1), "base/run-2.digest");
  EXPECT_THAT(Load({(scratch_.path() / "base").string()}), ElementsAre("run-1.digest: 1", "run-2.digest: 1"));
}

TEST_F(Runs, AFolderOfDigestsOfWholeJobsHoldsRepeats) {
  fs::create_directories(scratch_.path() / "base");
  DigestOf(Job("a", 1), "base/run-1.digest");
  DigestOf(Job("b", 2), "base/run-2.digest");
  EXPECT_THAT(Load({(scratch_.path() / "base").string()}), ElementsAre("run-1.digest: 2", "run-2.digest: 2"));
}

TEST_F(Runs, TheChoiceOfStepsIsNotForDigests) {
  AnalysisOptions options;
  options.steps = {0, 3000};
  EXPECT_THAT(Load({DigestOf(Job("a", 1, 1), "a.digest"), Job("b", 2)}, options),
              ElementsAre("a.digest: 1", "b: 2"));
}

TEST_F(Runs, WhatCannotBeReadIsSaid) {
  const std::string broken = (scratch_.path() / "broken.sqlite").string();
  test::WriteFile(broken, "SQLite format 3");
  EXPECT_THAT(Load({Job("a", 1) + "/job_0_0.sqlite", broken}), ElementsAre("job_0_0.sqlite: 1"));
  EXPECT_THAT(unreadable_, ElementsAre(testing::HasSubstr("broken.sqlite")));
  EXPECT_THROW(Load({broken}), Error);
  EXPECT_THROW(Load({broken, broken}), Error);
  EXPECT_THROW(Load({(scratch_.path() / "nowhere").string()}), Error);
}

// Bytes that this process has read from files.
uint64_t BytesRead() {
  std::ifstream in("/proc/self/io");
  std::string key;
  uint64_t bytes = 0;
  in >> key >> bytes;
  return key == "rchar:" ? bytes : 0;
}

TEST_F(Runs, EveryFileIsReadOnce) {
  if (BytesRead() == 0) GTEST_SKIP() << "/proc/self/io does not say what was read";
  const fs::path job = Job("job", 1), repeats = scratch_.path() / "repeats";
  fs::create_directories(repeats);
  std::vector<std::string> files;
  for (const char* name : {"a.sqlite", "b.sqlite", "c.sqlite"}) {
    fs::copy_file(job / "job_0_0.sqlite", repeats / name);
    files.push_back((repeats / name).string());
  }
  const auto bytes_of = [](const auto& load) {
    const uint64_t before = BytesRead();
    load();
    return static_cast<double>(BytesRead() - before);
  };
  const double once = bytes_of([&] { LoadProfile(files[0], {}); });
  EXPECT_LT(bytes_of([&] { EXPECT_THAT(Load(files), testing::SizeIs(3)); }), 4.5 * once);
  EXPECT_LT(bytes_of([&] { EXPECT_THAT(Load({repeats.string()}), testing::SizeIs(3)); }), 4.5 * once);
  EXPECT_LT(bytes_of([&] { EXPECT_THAT(Load({job.string()}), testing::SizeIs(1)); }), 3.5 * once);
}

TEST_F(Runs, AFolderOfRunsHoldsOneInEachOfItsFolders) {
  Job("all/a", 1);
  Job("all/b", 2);
  EXPECT_THAT(Load({(scratch_.path() / "all").string()}), ElementsAre("a: 2", "b: 2"));
}

TEST_F(Runs, AFolderMayHoldRepeatsBesideAFolderOfOthers) {
  const fs::path job = Job("job", 1), all = scratch_.path() / "all";
  fs::create_directories(all / "sub");
  for (const char* name : {"a.sqlite", "sub/b.sqlite"}) fs::copy_file(job / "job_0_0.sqlite", all / name);
  EXPECT_THAT(Load({all.string()}), ElementsAre("a.sqlite: 1", "b.sqlite: 1"));
}

TEST_F(Runs, AFileIsOneRunHoweverOftenItIsNamed) {
  const fs::path job = Job("job", 1, 1), file = job / "job_0_0.sqlite",
                 link = scratch_.path() / "latest.sqlite";
  fs::create_symlink(file, link);
  EXPECT_THAT(Load({file.string(), (job / "." / "job_0_0.sqlite").string(), link.string()}),
              ElementsAre("job_0_0.sqlite: 1"));
  const std::string other = Job("other", 2, 1);
  EXPECT_THAT(Load({link.string(), other, file.string(), other}),
              ElementsAre("latest.sqlite: 1", "job_0_0.sqlite: 1"));
}

TEST_F(Runs, ACopyAmongManyRanksIsLeftOut) {
  const fs::path job = Job("a", 1, 4);
  fs::copy_file(job / "job_0_1.sqlite", job / "copy.sqlite");
  EXPECT_THAT(Load({job.string()}), ElementsAre("a: 5"));
}

}  // namespace
}  // namespace dladvisor
