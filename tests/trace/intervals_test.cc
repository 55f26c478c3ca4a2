// SPDX-License-Identifier: Apache-2.0
#include "src/trace/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace dladvisor {
namespace {

TEST(Intervals, MergeWhatTouches) {
  EXPECT_EQ(Union({{5, 7}, {1, 3}, {3, 5}, {9, 9}, {20, 10}}), (IntervalSet{{1, 7}}));
  EXPECT_EQ(Length(Union({{0, 10}, {2, 3}})), 10);
  EXPECT_TRUE(Union(std::vector<Interval>{}).empty());
}

TEST(Intervals, SubtractLeavesTheRest) {
  EXPECT_EQ(Subtract({{0, 10}}, {{2, 4}, {6, 20}}), (IntervalSet{{0, 2}, {4, 6}}));
  EXPECT_EQ(Subtract({{0, 10}, {20, 30}}, {{5, 25}}), (IntervalSet{{0, 5}, {25, 30}}));
  EXPECT_EQ(Subtract({{50, 60}}, {{0, 10}, {20, 50}, {55, 58}}), (IntervalSet{{50, 55}, {58, 60}}));
  EXPECT_EQ(Subtract({}, {{0, 10}}), IntervalSet{});
  EXPECT_TRUE(Subtract({{3, 4}}, {{0, 10}}).empty());
}

// The reference: one bit per nanosecond.
constexpr int kSpan = 120;
using Bits = std::array<bool, kSpan>;

Bits Paint(const std::vector<Interval>& intervals) {
  Bits bits{};
  for (const Interval& i : intervals)
    for (int64_t t = i.start; t < i.end; ++t) bits[static_cast<size_t>(t)] = true;
  return bits;
}

template <class Combine>
Bits Both(const Bits& a, const Bits& b, Combine combine) {
  Bits bits{};
  for (size_t t = 0; t < kSpan; ++t) bits[t] = combine(a[t], b[t]);
  return bits;
}

void ExpectSet(const IntervalSet& set, const Bits& bits) {
  EXPECT_EQ(Paint(set), bits);
  EXPECT_EQ(Length(set), std::count(bits.begin(), bits.end(), true));
  for (size_t i = 0; i < set.size(); ++i) {
    EXPECT_LT(set[i].start, set[i].end);
    if (i > 0) {
      EXPECT_GT(set[i].start, set[i - 1].end) << "sets are disjoint and do not touch";
    }
  }
}

TEST(Intervals, AgreeWithOneBitPerNanosecond) {
  std::mt19937 random(3);
  const auto some = [&] {
    std::vector<Interval> intervals(random() % 12);
    for (Interval& i : intervals) {
      i.start = random() % kSpan;
      i.end = std::min<int64_t>(kSpan, i.start + random() % 20);
    }
    return intervals;
  };
  for (int round = 0; round < 500; ++round) {
    const auto x = some(), y = some();
    const IntervalSet a = Union(x), b = Union(y);
    const Bits pa = Paint(x), pb = Paint(y);
    ExpectSet(a, pa);
    ExpectSet(Union(a, b), Both(pa, pb, [](bool p, bool q) { return p || q; }));
    ExpectSet(Intersect(a, b), Both(pa, pb, [](bool p, bool q) { return p && q; }));
    ExpectSet(Subtract(a, b), Both(pa, pb, [](bool p, bool q) { return p && !q; }));
    const Interval window{static_cast<int64_t>(random() % 60), 60 + static_cast<int64_t>(random() % 60)};
    ExpectSet(Clip(a, window), Both(pa, Paint({window}), [](bool p, bool q) { return p && q; }));
    EXPECT_EQ(Length(a), Length(Intersect(a, b)) + Length(Subtract(a, b)));
  }
}

}  // namespace
}  // namespace dladvisor
