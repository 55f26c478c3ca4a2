// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/persistence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace dladvisor {
namespace {

WorstItems Drawn(size_t items, size_t rounds, uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::normal_distribution<double> normal;
  WorstItems worst(items, rounds);
  for (size_t i = 0; i < items; ++i)
    for (size_t r = 0; r < rounds; ++r) worst.Set(i, r, normal(draw));
  return worst;
}

// Of items that are all alike the most persistent one is called significant no more often than stated.
TEST(WorstItems, ChanceIsNotTakenForPersistence) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 400; ++seed)
    alarms += Drawn(8 + seed % 30, 20 + seed % 60, seed).Find()->probability <= 0.01;
  EXPECT_LE(alarms, 8);  // 4 are expected at most
}

TEST(WorstItems, FindsTheRunOfRounds) {
  WorstItems worst = Drawn(16, 50, 1);
  for (size_t r = 20; r <= 34; ++r) worst.Set(3, r, 10);
  const auto found = worst.Find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->item, 3u);
  EXPECT_LE(found->first, 20u);
  EXPECT_GE(found->last, 34u);
  EXPECT_LE(found->rounds, 18);
  EXPECT_LT(found->probability, 1e-9);
  worst.Exclude(3, found->first, found->last);
  EXPECT_GT(worst.Find()->probability, 0.01);
}

TEST(WorstItems, FewRoundsOfTwoAreEnoughWhereOneIsFarAbove) {
  WorstItems worst = Drawn(2, 5, 1);
  for (size_t r = 0; r < 5; ++r) worst.Set(1, r, 50 + worst.At(1, r));
  const auto found = worst.Find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->item, 1u);
  EXPECT_EQ(found->rounds, 5);
  EXPECT_EQ(found->worst, 5);
  EXPECT_LT(found->probability, 1e-3) << "by counts alone 2^-5 at best";
}

TEST(WorstItems, FewRoundsOfAlikeItemsAreNoEvidence) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const auto found = Drawn(2 + seed % 7, 3 + seed % 10, seed).Find();
    alarms += found && found->probability <= 0.01;
  }
  EXPECT_LE(alarms, 30);  // 20 are expected at most
}

TEST(WorstItems, ExcessIsOverTheMedianOfTheOthers) {
  WorstItems two(2, 1);
  two.Set(0, 0, 10);
  two.Set(1, 0, 4);
  EXPECT_EQ(two.ExcessOverOthers().At(0, 0), 6);
  EXPECT_EQ(two.ExcessOverOthers().At(1, 0), -6);
  WorstItems five(5, 1);
  for (size_t i = 0; i < 4; ++i) five.Set(i, 0, static_cast<double>(i));  // the fifth takes no part
  EXPECT_EQ(five.ExcessOverOthers().At(3, 0), 2);
  EXPECT_EQ(five.ExcessOverOthers().At(1, 0), -1);
  EXPECT_TRUE(std::isnan(five.ExcessOverOthers().At(4, 0)));
}

TEST(WorstItems, AbsentItemsAreNoPeers) {
  WorstItems one(2, 5);
  for (size_t r = 0; r < 5; ++r) one.Set(0, r, 1);
  EXPECT_FALSE(one.Find());
  EXPECT_FALSE(WorstItems(3, 0).Find());
}

}  // namespace
}  // namespace dladvisor
