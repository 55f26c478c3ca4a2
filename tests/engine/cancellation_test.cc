// SPDX-License-Identifier: Apache-2.0
#include "engine/base/cancellation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::MakeRule;
using test::Shops;

struct Allowed {  // whatever a test does, the next may work
  ~Allowed() { AllowWork(); }
};

TEST(Cancellation, EndsAStatementThatRuns) {
  const Allowed after;
  Shops shops;
  shops.database.SetStepBudget(INT64_MAX);
  shops.database.SetTimeLimit(std::chrono::hours(1));
  const std::jthread canceller([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CancelWork();
  });
  EXPECT_THROW(shops.database.Query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                    "SELECT count(*) FROM n"),
               Cancelled);
  EXPECT_THROW(shops.database.Query("SELECT 1"), Cancelled);
  AllowWork();
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM shop").rows[0][0], Value(int64_t{2}));
}

TEST(Cancellation, IsNoFailureOfARule) {
  const Allowed after;
  Shops shops;
  KnowledgeBase knowledge(test::ShopSchemas());
  const RuleFile rule = MakeRule("open", "for: shop\nwhen: [open_ns > 0]\n");
  knowledge.AddLayer({&rule, 1});
  CancelWork();
  EXPECT_THROW(Infer(knowledge, shops.database, {}), Cancelled);
}

}  // namespace
}  // namespace dladvisor
