// SPDX-License-Identifier: Apache-2.0
#include "src/render/change_text.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(ChangeText, SmallChangesArePercentsAndLargeOnesFactors) {
  EXPECT_EQ(ChangeText(0.231), "+23.1 %");
  EXPECT_EQ(ChangeText(-0.04), "-4.0 %");
  EXPECT_EQ(ChangeText(0.0004), "±0.0 %");
  EXPECT_EQ(ChangeText(8.9), "+890.0 %");
  EXPECT_EQ(ChangeText(9), "10 times");
  EXPECT_EQ(ChangeText(123.499), "124 times");
  EXPECT_EQ(ChangeText(1e6), "1,000,001 times");
  EXPECT_EQ(ChangeText(1e18), "1e+18 times");
}

TEST(ChangeText, EachEndOfARangeHasItsUnit) {
  EXPECT_EQ(ChangeRangeText(0.21, 0.252), "+21.0 to +25.2 %");
  EXPECT_EQ(ChangeRangeText(-0.3, 19), "-30.0 % to 20 times");
  EXPECT_EQ(ChangeRangeText(120, 127), "121 to 128 times");
}

TEST(ChangeText, ADistanceHasNoDirection) {
  EXPECT_EQ(DistanceText(-0.231), "23.1 %");
  EXPECT_EQ(DistanceText(123.499), "a factor of 124");
}

}  // namespace
}  // namespace dladvisor
