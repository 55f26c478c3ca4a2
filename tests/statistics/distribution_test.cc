// SPDX-License-Identifier: Apache-2.0
#include "src/statistics/distribution.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(Distribution, QuartilesAreInterpolated) {
  const Distribution d = Describe(std::vector<int64_t>{40, 10, 30, 20});
  EXPECT_EQ(d.count, 4);
  EXPECT_DOUBLE_EQ(d.mean.value(), 25);
  EXPECT_NEAR(d.stddev.value(), 12.909944, 1e-6);
  EXPECT_DOUBLE_EQ(d.min.value(), 10);
  EXPECT_DOUBLE_EQ(d.q25.value(), 17.5);
  EXPECT_DOUBLE_EQ(d.median.value(), 25);
  EXPECT_DOUBLE_EQ(d.q75.value(), 32.5);
  EXPECT_DOUBLE_EQ(d.max.value(), 40);
}

TEST(Distribution, OfManyEqualValuesIsThatOfThemAll) {
  const std::vector<int64_t> values = {3, 1, 1, 2, 2, 2, 7};
  const Distribution all = Describe(values), counted = Describe({{1, 2}, {2, 3}, {3, 1}, {7, 1}});
  EXPECT_EQ(counted.count, all.count);
  EXPECT_DOUBLE_EQ(counted.mean.value(), all.mean.value());
  EXPECT_DOUBLE_EQ(counted.stddev.value(), all.stddev.value());
  EXPECT_EQ(counted.min, all.min);
  EXPECT_EQ(counted.q25, all.q25);
  EXPECT_EQ(counted.median, all.median);
  EXPECT_EQ(counted.q75, all.q75);
  EXPECT_EQ(counted.max, all.max);
}

TEST(Distribution, OfNoneIsUnknownAndOfOneHasNoDeviation) {
  EXPECT_EQ(Describe(std::vector<int64_t>{}).median, std::nullopt);
  EXPECT_EQ(Describe(std::vector<int64_t>{5}).stddev, std::nullopt);
  EXPECT_DOUBLE_EQ(Describe(std::vector<int64_t>{5}).q75.value(), 5);
}

}  // namespace
}  // namespace dladvisor
