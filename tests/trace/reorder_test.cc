// SPDX-License-Identifier: Apache-2.0
#include "src/trace/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace dladvisor {
namespace {

// What a stable sort of the standard library makes of it.
std::vector<uint32_t> Expected(const std::vector<Ns>& start) {
  std::vector<uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](uint32_t row) { return start[row]; });
  return order;
}

std::vector<Ns> Drawn(size_t rows, Ns least, Ns most) {
  std::mt19937_64 random(rows);
  std::uniform_int_distribution<Ns> draw(least, most);
  std::vector<Ns> start(rows);
  std::ranges::generate(start, [&] { return draw(random); });
  return start;
}

TEST(Reorder, LeavesWhatIsSorted) {
  EXPECT_TRUE(OrderByStart(std::vector<Ns>{}).empty());
  EXPECT_TRUE(OrderByStart({1, 2, 2, 5}).empty());
  EXPECT_TRUE(OrderByStart({1, 2, 2, 5}, [](size_t, size_t) { return false; }).empty());
}

TEST(Reorder, MergesRunsOfThreads) {
  std::vector<Ns> start;
  for (Ns thread = 0; thread < 7; ++thread)
    for (Ns i = 0; i < 100; ++i) start.push_back(i * 10 + thread % 3);
  EXPECT_EQ(OrderByStart(start), Expected(start));
}

TEST(Reorder, SortsShuffledRowsOfAnyTimes) {
  for (const auto& [least, most] :
       {std::pair<Ns, Ns>{0, 50}, {-1'000'000, 1'000'000}, {0, INT64_MAX}, {INT64_MIN, INT64_MAX}}) {
    const std::vector<Ns> start = Drawn(20'000, least, most);
    EXPECT_EQ(OrderByStart(start), Expected(start)) << most;
  }
}

TEST(Reorder, SortsPartsOnSeveralThreads) {
  for (const Ns most : {0, 1, 1'000'000'000}) {
    std::vector<Ns> start = Drawn(500'000, 0, most);
    start.back() = -1;
    EXPECT_EQ(OrderByStart(start), Expected(start)) << most;
  }
}

TEST(Reorder, RowsThatStartTogetherFollowTheirOwnOrder) {
  const auto longest = [](const std::vector<Ns>& length) {
    return [&length](size_t a, size_t b) { return length[a] > length[b]; };
  };
  const std::vector<Ns> length = {1, 3, 2, 3, 9}, later = {5, 1, 2, 2, 0};
  EXPECT_EQ(OrderByStart({4, 4, 4, 4, 1}, longest(length)), (std::vector<uint32_t>{4, 1, 3, 2, 0}));
  EXPECT_EQ(OrderByStart({1, 4, 4, 4, 5}, longest(later)), (std::vector<uint32_t>{0, 2, 3, 1, 4}));
}

}  // namespace
}  // namespace dladvisor
