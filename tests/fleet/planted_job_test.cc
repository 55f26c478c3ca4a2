// Jobs with a cause of lateness drawn at random: the report must name the rank (of a slow link, the node),
// the steps, where in the step it begins, and the cause; and of a job without one say nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/inference.h"
#include "src/analysis/collective_group.h"
#include "src/analysis/rank.h"
#include "src/analysis/straggler.h"
#include "src/cli/session.h"
#include "tests/fleet/job_digest.h"

namespace dladvisor {
namespace {

using example::Cause;
using example::Job;
using example::JobOptions;
using example::Plant;

constexpr int kSeeds = 100;

const char* RuleOf(Cause cause) {
  switch (cause) {
    case Cause::kLaunches:
      return "slow-host";
    case Cause::kSlowGpu:
      return "slow-gpu";
    case Cause::kSlowLink:
      return "slow-link";
    case Cause::kLargeInput:
      return "input-imbalance";
    case Cause::kNone:
      break;
  }
  return "";
}

JobOptions Options(uint64_t seed) {
  JobOptions options;
  options.nodes = 4;
  options.gpus_per_node = 2;
  options.steps = 16;
  options.kernels = 80;
  options.buckets = 2;
  options.seed = seed;
  return options;
}

Plant Draw(Cause cause, const JobOptions& options, double share, std::mt19937_64& draw) {
  Plant plant;
  plant.cause = cause;
  plant.rank = static_cast<int64_t>(draw() % static_cast<uint64_t>(options.ranks()));
  plant.first_step = static_cast<int>(draw() % 4);
  plant.last_step = options.steps - 1 - static_cast<int>(draw() % 4);
  plant.share = share;
  plant.first_kernel = 8 + static_cast<int>(draw() % 16);
  plant.last_kernel = plant.first_kernel + 30;
  return plant;
}

struct Named {
  std::string rule, ranks;
  std::optional<int64_t> rank, node;
};

// What the rules that name a cause say.
std::vector<Named> NamedCauses(const Digest& digest) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  Digest rest;
  for (const Schema* schema : AllSchemas())
    if (!digest.Find(schema->name)) rest.relations.emplace_back(*schema);
  for (const Table& table : rest.relations) database.Add(table);
  const Advice advice = Infer(knowledge, database);
  std::vector<Named> named;
  for (const Finding& finding : advice.findings) {
    static const std::set<std::string> causes = {"slow-host", "slow-gpu", "slow-link", "input-imbalance",
                                                 "straggling-node"};
    if (finding.outcome != Outcome::kFired || !causes.contains(finding.rule)) continue;
    Named& one = named.emplace_back();
    one.rule = finding.rule;
    for (const NamedValue& key : finding.subject) {
      const auto* number = std::get_if<int64_t>(&key.value);
      if (key.name == "rank" && number) one.rank = *number;
      if (key.name == "node" && number) one.node = *number;
      if (const auto* text = std::get_if<std::string>(&key.value); text && key.name == "ranks")
        one.ranks = *text;
    }
  }
  return named;
}

// Whether one of `named` names the plant.
bool IsNamed(const std::vector<Named>& named, const std::vector<Plant>& plants, size_t which,
             const JobOptions& options) {
  const Plant& plant = plants[which];
  return std::ranges::any_of(named, [&](const Named& one) {
    if (one.rule != RuleOf(plant.cause)) return false;
    if (plant.cause != Cause::kSlowLink) return one.rank == plant.rank;
    const int64_t first = plant.rank / options.gpus_per_node * options.gpus_per_node;
    return one.ranks == std::to_string(first) + ", " + std::to_string(first + 1);
  });
}

int CountNamed(Cause cause, double share) {
  int count = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 draw(static_cast<uint64_t>(seed) * 977 + static_cast<uint64_t>(cause));
    JobOptions options = Options(static_cast<uint64_t>(seed));
    options.plants = {Draw(cause, options, share, draw)};
    const std::vector<Named> named = NamedCauses(test::DigestOfJob(Job(options)));
    // Named, and nothing else with it.
    const bool right = named.size() == 1 && IsNamed(named, options.plants, 0, options);
    count += right;
  }
  return count;
}

class PlantedJob : public testing::TestWithParam<Cause> {};

TEST_P(PlantedJob, IsNamedAtThreeHundredths) {
  const int named = CountNamed(GetParam(), 0.03);
  std::cout << RuleOf(GetParam()) << ": " << named << " of " << kSeeds << " named at 3 % of the step\n";
  EXPECT_GE(named, 95);
}

INSTANTIATE_TEST_SUITE_P(Causes, PlantedJob,
                         testing::Values(Cause::kLaunches, Cause::kSlowGpu, Cause::kSlowLink,
                                         Cause::kLargeInput),
                         [](const auto& of) {
                           std::string name = RuleOf(of.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(PlantedJobs, WithoutACauseNothingIsNamed) {
  int alarms = 0;
  for (int seed = 0; seed < kSeeds; ++seed)
    alarms += !NamedCauses(test::DigestOfJob(Job(Options(static_cast<uint64_t>(seed))))).empty();
  EXPECT_LE(alarms, 1);
}

TEST(PlantedJobs, TwoAtOnceAreBothNamed) {
  constexpr int kRuns = 20;
  int both = 0;
  for (int seed = 0; seed < kRuns; ++seed) {
    std::mt19937_64 draw(static_cast<uint64_t>(seed) + 5000);
    JobOptions options = Options(static_cast<uint64_t>(seed));
    Plant one = Draw(Cause::kLaunches, options, 0.05, draw), two = Draw(Cause::kSlowGpu, options, 0.04, draw);
    two.rank = (one.rank + 3) % options.ranks();
    one.first_step = two.first_step = 0;
    one.last_step = two.last_step = options.steps - 1;
    options.plants = {one, two};
    const std::vector<Named> named = NamedCauses(test::DigestOfJob(Job(options)));
    both += IsNamed(named, options.plants, 0, options) && IsNamed(named, options.plants, 1, options);
  }
  EXPECT_GE(both, 19);
}

// The steps, and the kernel from which the rank falls behind.
TEST(PlantedJobs, StepsAndPositionAreTold) {
  JobOptions options = Options(7);
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

template <class Row>
std::vector<Row> RowsOf(const Digest& digest, const RelationOf<Row>& relation) {
  return relation.ToRows(*digest.Find(relation.schema().name));
}

TEST(PlantedJobs, ClocksOffBySecondsAreAligned) {
  const Digest digest = test::DigestOfJob(Job(Options(3)), {.clock_offset_ns = 2'000'000'000});
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
  JobOptions options = Options(4);
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
  const Digest digest = test::DigestOfJob(Job(Options(5)), {.ranks = {0, 1, 2, 4, 5, 6, 7}, .half = {6}});
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
