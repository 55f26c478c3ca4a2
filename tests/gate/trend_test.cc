// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/gate/simulated_runs.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kSetting = "8 x H200", kMetric = "step.time";

std::vector<HistoryRun> RunsOf(const std::vector<double>& values) {
  std::vector<HistoryRun> runs;
  for (const double value : values) {
    HistoryRun& run = runs.emplace_back();
    run.id = static_cast<int64_t>(runs.size());
    run.label = "c" + std::to_string(run.id);
    run.setting = kSetting;
    run.values[kMetric] = {"Step time", Unit::kNanoseconds, value};
  }
  return runs;
}

Trend TrendOfValues(const std::vector<double>& values, const ComparisonOptions& options = {}) {
  return TrendOf(RunsOf(values), kSetting, kMetric, options);
}

// Values at `levels`, each times 1 + sd * noise.
using Noise = std::function<double(std::mt19937_64&)>;
double Normal(std::mt19937_64& random) { return std::normal_distribution<double>()(random); }
double HeavyTailed(std::mt19937_64& random) { return std::student_t_distribution<double>(2)(random); }

std::vector<double> Noisy(std::vector<double> levels, double sd, uint64_t seed, const Noise& noise = Normal) {
  std::mt19937_64 random(seed);
  for (double& level : levels) level *= std::max(0.05, 1 + sd * noise(random));
  return levels;
}

std::vector<double> SeriesOf(std::initializer_list<std::pair<size_t, double>> levels) {
  std::vector<double> values;
  for (const auto& [runs, level] : levels) values.insert(values.end(), runs, level);
  return values;
}

std::vector<double> Ramp(size_t flat, size_t rising, double per_run) {
  std::vector<double> values(flat, 100);
  for (size_t i = 1; i <= rising; ++i) values.push_back(100 * (1 + per_run * static_cast<double>(i)));
  return values;
}

TEST(LearnNoise, NeedsEightRunsOfTheSetting) {
  auto runs = RunsOf(Noisy(SeriesOf({{8, 100}}), 0.03, 1));
  EXPECT_TRUE(LearnNoise(runs, kSetting, kMetric));
  EXPECT_FALSE(LearnNoise(runs, kSetting, "other"));
  EXPECT_FALSE(LearnNoise(runs, "other", kMetric));
  runs[3].setting = "8 x A100";
  EXPECT_FALSE(LearnNoise(runs, kSetting, kMetric));
  EXPECT_FALSE(LearnNoise({}, kSetting, kMetric));
}

TEST(LearnNoise, IsThatAroundTheLevels) {
  for (const double sd : {0.003, 0.03, 0.1}) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const auto noise =
          LearnNoise(RunsOf(Noisy(SeriesOf({{20, 100}, {20, 200}}), sd, seed)), kSetting, kMetric);
      ASSERT_TRUE(noise);
      EXPECT_EQ(noise->source, RunNoise::Source::kHistory);
      EXPECT_EQ(noise->runs, 40U);
      EXPECT_LE(noise->degrees, 38);
      EXPECT_GE(noise->degrees, 36);
      sum += noise->relative_sd;
    }
    EXPECT_NEAR(sum / 50 / sd, 1, 0.05) << sd;
  }
}

TEST(LearnNoise, OneOutlierNeitherBlowsItUpNorHidesIt) {
  auto values = Noisy(SeriesOf({{20, 100}}), 0.01, 3);
  const double without = LearnNoise(RunsOf(values), kSetting, kMetric)->relative_sd;
  values[7] = 400;
  const double with = LearnNoise(RunsOf(values), kSetting, kMetric)->relative_sd;
  EXPECT_GT(with, without);
  EXPECT_LT(with, 2 * without);
  values[15] = 150;  // what happens twice in 20 runs is the machine's way
  EXPECT_GT(LearnNoise(RunsOf(values), kSetting, kMetric)->relative_sd, 0.1);
}

TEST(LearnNoise, HeavyTailsCount) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 100; ++seed)
    sum += LearnNoise(RunsOf(Noisy(SeriesOf({{50, 100}}), 0.01, seed, HeavyTailed)), kSetting, kMetric)
               ->relative_sd;
  EXPECT_GT(sum / 100, 0.015);
  EXPECT_LT(sum / 100, 0.03);
}

TEST(LearnNoise, OfConstantAndZeroSeries) {
  EXPECT_EQ(LearnNoise(RunsOf(SeriesOf({{10, 5}})), kSetting, kMetric)->relative_sd, 0);
  EXPECT_FALSE(LearnNoise(RunsOf(SeriesOf({{10, 0}})), kSetting, kMetric));
}

