// SPDX-License-Identifier: Apache-2.0
#include "src/statistics/probability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace dladvisor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StudentT, QuantilesAreThoseOfTables) {
  struct {
    double tail, degrees, t;
  } const table[] = {
      {0.05, 1, 6.3138},   {0.005, 1, 63.6567},  {0.001, 1, 318.309},      {0.05, 2, 2.9200},
      {0.005, 2, 9.9248},  {0.025, 3, 3.1824},   {0.005, 3, 5.8409},       {0.005, 4, 4.6041},
      {0.01, 5, 3.3649},   {0.25, 7, 0.7111},    {0.005, 10, 3.1693},      {0.0005, 10, 4.5869},
      {0.025, 30, 2.0423}, {0.005, 120, 2.6174}, {0.1, kInfinity, 1.2816}, {0.005, kInfinity, 2.5758}};
  for (const auto& row : table)
    EXPECT_NEAR(StudentQuantile(row.tail, row.degrees), row.t, 6e-5 * std::max(1.0, row.t))
        << row.tail << " " << row.degrees;
}

TEST(StudentT, QuantileIsTheInverseOfTheTail) {
  for (const double degrees : {0.7, 1.0, 2.5, 17.3, 900.0, 1e6, kInfinity})
    for (const double tail : {0.49, 0.2, 0.01, 1e-4, 1e-9})
      EXPECT_NEAR(StudentTail(StudentQuantile(tail, degrees), degrees) / tail, 1, 1e-7)
          << tail << " " << degrees;
}

TEST(StudentT, IsSymmetric) {
  EXPECT_EQ(StudentTail(0, 3), 0.5);
  EXPECT_EQ(StudentQuantile(0.5, 3), 0);
  EXPECT_NEAR(StudentTail(-1.2, 3) + StudentTail(1.2, 3), 1, 1e-15);
}

// Both tails: 1 - 2 atan(t) / pi for one degree of freedom, 1 - t / sqrt(t² + 2) for two.
TEST(StudentT, AgreesWithClosedForms) {
  for (const double t : {0.0, 0.3, 1.0, 2.5, 12.0}) {
    EXPECT_NEAR(2 * StudentTail(t, 1), 1 - 2 * std::atan(t) / std::numbers::pi, 1e-14) << t;
    EXPECT_NEAR(2 * StudentTail(t, 2), 1 - t / std::sqrt(t * t + 2), 1e-14) << t;
  }
}

TEST(StudentT, ApproachesTheNormalDistribution) {
  EXPECT_NEAR(2 * StudentTail(1.959964, 1e6), 0.05, 1e-6);
  EXPECT_NEAR(2 * StudentTail(2.085963, 20), 0.05, 1e-6);  // the tables' quantile
  EXPECT_NEAR(StudentTail(3, 1e9) / StudentTail(3, kInfinity), 1, 1e-7);
}

TEST(StudentT, IsUndefinedWhereItsArgumentsAre) {
  EXPECT_TRUE(std::isnan(StudentTail(NAN, 3)));
  EXPECT_EQ(StudentTail(kInfinity, 3), 0);
}

TEST(BinomialTail, KnownValues) {
  EXPECT_NEAR(BinomialTail(10, 10, 0.5), 1.0 / 1024, 1e-15);
  EXPECT_NEAR(BinomialTail(5, 3, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(BinomialTail(20, 1, 0.1), 1 - std::pow(0.9, 20), 1e-12);
  EXPECT_NEAR(BinomialTail(1000, 0, 0.1), 1, 0);
  EXPECT_EQ(BinomialTail(3, 4, 0.5), 0);
  EXPECT_NEAR(BinomialTail(40, 39, 0.001) / 4e-116, 1, 0.01);  // 40 * 0.001^39 * 0.999 and 0.001^40
}

TEST(BinomialTail, IsAtLeastItsBoundAndAtMostThreeTimesThat) {
  for (const int64_t n : {1, 2, 5, 30, 300})
    for (const double p : {0.001, 0.02, 0.25, 0.5, 0.9})
      for (int64_t k = 1; k <= n; ++k) {
        if (static_cast<double>(k) <= 1.5 * static_cast<double>(n) * p) continue;
        const double tail = BinomialTail(n, k, p), bound = BinomialTailBound(n, k, p);
        EXPECT_GE(tail, bound * (1 - 1e-9)) << n << " " << k << " " << p;
        EXPECT_LE(tail, 3 * bound) << n << " " << k << " " << p;
      }
}

}  // namespace
}  // namespace dladvisor
