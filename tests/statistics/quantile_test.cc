// SPDX-License-Identifier: Apache-2.0
#include "src/statistics/quantile.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace dladvisor {
namespace {

using Values = std::vector<double>;

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(Median(Values{7}), 7);
  EXPECT_EQ(Median(Values{9, 1, 4}), 4);
  EXPECT_EQ(Median(Values{9, 1, 4, 2}), 3);
  EXPECT_EQ(Median(std::vector<int64_t>{2, 1}), 1.5);
  EXPECT_EQ(Median(Values{INFINITY, INFINITY, 1, INFINITY}), INFINITY);
}

TEST(Median, TakesAPartOfWhatIsThere) {
  Values values = {9, 1, 4, 100};
  EXPECT_EQ(Median(std::span(values).first(3)), 4);
  EXPECT_EQ(values[3], 100);
}

// 2^60 + 1 and its like have no double.
TEST(IntegerMedian, IsExactAndRoundedDown) {
  constexpr int64_t kLarge = int64_t{1} << 60;
  EXPECT_EQ(IntegerMedian(std::vector{kLarge + 1}), kLarge + 1);
  EXPECT_EQ(IntegerMedian(std::vector{kLarge + 3, kLarge + 1, kLarge, kLarge + 9}), kLarge + 2);
  EXPECT_EQ(IntegerMedian(std::vector<int64_t>{2, 1}), 1);
  EXPECT_EQ(IntegerMedian(std::vector<int64_t>{-2, -1}), -2);
  EXPECT_EQ(IntegerMedian(std::vector{INT64_MAX, INT64_MAX}), INT64_MAX);
}

// What numpy.quantile gives.
TEST(Quantile, IsInterpolated) {
  const auto of = [](double share) { return Quantile(Values{40, 10, 30, 20, 50}, share); };
  EXPECT_EQ(of(0), 10);
  EXPECT_DOUBLE_EQ(of(0.05), 12);
  EXPECT_EQ(of(0.25), 20);
  EXPECT_DOUBLE_EQ(of(0.9), 46);
  EXPECT_EQ(of(1), 50);
  EXPECT_EQ(Quantile(Values{3}, 0.95), 3);
}

TEST(MedianAbsoluteDeviation, IsTheMedianOfDistances) {
  EXPECT_EQ(MedianAbsoluteDeviation(Values{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(MedianAbsoluteDeviation(Values{1, 2, 3, 4}), 1);
  EXPECT_EQ(MedianAbsoluteDeviation(Values{5}), 0);
}

}  // namespace
}  // namespace dladvisor