TEST(Trend, FindsASlowCreep) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Trend trend = TrendOfValues(Noisy(Ramp(11, 20, 0.005), 0.003, seed));
    EXPECT_EQ(trend.verdict, Verdict::kRegressed) << trend.why;
    EXPECT_EQ(trend.points.size(), 31U);
    EXPECT_GE(trend.changes.size(), 2U);
    EXPECT_EQ(TrendOfValues(Noisy(Ramp(0, 20, 0.005), 0.003, seed)).verdict, Verdict::kRegressed);
    // Outliers may hide it, but not that it seems so.
    EXPECT_NE(TrendOfValues(Noisy(Ramp(5, 20, 0.005), 0.003, seed, HeavyTailed)).verdict, Verdict::kPass);
  }
  const Trend trend = TrendOfValues(SeriesOf({{11, 100}, {6, 102.5}, {6, 105}, {8, 108.4}}));
  EXPECT_EQ(trend.why,
            "Since run 12 of 31 (c12) the step time rose by 8.4 % in 3 steps, the largest of 3.2 %.");
  EXPECT_EQ(
      TrendOfValues(SeriesOf({{11, 100}, {6, 103}, {6, 105.5}, {8, 108.4}})).why,
      "Since run 12 of 31 (c12) the step time rose by 8.4 % in 3 steps, none of which was more than 3 %.");
}

TEST(Trend, RaisesNoAlarmForNoise) {
  size_t alarms = 0;
  for (const double sd : {0.003, 0.01, 0.03, 0.1})
    for (const auto& noise : {Normal, HeavyTailed})
      for (uint64_t seed = 0; seed < 50; ++seed)
        alarms += TrendOfValues(Noisy(SeriesOf({{50, 100}}), sd, seed, noise)).verdict == Verdict::kRegressed;
  EXPECT_LE(alarms, 4U);  // of 400
}

// A machine that is slow for some runs is not a program that became slower.
TEST(Trend, RaisesNoAlarmForRunsThatDependOnTheOnesBefore) {
  size_t alarms = 0, seeming = 0;
  std::mt19937_64 random(11);
  for (const double correlation : {0.5, 0.8, 0.9})
    for (int i = 0; i < 60; ++i) {
      std::vector<double> values = test::CorrelatedRuns(i % 2 == 0 ? 20 : 50, correlation, 0.03, random);
      const Verdict verdict = TrendOfValues(values).verdict;
      alarms += verdict == Verdict::kRegressed;
      seeming += verdict == Verdict::kInconclusive;
    }
  EXPECT_LE(alarms, 2U);  // of 180
  EXPECT_GT(seeming, 40U);
}

TEST(Trend, ASpikeIsNone) {
  for (const size_t at : {0U, 9U, 18U, 19U}) {
    auto values = Noisy(SeriesOf({{20, 100}}), 0.01, at);
    values[at] = 200;
    EXPECT_EQ(TrendOfValues(values).verdict, Verdict::kPass) << at;
  }
}

TEST(Trend, ARecoveredRegressionIsNone) {
  const Trend trend = TrendOfValues(Noisy(SeriesOf({{15, 100}, {10, 120}, {8, 100.5}}), 0.01, 4));
  EXPECT_EQ(trend.verdict, Verdict::kPass);
  EXPECT_EQ(trend.changes.size(), 2U);
  EXPECT_EQ(trend.why, "The step time is at the best level of the last 33 runs, or near it.");
}

TEST(Trend, Improves) {
  const Trend trend = TrendOfValues(Noisy(SeriesOf({{15, 100}, {10, 80}}), 0.01, 5));
  EXPECT_EQ(trend.verdict, Verdict::kImproved);
  EXPECT_EQ(trend.why, "Since run 16 of 25 (c16) the step time fell by 19.9 % in one step.");
}

TEST(Trend, OfWhatIsBetterHigh) {
  ComparisonOptions options;
  options.lower_is_better = false;
  const Trend trend = TrendOfValues(Noisy(SeriesOf({{15, 0.8}, {10, 0.7}}), 0.01, 6), options);
  EXPECT_EQ(trend.verdict, Verdict::kRegressed);
  ASSERT_EQ(trend.changes.size(), 1U);
  EXPECT_NEAR(trend.changes[0].before, 0.8, 0.01);
  EXPECT_NEAR(trend.changes[0].after, 0.7, 0.01);
  EXPECT_THAT(trend.why, testing::StartsWith("Since run 16 of 25 (c16) the step time fell by 1"));
  EXPECT_EQ(TrendOfValues(Noisy(SeriesOf({{15, 0.7}, {10, 0.8}}), 0.01, 6), options).verdict,
            Verdict::kImproved);
}

