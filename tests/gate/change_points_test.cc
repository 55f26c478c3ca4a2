// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<size_t> Begins(const std::vector<double>& series) {
  std::vector<size_t> begins;
  for (const LevelSegment& level : FindLevels(series)) begins.push_back(level.begin);
  return begins;
}

// `runs` values around `level`, with normal noise of a standard deviation of `sd`.
void Append(std::vector<double>& series, size_t runs, double level, double sd, std::mt19937_64& random) {
  std::normal_distribution<double> noise(level, sd);
  for (size_t i = 0; i < runs; ++i) series.push_back(noise(random));
}

TEST(FindLevels, NothingAndLittle) {
  EXPECT_THAT(FindLevels({}), IsEmpty());
  const std::vector<double> one = {7};
  ASSERT_EQ(FindLevels(one).size(), 1U);
  EXPECT_EQ(FindLevels(one)[0].level, 7);
  const std::vector<double> two = {1, 2};
  ASSERT_EQ(FindLevels(two).size(), 1U);
  EXPECT_EQ(FindLevels(two)[0].end, 2U);
  EXPECT_EQ(FindLevels(two)[0].level, 1.5);
}

TEST(FindLevels, AConstantSeriesIsOneLevel) {
  EXPECT_THAT(Begins(std::vector<double>(40, 0.1)), ElementsAre(0));
  EXPECT_THAT(Begins(std::vector<double>(40, 0)), ElementsAre(0));
  EXPECT_THAT(Begins(std::vector<double>(1000, 1e18 / 3)), ElementsAre(0));
}

TEST(FindLevels, StepsWithoutNoise) {
  const std::vector<double> series = {5, 5, 5, 5, 8, 8, 8, 2, 2, 2, 2, 2};
  const auto levels = FindLevels(series);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[1].begin, 4U);
  EXPECT_EQ(levels[1].end, 7U);
  EXPECT_EQ(levels[1].level, 8);
  EXPECT_EQ(levels[2].level, 2);
}

TEST(FindLevels, OutliersAreNoLevel) {
  std::mt19937_64 random(1);
  std::vector<double> series;
  Append(series, 40, 100, 1, random);
  series[5] = 500;
  series[20] = 300;
  series[39] = 1000;
  EXPECT_THAT(Begins(series), ElementsAre(0));
}

TEST(FindLevels, StepsInNoise) {
  std::mt19937_64 random(2);
  std::vector<double> series;
  Append(series, 20, 100, 1, random);
  Append(series, 15, 108, 1, random);
  Append(series, 25, 104, 1, random);
  const auto levels = FindLevels(series);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_NEAR(static_cast<double>(levels[1].begin), 20, 1);
  EXPECT_NEAR(static_cast<double>(levels[2].begin), 35, 1);
  EXPECT_NEAR(levels[0].level, 100, 1);
  EXPECT_NEAR(levels[1].level, 108, 1);
  EXPECT_NEAR(levels[2].level, 104, 1);
}

TEST(FindLevels, ARampIsAStairOfShortSteps) {
  std::mt19937_64 random(3);
  std::vector<double> series;
  for (int i = 0; i < 20; ++i) Append(series, 1, 100 + 0.5 * i, 0.3, random);
  const auto levels = FindLevels(series);
  ASSERT_GE(levels.size(), 3U);
  for (size_t i = 1; i < levels.size(); ++i) EXPECT_GT(levels[i].level, levels[i - 1].level);
  EXPECT_GT(levels.back().level - levels.front().level, 5);
}

// The cost of a segmentation as its definition says it, over all of them.
double LeastCost(const std::vector<double>& series, double penalty) {
  std::vector<double> least = {0};
  for (size_t end = 1; end <= series.size(); ++end) {
    least.push_back(std::numeric_limits<double>::infinity());
    for (size_t begin = 0; begin + kShortestLevel <= end; ++begin) {
      std::vector<double> values(series.begin() + static_cast<std::ptrdiff_t>(begin),
                                 series.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(values.begin(), values.end());
      double cost = penalty;
      for (const double v : values) cost += std::abs(v - values[values.size() / 2]);
      least[end] = std::min(least[end], least[begin] + cost);
    }
  }
  return least.back();
}

TEST(FindLevels, CostsTheLeast) {
  std::mt19937_64 random(4);
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<double> series;
    for (const double level : {10.0, 14.0, 9.0}) Append(series, 4 + random() % 9, level, 1, random);
    if (draw % 2 == 0)
      for (double& v : series) v = std::round(v);  // with ties
    const auto levels = FindLevels(series);
    double deviation = 0;
    for (const LevelSegment& level : levels)
      for (size_t i = level.begin; i < level.end; ++i) deviation += std::abs(series[i] - level.level);
    // Optimal for one penalty at least: no other segmentation is cheaper for all.
    bool optimal = false;
    for (double penalty = 0.5; penalty < 40 && !optimal; penalty += 0.05)
      optimal = deviation + penalty * static_cast<double>(levels.size()) <= LeastCost(series, penalty) + 1e-9;
    EXPECT_TRUE(optimal) << draw;
  }
}

TEST(FindLevels, NoiseIsOneLevel) {
  std::mt19937_64 random(5);
  std::student_t_distribution<double> heavy(2);
  size_t changed = 0;
  for (int draw = 0; draw < 400; ++draw) {
    std::vector<double> series;
    if (draw % 2 == 0)
      Append(series, 50, 100, 3, random);
    else
      for (int i = 0; i < 50; ++i) series.push_back(100 + heavy(random));
    changed += FindLevels(series).size() > 1;
  }
  EXPECT_LE(changed, 16U);
}

TEST(FindLevels, ThousandsOfRuns) {
  std::mt19937_64 random(6);
  std::vector<double> series;
  for (int i = 0; i < 8; ++i) Append(series, 250, i % 2 == 0 ? 100 : 103, 1, random);
  EXPECT_EQ(FindLevels(series).size(), 8U);
}

}  // namespace
}  // namespace dladvisor
