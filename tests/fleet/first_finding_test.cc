// SPDX-License-Identifier: Apache-2.0
// What comes first in the report of a job with one cause of lateness, from two ranks to sixteen and from a
// few hundredths of the step to a third: the cause at its size, not the waiting that it makes on all other
// ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "src/analysis/ranks/pacing_gpu.h"
#include "tests/fleet/job_digest.h"
#include "tests/fleet/planted_job.h"

namespace dladvisor {
namespace {

using example::Cause;
using example::Job;
using example::JobOptions;
using example::Plant;

JobOptions JobOf(int64_t ranks) {
  JobOptions options = test::SmallJob(static_cast<uint64_t>(ranks));
  options.nodes = static_cast<int>(ranks / options.gpus_per_node);
  options.kernels = 300;  // transfers are then a small part of the step
  options.steps = 12;
  return options;
}

class FirstFinding : public testing::TestWithParam<std::tuple<Cause, int64_t, double>> {};

TEST_P(FirstFinding, IsThePlantedCauseAtItsSize) {
  const auto& [cause, ranks, share] = GetParam();
  if (cause == Cause::kSlowLink && ranks == 2) GTEST_SKIP() << "no other group to compare with";
  if (cause == Cause::kSlowLink && share < 0.05) GTEST_SKIP() << "the other exposed transfer costs more";
  JobOptions options = JobOf(ranks);
  Plant plant;
  plant.cause = cause;
  plant.rank = ranks / 2;
  plant.last_step = options.steps - 1;
  plant.share = share;
  plant.first_kernel = 33;
  plant.last_kernel = 166;
  options.plants = {plant};
  const Job job(options);
  const Digest digest = test::DigestOfJob(job);
  const Advice advice = test::AdviceOn(digest);
  const std::vector<size_t> roots = advice.Roots();
  ASSERT_FALSE(roots.empty());
  const Finding& first = advice.findings[roots[0]];
  EXPECT_EQ(first.rule, test::RuleOf(cause));
  ASSERT_TRUE(first.saves && first.saves->high_ns) << first.rule;
  const double planted = share * job.step_ns();
  EXPECT_NEAR(*first.saves->high_ns, planted, 0.25 * planted + 50e3);
  if (cause == Cause::kSlowLink) return;
  const std::vector<PacingGpuRow> pace = RowsOf(digest, PacingGpuRelation());
  ASSERT_EQ(pace.size(), 1u);
  EXPECT_EQ(pace[0].rank, plant.rank);
}

INSTANTIATE_TEST_SUITE_P(Jobs, FirstFinding,
                         testing::Combine(testing::Values(Cause::kLaunches, Cause::kSlowGpu, Cause::kSlowLink,
                                                          Cause::kLargeInput),
                                          testing::Values(2, 4, 8, 16), testing::Values(0.03, 0.1, 0.3)),
                         [](const auto& of) {
                           std::string name = test::RuleOf(std::get<0>(of.param));
                           std::erase(name, '-');
                           return name + "_" + std::to_string(std::get<1>(of.param)) + "ranks_" +
                                  std::to_string(std::lround(std::get<2>(of.param) * 100)) + "hundredths";
                         });

TEST(FirstFindings, OfAJobWithoutACauseSpeakOfNoRank) {
  for (const int64_t ranks : {2, 4, 8, 16}) {
    const Digest digest = test::DigestOfJob(Job(JobOf(ranks)));
    static const std::set<std::string> of_ranks = {"slow-host",
                                                   "slow-gpu",
                                                   "slow-link",
                                                   "input-imbalance",
                                                   "straggling-node",
                                                   "straggling-rank",
                                                   "rank-imbalance",
                                                   "uneven-work",
                                                   "waiting-for-ranks",
                                                   "exposed-communication",
                                                   "communication-not-overlapped",
                                                   "collective-time-varies"};
    for (const Finding& finding : test::AdviceOn(digest).findings)
      EXPECT_FALSE(finding.outcome == Outcome::kFired && of_ranks.contains(finding.rule))
          << ranks << " ranks: " << finding.problem.text;
    const std::vector<PacingGpuRow> pace = RowsOf(digest, PacingGpuRelation());
    ASSERT_EQ(pace.size(), 1u);
    EXPECT_EQ(pace[0].reason, "first of equals");
    EXPECT_EQ(pace[0].rank, 0);
  }
}

TEST(PacingGpu, IsTheOneWithMostTimeOfItsOwn) {
  const auto row = [](int64_t rank, const char* bucket, double ns) {
    TimeLedgerRow of;
    of.rank = rank;
    of.bucket = bucket;
    of.ns = std::llround(ns * 10);
    of.ns_per_step = ns;
    return of;
  };
  // Steps of rank 0 are longer by a nanosecond, but it only waits for rank 1.
  const std::vector<TimeLedgerRow> ledger = {
      row(0, "compute/other", 60e6), row(0, "communication/exposed", 40e6 + 1), row(1, "compute/other", 60e6),
      row(1, "idle/launch", 30e6), row(1, "communication/exposed", 10e6)};
  const std::vector<PacingGpuRow> pace = FindPacingGpu(ledger, {});
  ASSERT_EQ(pace.size(), 1u);
  EXPECT_EQ(pace[0].rank, 1);
  EXPECT_EQ(pace[0].reason, "own time");
  EXPECT_DOUBLE_EQ(pace[0].own_ns, 90e6);
  EXPECT_TRUE(FindPacingGpu({}, {}).empty());
}

TEST(PacingGpu, OfEqualOnesIsTheOneThatLosesLeast) {
  const auto row = [](int64_t device, const char* bucket, int64_t ns) {
    TimeLedgerRow of;
    of.device = device;
    of.bucket = bucket;
    of.ns = ns;
    return of;
  };
  // One process, whose second GPU does the work.
  const std::vector<TimeLedgerRow> ledger = {row(0, "compute/other", 100), row(0, "idle/launch", 900),
                                             row(1, "compute/other", 800), row(1, "idle/launch", 200)};
  EXPECT_EQ(FindPacingGpu(ledger, {}).at(0).device, 1);
}

}  // namespace
}  // namespace dladvisor