TEST(Trend, WithinTheZoneIsNone) {
  const auto values = Noisy(SeriesOf({{15, 100}, {15, 105}}), 0.003, 7);
  ComparisonOptions options;
  EXPECT_EQ(TrendOfValues(values, options).verdict, Verdict::kRegressed);
  options.regression = 0.08;
  EXPECT_EQ(TrendOfValues(values, options).verdict, Verdict::kPass);
  options.regression = 0.03;
  options.floor = 10;
  EXPECT_EQ(TrendOfValues(values, options).verdict, Verdict::kPass);
}

TEST(Trend, FromNothing) {
  const Trend trend = TrendOfValues(SeriesOf({{10, 0}, {10, 5e6}}));
  EXPECT_EQ(trend.verdict, Verdict::kRegressed);
  EXPECT_EQ(trend.why, "Since run 11 of 20 (c11) the step time rose by 5.00 ms in one step.");
}

TEST(Trend, MayBeNoise) {
  // Of 10 runs in random order 3 are the highest and the last, or lowest, in 1 of 60.
  const Trend trend = TrendOfValues({100, 100.1, 100, 99.9, 100, 100, 100.1, 110, 110.1, 110});
  EXPECT_EQ(trend.verdict, Verdict::kInconclusive);
  EXPECT_EQ(
      trend.why,
      "It seems that since run 8 of 10 (c8) the step time rose by 10.0 %, but runs of the same program may "
      "differ as much.");
}

TEST(Trend, OfFewRunsIsNone) {
  EXPECT_EQ(TrendOfValues({}).why, "No run of the history has it.");
  const Trend trend = TrendOfValues({1, 2, 3});
  EXPECT_EQ(trend.verdict, Verdict::kPass);
  EXPECT_EQ(trend.why, "A trend needs 8 runs; there are 3.");
  EXPECT_EQ(trend.points.size(), 3U);
}

TEST(Trend, LooksBackOnTheLastRuns) {
  EXPECT_EQ(TrendOfValues(Noisy(SeriesOf({{100, 50}, {200, 100}}), 0.01, 8)).verdict, Verdict::kPass);
  EXPECT_EQ(TrendOfValues(Noisy(SeriesOf({{300, 100}}), 0.01, 8)).points.size(), kTrendRuns);
}

TEST(Trend, IsOfOneSetting) {
  auto runs = RunsOf(Noisy(SeriesOf({{20, 100}, {20, 150}}), 0.01, 9));
  for (size_t i = 0; i < 20; ++i) runs[i].setting = "8 x A100";
  const Trend trend = TrendOf(runs, kSetting, kMetric, {});
  EXPECT_EQ(trend.verdict, Verdict::kPass);
  EXPECT_EQ(trend.points.size(), 20U);
}

TEST(Trend, NamesRulesThatAppeared) {
  auto runs = RunsOf(SeriesOf({{10, 100}, {10, 120}}));
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].findings = {{"mixed-precision-off", "{}"}};
    if (i == 2) runs[i].findings.emplace_back("slow-steps", "{}");
    if (i >= 10 && i != 12) runs[i].findings.emplace_back("data-loading", R"({"rank":0})");
    if (i >= 10) runs[i].findings.emplace_back("data-loading", R"({"rank":1})");
    if (i == 15) runs[i].findings.emplace_back("pageable-copies", "{}");
    if (i >= 10) runs[i].findings.emplace_back("slow-steps", "{}");
  }
  const Trend trend = TrendOf(runs, kSetting, kMetric, {});
  ASSERT_EQ(trend.changes.size(), 1U);
  EXPECT_EQ(trend.changes[0].at, 10U);
  EXPECT_THAT(trend.changes[0].appeared, ElementsAre("data-loading", "slow-steps"));
}

TEST(Trend, LabelsItsPoints) {
  auto runs = RunsOf({1, 2});
  runs[1].label = "";
  runs[1].utc_ns = 1'772'373'900'000'000'000;
  const Trend trend = TrendOf(runs, kSetting, kMetric, {});
  EXPECT_EQ(trend.metric, kMetric);
  EXPECT_EQ(trend.title, "Step time");
  EXPECT_EQ(trend.points[0].label, "c1");
  EXPECT_EQ(trend.points[1].label, "2026-03-01 14:05");
  EXPECT_THAT(trend.changes, IsEmpty());
}

}  // namespace
}  // namespace dladvisor
