// SPDX-License-Identifier: Apache-2.0
// Many files at once: formats mixed, damaged ones reported, and what does not depend on how they are given.
#include "src/fleet/load_profiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
#include "examples/data-parallel/exports.h"
#include "src/analysis/communication/collective_group.h"
#include "src/analysis/ranks/pacing_gpu.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/ranks/straggler.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/timeline/typical_step.h"
#include "src/fleet/digest_writer.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

template <class Row>
std::vector<Row> RowsOf(const Profile& profile, const RelationOf<Row>& relation) {
  return relation.ToRows(*profile.digest.Find(relation.schema().name));
}

class Profiles : public testing::Test {
 protected:
  static constexpr int kNodes = 9, kGpus = 2;  // more than all details are kept of

  static void SetUpTestSuite() {
    dir_ = new test::ScratchDir;
    example::JobOptions options;
    options.nodes = kNodes;
    options.gpus_per_node = kGpus;
    options.steps = 8;
    options.kernels = 60;
    example::Plant plant;
    plant.cause = example::Cause::kSlowGpu;
    plant.rank = 11;
    plant.last_step = options.steps - 1;
    plant.share = 0.1;
    options.plants = {plant};
    example::WriteJob(example::Job(options), Runs(), example::DefaultNsysSchema());
  }
  static void TearDownTestSuite() { delete dir_; }

  static fs::path Runs() { return dir_->path() / "runs"; }
  static Profile Load(const std::vector<std::string>& arguments) {
    Alone alone;
    return LoadProfiles(arguments, {}, alone);
  }

  static test::ScratchDir* dir_;
};

test::ScratchDir* Profiles::dir_ = nullptr;

// On the rank that sets the pace and on a typical one, also where that step is neither's longest.
void ExpectPicturesOfTheWorstStep(const Profile& profile) {
  const std::vector<JitterRow> jitter = RowsOf(profile, JitterRelation());
  const std::vector<PacingGpuRow> pacing = RowsOf(profile, PacingGpuRelation());
  ASSERT_FALSE(jitter.empty());
  ASSERT_FALSE(pacing.empty());
  std::set<int64_t> drawn;
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> keys;
  for (const TypicalStepRow& row : RowsOf(profile, TypicalStepRelation())) {
    if (row.step == jitter[0].worst_step) drawn.insert(row.rank);
    EXPECT_TRUE(keys.insert({row.rank, row.device, row.lane, row.start_ns}).second) << "drawn twice";
  }
  EXPECT_TRUE(drawn.contains(pacing[0].rank));
  EXPECT_TRUE(drawn.contains(jitter[0].typical_rank));
}

TEST_F(Profiles, KeepPicturesOfTheWorstStepOfManyRanks) {
  ExpectPicturesOfTheWorstStep(Load({Runs().string()}));
}

TEST_F(Profiles, KeepPicturesOfTheWorstStepOfFewRanks) {
  std::vector<std::string> files;
  for (const fs::directory_entry& file : fs::directory_iterator(Runs()))
    files.push_back(file.path().string());
  std::ranges::sort(files);
  for (const size_t first : {0u, 6u, 10u})
    ExpectPicturesOfTheWorstStep(Load({files.begin() + first, files.begin() + first + 6}));
}

TEST_F(Profiles, AFolderIsAJob) {
  const Profile profile = Load({Runs().string()});
  EXPECT_EQ(profile.files.size(), size_t{kNodes * kGpus});
  const std::vector<RankRow> ranks = RowsOf(profile, RankRelation());
  ASSERT_EQ(ranks.size(), size_t{kNodes * kGpus});
  for (size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i].rank, static_cast<int64_t>(i));
    EXPECT_EQ(ranks[i].node, static_cast<int64_t>(i) / kGpus);
    EXPECT_EQ(ranks[i].rank_source, "range");
  }
  const std::vector<StragglerRow> stragglers = RowsOf(profile, StragglerRelation());
  ASSERT_FALSE(stragglers.empty());
  EXPECT_EQ(stragglers[0].rank, 11);
  EXPECT_GT(stragglers[0].kernel_share.value_or(0), 0.8);
  // Ops of the straggler are there, those of most others are not.
  const Table& ops = *profile.digest.Find("kernel_name");
  std::set<int64_t> with_details;
  for (size_t i = 0; i < ops.rows(); ++i) with_details.insert(ops.At(i, 0).integer);
  EXPECT_TRUE(with_details.contains(11));
  EXPECT_LT(with_details.size(), 6u);
}

