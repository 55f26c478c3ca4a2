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

TEST(StringPool, GivesManyTextsTheIdsThatEachWouldGet) {
  StringPool one_by_one, at_once;
  std::vector<std::string> texts;
  for (int i = 0; i < 1'000; ++i) texts.push_back(fmt::format("name {}", i % 300));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<NameId> ids = {7};
  at_once.InternAll(views, ids);
  ASSERT_EQ(ids.size(), 1 + views.size());
  EXPECT_EQ(ids[0], 7u);
  for (size_t i = 0; i < views.size(); ++i) ASSERT_EQ(ids[i + 1], one_by_one.Intern(views[i]));
  EXPECT_EQ(at_once.size(), one_by_one.size());
}

}  // namespace
}  // namespace dladvisor
