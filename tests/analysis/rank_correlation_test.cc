// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace dladvisor {
namespace {

using Values = std::vector<double>;

TEST(Spearman, WithoutTiesIsTheFormulaOfSquaredDifferences) {
  // Differences of ranks 1, 1, 1, 1, 0: 1 - 6 * 4 / (5 * 24).
  const auto found = Spearman(Values{1, 2, 3, 4, 5}, Values{20, 10, 40, 30, 90});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->rho, 0.8, 1e-12);
  EXPECT_NEAR(found->probability, 0.104088, 1e-5);
}

TEST(Spearman, TiesShareTheirRank) {
  const auto found = Spearman(Values{1, 1, 2, 2}, Values{5, 5, 1, 1});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->rho, -1);
  EXPECT_DOUBLE_EQ(found->probability, 2.0 / 24);
}

TEST(Spearman, NothingWhereItCannotBeTold) {
  EXPECT_FALSE(Spearman(Values{1, 2, 3}, Values{1, 2, 3}));
  EXPECT_FALSE(Spearman(Values{1, 2, 3, 4}, Values{7, 7, 7, 7}));
}

}  // namespace
}  // namespace dladvisor
