// SPDX-License-Identifier: Apache-2.0
// Jobs with a cause of lateness drawn at random: the report must name the rank (of a slow link, the node),
// the steps, where in the step it begins, and the cause; and of a job without one say nothing.
#include "tests/fleet/planted_job.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "src/analysis/communication/collective_group.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/ranks/straggler.h"
#include "tests/fleet/job_digest.h"

namespace dladvisor {
namespace {

using example::Cause;
using example::Job;
using example::JobOptions;
using example::Plant;

constexpr int kSeeds = 40;

class PlantedJob : public testing::TestWithParam<Cause> {};

TEST_P(PlantedJob, IsNamedAtThreeHundredths) {
  const int named = test::CountRight(GetParam(), 0.03, kSeeds);
  std::cout << test::RuleOf(GetParam()) << ": " << named << " of " << kSeeds << " named at 3 % of the step\n";
  EXPECT_GE(named, kSeeds - 2);
}

INSTANTIATE_TEST_SUITE_P(Causes, PlantedJob,
                         testing::Values(Cause::kLaunches, Cause::kSlowGpu, Cause::kSlowLink,
                                         Cause::kLargeInput),
                         [](const auto& of) {
                           std::string name = test::RuleOf(of.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(PlantedJobs, WithoutACauseNothingIsNamed) {
  EXPECT_GE(test::CountRight(Cause::kNone, 0, kSeeds), kSeeds - 1);
}

TEST(PlantedJobs, TwoAtOnceAreBothNamed) {
  constexpr int kRuns = 20;
  int both = 0;
  for (int seed = 0; seed < kRuns; ++seed) {
    std::mt19937_64 draw(static_cast<uint64_t>(seed) + 5000);
    JobOptions options = test::SmallJob(static_cast<uint64_t>(seed));
    Plant one = test::DrawPlant(Cause::kLaunches, options, 0.05, draw),
          two = test::DrawPlant(Cause::kSlowGpu, options, 0.04, draw);
    two.rank = (one.rank + 3) % options.ranks();
    one.first_step = two.first_step = 0;
    one.last_step = two.last_step = options.steps - 1;
    options.plants = {one, two};
    const auto named = test::NamedCauses(test::DigestOfJob(Job(options)));
    both += test::IsNamed(named, one, options) && test::IsNamed(named, two, options);
  }
  EXPECT_GE(both, 19);
}

// The steps, and the kernel from which the rank falls behind.
TEST(PlantedJobs, StepsAndPositionAreTold) {
  JobOptions options = test::SmallJob(7);
  options.kernels = 200;
  options.steps = 24;
  Plant plant;
  plant.cause = Cause::kLaunches;
  plant.rank = 5;
  plant.first_step = 6;
  plant.last_step = 17;
  plant.share = 0.05;
  plant.first_kernel = 40;
  plant.last_kernel = 120;
  options.plants = {plant};
  const Digest digest = test::DigestOfJob(Job(options));
  const std::vector<StragglerRow> rows =
      StragglerRelation().ToRows(*digest.Find(StragglerRelation().schema().name));
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].rank, 5);
  EXPECT_EQ(rows[0].node, 2);
  EXPECT_EQ(rows[0].first_step, options.first_step + 6);
  EXPECT_EQ(rows[0].last_step, options.first_step + 17);
  ASSERT_TRUE(rows[0].first_position);
  EXPECT_NEAR(static_cast<double>(*rows[0].first_position), 40, 8);
  EXPECT_NEAR(static_cast<double>(rows[0].excess_ns), 0.05 * Job(options).step_ns(),
              0.2 * 0.05 * Job(options).step_ns());
  ASSERT_TRUE(rows[0].delay_ns && rows[0].others_delay_ns);
  EXPECT_LT(*rows[0].delay_ns, *rows[0].others_delay_ns / 4);
}

TEST(PlantedJobs, ClocksOffBySecondsAreAligned) {
  const Digest digest = test::DigestOfJob(Job(test::SmallJob(3)), {.clock_offset_ns = 2'000'000'000});
  const std::vector<ClockRow> clocks = RowsOf(digest, ClockRelation());
  ASSERT_EQ(clocks.size(), 8u);
  for (const ClockRow& row : clocks) {
    ASSERT_TRUE(row.uncertainty_ns && row.skew_ns);
    EXPECT_LT(*row.uncertainty_ns, 20'000);
    EXPECT_NEAR(static_cast<double>(row.offset_ns - clocks[0].offset_ns),
                -2e9 * static_cast<double>(row.rank / 2), 20e3);
  }
  for (const CollectiveGroupRow& row : RowsOf(digest, CollectiveGroupRelation()))
    EXPECT_NEAR(row.median_ns, row.collective == "ReduceScatter" ? 250e3 : 400e3, 30e3) << row.ranks;
}

TEST(PlantedJobs, CollectivesAreMatchedByTheirEnds) {
  JobOptions options = test::SmallJob(4);
  options.gpus_per_node = 4;
  const Digest digest = test::DigestOfJob(Job(options));
  std::multiset<std::string> groups;
  for (const CollectiveGroupRow& row : RowsOf(digest, CollectiveGroupRelation()))
    groups.insert(row.collective + " " + row.ranks);
  EXPECT_EQ(groups, (std::multiset<std::string>{"ReduceScatter 0-3", "ReduceScatter 4-7",
                                                "ReduceScatter 8-11", "ReduceScatter 12-15",
                                                "AllReduce 0, 4, 8, 12", "AllReduce 1, 5, 9, 13",
                                                "AllReduce 2, 6, 10, 14", "AllReduce 3, 7, 11, 15"}));
}

TEST(PlantedJobs, AMissingRankAndAHalfOneAreTold) {
  const Digest digest =
      test::DigestOfJob(Job(test::SmallJob(5)), {.ranks = {0, 1, 2, 4, 5, 6, 7}, .half = {6}});
  const std::vector<RankRow> ranks = RowsOf(digest, RankRelation());
  ASSERT_EQ(ranks.size(), 7u);
  for (const RankRow& row : ranks) {
    EXPECT_EQ(row.missing_steps, row.rank == 6 ? 8 : 0) << row.rank;
    EXPECT_EQ(row.peers, 7);
    EXPECT_EQ(row.node, row.rank / 2);
  }
}

}  // namespace
}  // namespace dladvisor
