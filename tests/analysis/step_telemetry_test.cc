// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/step_telemetry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kHour = 3600 * kSecond, kOrigin = 1'800'000'000 * kSecond;

// Ranks with a GPU each, traced from kOrigin on in ten steps of a second, and logs.
struct Fleet {
  std::vector<ProfileRow> profiles;
  std::vector<RankIdentity> ranks;
  std::vector<std::pair<int64_t, int64_t>> gpus;
  std::vector<StepRow> steps;
  std::vector<TelemetrySeriesRow> samples;

  void AddRank(int64_t device, std::optional<int64_t> node = {}, const std::string& path = "run/t.json",
               std::optional<int64_t> local_rank = {}) {
    const auto rank = static_cast<int64_t>(ranks.size());
    ProfileRow& profile = profiles.emplace_back();
    profile.profile = static_cast<int64_t>(profiles.size()) - 1;
    profile.path = path;
    profile.clock_origin_utc_ns = kOrigin;
    RankIdentity& identity = ranks.emplace_back();
    identity.rank = rank;
    identity.profile = profile.profile;
    identity.node = node;
    identity.local_rank = local_rank;
    gpus.emplace_back(rank, device);
    for (int64_t s = 0; s < 10; ++s) {
      StepRow& step = steps.emplace_back();
      step.rank = rank;
      step.step = s;
      step.start_ns = s * kSecond;
      step.end_ns = (s + 1) * kSecond;
    }
  }
  // A sample a second, whose clock is its number in MHz, plus 1000 times the device.
  ProfileRow& AddLog(int64_t devices, int64_t seconds, const std::string& path = "run/smi.csv") {
    ProfileRow& profile = profiles.emplace_back();
    profile.profile = static_cast<int64_t>(profiles.size()) - 1;
    profile.path = path;
    for (int64_t s = 0; s < seconds; ++s)
      for (int64_t device = 0; device < devices; ++device) {
        TelemetrySeriesRow& row = samples.emplace_back();
        row.profile = profile.profile;
        row.sample = s * devices + device;
        row.device = device;
        row.start_ns = s * kSecond;
        row.sm_clock_hz = 1e6 * static_cast<double>(s + 1000 * device);
      }
    return profile;
  }
  StepTelemetry Join() const { return JoinTelemetry(profiles, ranks, gpus, steps, samples); }
};

TEST(StepTelemetry, MeansOverTheTimeThatSamplesHold) {
  Fleet fleet;
  fleet.AddRank(0);
  fleet.AddLog(1, 20).clock_origin_utc_ns = kOrigin - 5 * kSecond / 4;
  const StepTelemetry joined = fleet.Join();
  ASSERT_EQ(joined.clocks.size(), 1u);
  EXPECT_EQ(joined.clocks[0].zone_source, "log");
  EXPECT_EQ(joined.clocks[0].covered_steps, 10);
  ASSERT_EQ(joined.steps.size(), 10u);
  // The first step begins a quarter into sample 1.
  EXPECT_EQ(joined.steps[0].samples, 2);
  EXPECT_EQ(joined.steps[0].first_sample, 1);
  EXPECT_DOUBLE_EQ(joined.steps[0].sm_clock_hz.value(), 1e6 * (0.75 * 1 + 0.25 * 2));
  EXPECT_FALSE(joined.steps[0].power_w.has_value());
}

TEST(StepTelemetry, StepsOutsideOfTheLogAreLeftOut) {
  Fleet fleet;
  fleet.AddRank(0);
  fleet.AddLog(1, 4).clock_origin_utc_ns = kOrigin;
  const StepTelemetry joined = fleet.Join();
  EXPECT_EQ(joined.clocks[0].covered_steps, 4);
  EXPECT_EQ(joined.steps.size(), 4u);
}

