// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "src/analysis/timeline/time_ledger.h"

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

TEST(Queries, EveryViewHasTables) {
  std::set<std::string> ids, of_views;
  for (const ReportView& view : ReportViews()) {
    EXPECT_TRUE(ids.insert(view.id).second) << view.id;
    EXPECT_FALSE(view.tables.empty()) << view.id;
    for (const std::string& table : view.tables) EXPECT_TRUE(of_views.insert(table).second) << table;
  }
  EXPECT_TRUE(ids.contains("ops-and-kernels"));
  EXPECT_GT(ids.size(), 15u);
}

// Rows beyond would leave the last ledger without its smallest buckets.
TEST(Queries, EveryDrawnLedgerIsWhole) {
  const auto ledger = std::ranges::find(TableQueries(), "time_ledger", &TableQuery::id);
  ASSERT_NE(ledger, TableQueries().end());
  EXPECT_GE(ledger->max_rows, kDrawnLedgers * TimeLedger().buckets.size());
}

}  // namespace
}  // namespace dladvisor
