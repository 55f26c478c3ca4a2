// SPDX-License-Identifier: Apache-2.0
#include "engine/base/int_column.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

namespace dladvisor {
namespace {

constexpr int64_t kEdges[] = {0,
                              1,
                              -1,
                              127,
                              128,
                              -128,
                              -129,
                              32767,
                              32768,
                              -32769,
                              std::numeric_limits<int32_t>::max(),
                              int64_t{1} << 31,
                              std::numeric_limits<int32_t>::min(),
                              -(int64_t{1} << 31) - 1,
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min()};

void ExpectEqual(const IntColumn& column, const std::vector<int64_t>& values) {
  ASSERT_EQ(column.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(column[i], values[i]) << i;
}

TEST(IndexColumn, KeepsNoneInOneByte) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  IndexColumn column;
  for (const uint32_t index : {0u, kNone, 5u}) column.push_back(index);
  EXPECT_EQ(column.width(), 1u);
  column.Set(0, kNone - 1);
  EXPECT_EQ(column[0], kNone - 1);
  EXPECT_EQ(column[1], kNone);
  column.push_back(3'000'000'000);
  EXPECT_EQ(column[3], 3'000'000'000u);
}

// Columns whose largest values need each of the widths, in any order of growing.
TEST(IntColumn, KeepsWhatItIsGiven) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t kinds = 1 + random() % std::size(kEdges);
    const auto draw = [&] {
      std::vector<int64_t> values(random() % 40);
      for (int64_t& value : values) value = kEdges[random() % kinds];
      return values;
    };
    std::vector<int64_t> values = draw(), more = draw();
    IntColumn column, appended;
    if (round % 2) column.reserve(values.size());
    for (const int64_t value : values) column.push_back(value);
    for (const int64_t value : more) appended.push_back(value);
    ExpectEqual(column, values);
    column.Append(appended);
    values.insert(values.end(), more.begin(), more.end());
    ExpectEqual(column, values);
    if (values.empty()) continue;

    std::vector<uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::byte> scratch;
    column.Reorder(order, scratch);
    std::vector<int64_t> reordered;
    for (const uint32_t i : order) reordered.push_back(values[i]);
    ExpectEqual(column, reordered);

    const size_t at = random() % values.size();
    reordered[at] = kEdges[random() % std::size(kEdges)];
    column.Set(at, reordered[at]);
    ExpectEqual(column, reordered);
  }
}

}  // namespace
}  // namespace dladvisor
