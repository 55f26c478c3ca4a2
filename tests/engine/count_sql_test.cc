// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/count_sql.h"

#include <gmock/gmock.h>

#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;
using testing::Not;

KnowledgeBase Of(const std::string& rule) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"shop/a.yaml", "id: a\ntitle: T\n" + rule + "problem: '{{shop}} {{said}}'\nrecommendation: R\n"}});
  return knowledge;
}

TEST(CountSql, ReadsWhatDecidesAlone) {
  const KnowledgeBase knowledge =
      Of("for: orders\nlet: {twice: PRICE * 2, said: number + 1, four: twice * 2}\nwhen: ['\"Four\" > 8']\n");
  const std::string& sql = knowledge.rules()[0].count_sql;
  EXPECT_THAT(sql, HasSubstr("SELECT \"price\" FROM \"orders\""));
  EXPECT_THAT(sql, HasSubstr("AS \"four\""));
  EXPECT_THAT(sql, Not(HasSubstr("said")));
}

// Those of one level stand side by side: SQLite resolves each column anew at each level.
TEST(CountSql, HasALevelForLetsThatNameOthers) {
  const KnowledgeBase knowledge =
      Of("for: orders\nlet: {a: price, b: price, c: price, said: a + b + c}\nwhen: [said > 0]\n");
  const std::string& sql = knowledge.rules()[0].count_sql;
  size_t levels = 0;
  for (size_t at = sql.find("subject.*"); at != std::string::npos; at = sql.find("subject.*", at + 1))
    ++levels;
  EXPECT_EQ(levels, 2u) << sql;
}

// A let may be named in quotes, by `subject.`, in a sub-query and in another case, and a rule may read no
// column of its subject at all.
TEST(CountSql, CountsWhatTheRuleFinds) {
  for (const std::string when :
       {"price > 2", "\"dear\"", "subject.dear",
        "EXISTS (SELECT 1 FROM shop AS s WHERE s.shop = subject.SHOP AND DEAR)",
        "(SELECT count(*) FROM shop) > 0", "nullif(dear, 1) IS NULL", "CASE WHEN cheap THEN 0 ELSE 1 END"}) {
    const KnowledgeBase knowledge =
        Of("for: orders\nlet: {dear: price > 2, cheap: NOT dear, said: price + cheap}\nwhen: ['" + when +
           "']\n");
    test::Shops shops;
    const Advice advice = Infer(knowledge, shops.database, {.keep_clear = "*"});
    size_t not_clear = 0;
    for (const Finding& finding : advice.findings) not_clear += finding.outcome != Outcome::kClear;
    const ResultSet counted = shops.database.Query(knowledge.rules()[0].count_sql);
    EXPECT_EQ(counted.rows[0][0], Value(static_cast<int64_t>(advice.findings.size()))) << when;
    EXPECT_EQ(counted.rows[0][1], Value(static_cast<int64_t>(not_clear))) << when;
    EXPECT_GT(not_clear, 0u) << when;
  }
}

}  // namespace
}  // namespace dladvisor
