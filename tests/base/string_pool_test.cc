// SPDX-License-Identifier: Apache-2.0
// Interned names.
#include "engine/base/string_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

TEST(StringPool, KeepsEachTextOnce) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), kNoName);
  const NameId gemm = pool.Intern("gemm");
  EXPECT_NE(gemm, kNoName);
  EXPECT_EQ(pool.Intern(std::string("gemm")), gemm);
  EXPECT_NE(pool.Intern(std::string_view("gemm\0x", 6)), gemm);
  EXPECT_EQ(pool.View(gemm), "gemm");
  EXPECT_EQ(pool.View(kNoName), "");
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, ViewsAndIdsStayWhileItGrows) {
  StringPool pool;
  std::vector<std::string_view> views;
  for (int i = 0; i < 100'000; ++i) views.push_back(pool.View(pool.Intern(fmt::format("name {}", i))));
  const std::string large(200'000, 'x');  // more than a block
  const NameId id = pool.Intern(large);
  const StringPool moved = std::move(pool);
  EXPECT_EQ(moved.View(id), large);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(views[static_cast<size_t>(i)], fmt::format("name {}", i));
    ASSERT_EQ(moved.View(static_cast<NameId>(i + 1)).data(), views[static_cast<size_t>(i)].data());
  }
}

}  // namespace
}  // namespace dladvisor
