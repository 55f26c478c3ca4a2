#include "src/analysis/ranks/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace dladvisor {
namespace {

using Values = std::vector<double>;

// Closed forms: 1 - 2 atan(t) / pi for one degree of freedom, 1 - t / sqrt(t² + 2) for two.
TEST(StudentTails, AgreesWithClosedForms) {
  for (const double t : {0.0, 0.3, 1.0, 2.5, 12.0}) {
    EXPECT_NEAR(StudentTails(t, 1), 1 - 2 * std::atan(t) / std::numbers::pi, 1e-6) << t;
    EXPECT_NEAR(StudentTails(-t, 2), 1 - t / std::sqrt(t * t + 2), 1e-9) << t;
  }
}

TEST(StudentTails, ApproachesTheNormalDistribution) {
  EXPECT_NEAR(StudentTails(1.959964, 1e6), 0.05, 1e-4);
  EXPECT_NEAR(StudentTails(2.085963, 20), 0.05, 1e-6);  // the tables' quantile
}

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