TEST(StepTelemetry, TheZoneIsTheOneInWhichTheLogCoversTheSteps) {
  Fleet fleet;
  fleet.AddRank(0);
  fleet.AddLog(1, 20).clock_origin_local_ns = kOrigin - 2 * kSecond + 11 * kHour / 2;
  const StepTelemetry joined = fleet.Join();
  EXPECT_EQ(joined.clocks[0].zone_ns, 11 * kHour / 2);
  EXPECT_EQ(joined.clocks[0].zone_source, "steps");
  EXPECT_EQ(joined.clocks[0].zones, 1);
  EXPECT_EQ(joined.steps.size(), 10u);
}

TEST(StepTelemetry, AmongZonesThatFitUtcIsPreferredElseNoneTaken) {
  Fleet fleet;
  fleet.AddRank(0);
  fleet.AddLog(1, 3 * 3600).clock_origin_local_ns = kOrigin - kHour;
  StepTelemetry joined = fleet.Join();
  EXPECT_EQ(joined.clocks[0].zone_ns, 0);
  EXPECT_EQ(joined.clocks[0].zone_source, "assumed");
  EXPECT_EQ(joined.clocks[0].zones, 12);

  fleet.profiles.back().clock_origin_local_ns = kOrigin + 7 * kHour;
  joined = fleet.Join();
  EXPECT_FALSE(joined.clocks[0].origin_utc_ns.has_value());
  EXPECT_EQ(joined.clocks[0].not_joined, "its time zone is not recorded, and several fit the steps");
  EXPECT_TRUE(joined.steps.empty());
}

TEST(StepTelemetry, ALogOfAnotherDayIsNotJoined) {
  Fleet fleet;
  fleet.AddRank(0);
  fleet.AddLog(1, 20).clock_origin_local_ns = kOrigin + 72 * kHour;
  EXPECT_EQ(fleet.Join().clocks[0].not_joined, "it covers none of the steps, whatever its time zone");
  fleet.profiles[0].clock_origin_utc_ns.reset();
  EXPECT_EQ(fleet.Join().clocks[0].not_joined, "no trace records the UTC of its steps");
}

TEST(StepTelemetry, GpusByIndexOrByLocalRankWhereAllAreDevice0) {
  Fleet by_index;
  by_index.AddRank(0);
  by_index.AddRank(1);
  by_index.AddLog(2, 20).clock_origin_utc_ns = kOrigin;
  EXPECT_DOUBLE_EQ(by_index.Join().steps.at(10).sm_clock_hz.value(), 1000e6);
  Fleet by_local_rank;
  by_local_rank.AddRank(0, 0, "run/a.json", 0);
  by_local_rank.AddRank(0, 0, "run/b.json", 1);
  by_local_rank.AddLog(2, 20).clock_origin_utc_ns = kOrigin;
  EXPECT_DOUBLE_EQ(by_local_rank.Join().steps.at(10).sm_clock_hz.value(), 1000e6);
}

TEST(StepTelemetry, OfSeveralNodesTheOneThatItsNameOrFolderTells) {
  Fleet fleet;
  fleet.AddRank(0, 0, "run/a/t.json");
  fleet.AddRank(0, 1, "run/b/t.json");
  ProfileRow& log = fleet.AddLog(1, 20);
  log.clock_origin_utc_ns = kOrigin;
  const size_t at = fleet.profiles.size() - 1;
  EXPECT_EQ(fleet.Join().clocks[0].not_joined, "its node is not known");
  fleet.profiles[at].recorded_node = 1;
  EXPECT_EQ(fleet.Join().steps.at(0).rank, 1);
  fleet.profiles[at].recorded_node.reset();
  fleet.profiles[at].path = "run/a/smi.csv";
  EXPECT_EQ(fleet.Join().steps.at(0).rank, 0);
  fleet.ranks[1].host = "n17";
  fleet.profiles[at].path = "logs/smi-n17.csv";
  EXPECT_EQ(fleet.Join().steps.at(0).rank, 1);
  fleet.profiles[at].path = "logs/smi-n170.csv";
  EXPECT_EQ(fleet.Join().clocks[0].not_joined, "its node is not known");
}

}  // namespace
}  // namespace dladvisor
