// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "engine/base/embedded.h"
#include "src/analysis/timeline/time_ledger.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedQueries();

namespace {

TEST(Queries, EachIdIsOfOne) {
  std::set<std::string> ids;
  for (const FigureQuery& query : FigureQueries()) EXPECT_TRUE(ids.insert(query.id).second) << query.id;
  EXPECT_GT(ids.size(), 20u);
  ids.clear();
  for (const TableQuery& query : TableQueries()) EXPECT_TRUE(ids.insert(query.id).second) << query.id;
  EXPECT_GT(ids.size(), 50u);
}

TEST(Queries, AreOfEveryFile) {
  std::set<std::string> files;
  for (const EmbeddedFile& file : EmbeddedQueries()) files.insert(std::string(file.path));
  EXPECT_EQ(std::set<std::string>(QueryFiles().begin(), QueryFiles().end()), files);
}

// Rows beyond would leave the last ledger without its smallest buckets.
TEST(Queries, EveryDrawnLedgerIsWhole) {
  const auto ledger = std::ranges::find(TableQueries(), "time_ledger", &TableQuery::id);
  ASSERT_NE(ledger, TableQueries().end());
  EXPECT_GE(ledger->max_rows, kDrawnLedgers * TimeLedger().buckets.size());
}

}  // namespace
}  // namespace dladvisor
