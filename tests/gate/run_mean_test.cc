// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/gate/compare/comparison.h"
#include "tests/gate/simulated_runs.h"

namespace dladvisor {
namespace {

using test::Steps;

TEST(RunMean, OfIndependentStepsIsTheUsualOne) {
  test::Random random(1);
  const RunMean run = MeanOfSteps(test::IndependentNoise(0.1).draw(random, 1000));
  EXPECT_EQ(run.steps, 1000);
  EXPECT_NEAR(run.mean, 1, 0.01);
  EXPECT_NEAR(std::sqrt(run.variance), 0.1 / std::sqrt(1000.0), 0.0006);
  EXPECT_GT(run.independent_steps, 800);
  EXPECT_GT(run.degrees, 300);
}

TEST(RunMean, KnowsThatDependentStepsTellLess) {
  test::Random random(1);
  const double truth = 0.1 * std::sqrt(1.9 / 0.1 / 2000);
  double ratio = 0;
  for (int i = 0; i < 20; ++i)
    ratio +=
        std::sqrt(MeanOfSteps(test::AutoregressiveNoise(0.9, 0.1).draw(random, 2000)).variance) / truth / 20;
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.25);
}

TEST(RunMean, DoesNotTrustStepsThatAlternate) {
  Steps steps;
  for (int i = 0; i < 40; ++i) steps.push_back(i % 2 ? 1.1 : 0.9);
  EXPECT_NEAR(MeanOfSteps(steps).variance, 0.01 / 39, 1e-12);
}

TEST(RunMean, OfOneSpikeIsAsUnsureAsTheSpikeIsLarge) {
  Steps steps(50, 1.0);
  steps[20] = 51;
  const RunMean run = MeanOfSteps(steps);
  EXPECT_NEAR(run.mean, 2, 1e-12);
  EXPECT_GE(std::sqrt(run.variance), 1 - 1e-9);
}

TEST(RunMean, OfFewStepsHasNoKnownNoise) {
  const RunMean run = MeanOfSteps(Steps{1, 2, 3, 4});
  EXPECT_EQ(run.mean, 2.5);
  EXPECT_TRUE(std::isinf(run.variance));
  EXPECT_TRUE(std::isnan(MeanOfSteps({}).mean));
}

TEST(RunMean, OfEqualStepsIsExact) {
  const RunMean run = MeanOfSteps(Steps(30, 0.1));
  EXPECT_EQ(run.mean, 0.1);
  EXPECT_EQ(run.variance, 0);
  EXPECT_EQ(run.independent_steps, 30);
}

TEST(RunMean, NoiseIsLikelyMoreThanFewStepsShow) {
  test::Random random(3);
  double seen = 0, likely = 0, independent = 0, dependent = 0;
  for (int i = 0; i < 500; ++i) {
    const RunMean run = MeanOfSteps(test::IndependentNoise(0.05).draw(random, 50));
    seen += run.variance;
    likely += run.likely_variance;
    independent += run.likely_degrees;
    dependent += MeanOfSteps(test::AutoregressiveNoise(0.9, 0.05).draw(random, 50)).likely_degrees;
  }
  EXPECT_GT(likely, 1.05 * seen);
  EXPECT_LT(likely, 1.5 * seen);
  EXPECT_LT(dependent, independent / 3);
}

TEST(RunMean, IsLessSureOfTheNoiseTheLongerStepsDepend) {
  test::Random random(4);
  for (int i = 0; i < 50; ++i) {
    const RunMean run = MeanOfSteps(test::AutoregressiveNoise(0.5, 0.05).draw(random, 400));
    EXPECT_LT(run.likely_degrees, 75) << i;  // 400 / 7 by the correlation, 80 by the fewest autocovariances
  }
}

TEST(RunMean, KnowsWhatItsLongestStepAdds) {
  const RunMean run = MeanOfSteps(test::Steps{1, 1, 1, 1, 1, 1, 1, 1, 1, 11});
  EXPECT_DOUBLE_EQ(run.mean, 2);
  EXPECT_DOUBLE_EQ(run.of_longest, 0.9);
}

// The share of pairs of series of the same noise whose means differ by more than what 1 of 200 should.
double ShareBeyondNoise(const test::StepNoise& noise, size_t steps) {
  constexpr int kPairs = 2000;
  test::Random random(7);
  int beyond = 0;
  for (int i = 0; i < kPairs; ++i) {
    const std::vector<RunMean> a = {MeanOfSteps(noise.draw(random, steps))};
    const std::vector<RunMean> b = {MeanOfSteps(noise.draw(random, steps))};
    const RunNoise none{RunNoise::Source::kDeclared, 0};
    ComparisonOptions options;
    options.regression = 0;
    beyond += Compare(a, b, none, options).verdict == Verdict::kRegressed;
  }
  return static_cast<double>(beyond) / kPairs;
}

TEST(RunMean, NoiseIsRightForShortAndDependentSeries) {
  EXPECT_LT(ShareBeyondNoise(test::IndependentNoise(0.05), 5), 0.008);
  EXPECT_LT(ShareBeyondNoise(test::IndependentNoise(0.05), 20), 0.008);
  EXPECT_LT(ShareBeyondNoise(test::AutoregressiveNoise(0.5, 0.05), 10), 0.012);
  EXPECT_LT(ShareBeyondNoise(test::AutoregressiveNoise(0.9, 0.05), 50), 0.012);
  EXPECT_LT(ShareBeyondNoise(test::SpikyNoise(), 30), 0.008);
  EXPECT_LT(ShareBeyondNoise(test::HeavyTailedNoise(), 30), 0.008);
}

}  // namespace
}  // namespace dladvisor