TEST_F(Profiles, DigestsOfRanksGiveTheSameAsTheirProfiles) {
  const fs::path digests = dir_->path() / "digests";
  fs::create_directories(digests);
  for (const auto& entry : fs::directory_iterator(Runs()))
    WriteDigest(LoadProfile(entry.path(), {}).digest, digests / (entry.path().stem().string() + ".digest"));
  Profile direct = Load({Runs().string()}), from_digests = Load({digests.string()});
  // A rank alone does not know which step is the worst of all.
  for (Profile* profile : {&direct, &from_digests})
    std::erase_if(profile->digest.relations, [](const Table& table) {
      return table.schema().name == TypicalStepRelation().schema().name;
    });
  EXPECT_TRUE(SerializeDigest(direct.digest) == SerializeDigest(from_digests.digest));
}

TEST_F(Profiles, WhatADigestOfAnotherVersionLacksIsUnknown) {
  Digest digest = LoadProfile(Runs() / "job_0_0.sqlite", {}).digest;
  for (Table& table : digest.relations) {
    if (table.schema().name != "gpu") continue;
    Schema before = table.schema();
    std::erase_if(before.columns, [](const Column& column) { return column.name == "kernel_ns"; });
    table = WithSchema(table, before);
  }
  const fs::path path = dir_->path() / "before.digest";
  WriteDigest(digest, path);
  const Profile profile = LoadProfile(path, {});
  const ResultSet gpus = profile.OpenDatabase().Query("SELECT device, kernel_ns FROM gpu");
  ASSERT_EQ(gpus.rows.size(), 1u);
  EXPECT_EQ(gpus.rows[0][0], Value(int64_t{0}));
  EXPECT_EQ(gpus.rows[0][1], Value());
}

TEST_F(Profiles, OfTwoOfOneRankTheSecondIsLeftOut) {
  const fs::path folder = dir_->path() / "twice";
  fs::create_directories(folder);
  fs::copy_file(Runs() / "job_0_0.sqlite", folder / "a.sqlite");
  fs::copy_file(Runs() / "job_0_1.sqlite", folder / "b.sqlite");
  fs::copy_file(Runs() / "job_0_1.sqlite", folder / "c.sqlite");
  const Profile profile = Load({folder.string()});
  EXPECT_EQ(RowsOf(profile, RankRelation()).size(), 2u);
  const std::vector<ProfileRow> files = RowsOf(profile, ProfileRelation());
  ASSERT_EQ(files.size(), 3u);
  EXPECT_FALSE(files[1].duplicate_of);
  EXPECT_EQ(files[2].duplicate_of, 1);
}

TEST_F(Profiles, WhatCannotBeReadIsToldAndWhatIsNoProfilePassedOver) {
  const fs::path folder = dir_->path() / "mixed";
  fs::create_directories(folder);
  fs::copy_file(Runs() / "job_0_0.sqlite", folder / "job_0_0.sqlite");
  test::WriteFile(folder / "job_0_1.sqlite", test::ReadFile(Runs() / "job_0_1.sqlite").substr(0, 5000));
  test::WriteFile(folder / "config.json", "{\"lr\": 0.1}");
  test::WriteFile(folder / "notes.txt", "nothing");
  test::WriteFile(folder / "gpu.csv",
                  "timestamp, index, utilization.gpu [%], power.draw [W]\n"
                  "2026/11/21 10:00:00.000, 0, 90 %, 300.00 W\n2026/11/21 10:00:01.000, 0, 80 %, 290.00 W\n");
  const Profile profile = Load({folder.string()});
  EXPECT_EQ(profile.files.size(), 2u);
  ASSERT_EQ(profile.unreadable.size(), 1u);
  EXPECT_NE(profile.unreadable[0].find("job_0_1.sqlite"), std::string::npos);
  EXPECT_THROW(Load({(folder / "config.json").string(), (folder / "notes.txt").string()}), Error);
}

TEST_F(Profiles, AFleetsDigestStandsAlone) {
  const fs::path path = dir_->path() / "fleet.digest";
  const Profile fleet = Load({Runs().string()});
  WriteDigest(fleet.digest, path);
  const Profile read = Load({path.string()});
  EXPECT_EQ(RowsOf(read, RankRelation()).size(), size_t{kNodes * kGpus});
  EXPECT_EQ(RowsOf(read, CollectiveGroupRelation()).size(), RowsOf(fleet, CollectiveGroupRelation()).size());
  // With others it cannot be put together.
  const Profile with_another = Load({path.string(), (Runs() / "job_0_0.sqlite").string()});
  EXPECT_EQ(with_another.files.size(), 1u);
  ASSERT_EQ(with_another.unreadable.size(), 1u);
  EXPECT_NE(with_another.unreadable[0].find("digest of several profiles"), std::string::npos);
}

}  // namespace
}  // namespace dladvisor
