// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/queries.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dladvisor {
namespace {

TEST(Queries, EachIdIsOfOne) {
  std::set<std::string> ids;
  for (const FigureQuery& query : FigureQueries()) EXPECT_TRUE(ids.insert(query.id).second) << query.id;
  EXPECT_GT(ids.size(), 20u);
  ids.clear();
  for (const TableQuery& query : TableQueries()) EXPECT_TRUE(ids.insert(query.id).second) << query.id;
  EXPECT_GT(ids.size(), 50u);
}

}  // namespace
}  // namespace dladvisor
