// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/rule_image.h"

#include <gtest/gtest.h>

#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {

TEST(RuleImage, HoldsEverythingOfARule) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"shop/dear_order.yaml",
       "relation: dear_order\ndoc: D\nkey: [shop]\ncolumns: {shop: {type: int, doc: S.}, price: {type: "
       "real}}\n"
       "sql: SELECT shop, max(price) AS price FROM orders GROUP BY shop\n"},
      {"shop/a.yaml",
       "id: a\ntitle: T\ndoc: Why.\nseverity: error\nconfidence: low\nfor: {sql: 'SELECT shop, price FROM "
       "dear_order', key: "
       "[shop]}\nparams: {least: {default: 1.5, doc: L}, word: x, many: 3}\nlet: {twice: price * 2}\nwhen: "
       "[twice > "
       ":least, \"'x' = :word AND :many > 1\"]\nunless: [c]\ncauses: [b]\nsaves: {from: till, high: '7', "
       "low: '3'}\n"
       "problem: \"{{shop}} {{twice}}\"\nrecommendation: [R, S]\nevidence: SELECT * FROM orders WHERE shop = "
       ":shop\n"
       "references: [https://example.org]\n"},
      {"shop/b.yaml",
       "id: b\ntitle: T\nfor: shop\nwhen: [open_ns < 0]\ngiven: [a]\nproblem: P\nrecommendation: R\n"},
      {"shop/c.yaml", "id: c\ntitle: T\nfor: shop\nwhen: [open_ns < 0]\nproblem: P\nrecommendation: R\n"}});
  const std::string image = WriteRuleImage(knowledge);
  KnowledgeBase again(test::ShopSchemas());
  ReadRuleImage(image, again);
  EXPECT_EQ(WriteRuleImage(again), image);
  ASSERT_EQ(again.rules().size(), 3u);
  const Rule &a = again.rules()[0], &b = knowledge.rules()[0];
  EXPECT_EQ(a.units, b.units);
  EXPECT_EQ(a.reads, b.reads);
  EXPECT_EQ(a.count_sql, b.count_sql);
  EXPECT_EQ(a.when[0].comparisons.size(), 1u);
  EXPECT_EQ(a.evidence->sql, b.evidence->sql);

  test::Shops first, second;
  const Advice x = Infer(knowledge, first.database), y = Infer(again, second.database);
  ASSERT_EQ(x.findings.size(), y.findings.size());
  for (size_t i = 0; i < x.findings.size(); ++i) {
    EXPECT_EQ(x.findings[i].outcome, y.findings[i].outcome);
    EXPECT_EQ(x.findings[i].problem, y.findings[i].problem);
  }
}

TEST(RuleImage, RefusesOtherBytes) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"shop/a.yaml", "id: a\ntitle: T\nfor: shop\nwhen: [open_ns < 0]\nproblem: P\nrecommendation: R\n"}});
  const std::string image = WriteRuleImage(knowledge);
  const auto read = [](const std::string& bytes) {
    KnowledgeBase again(test::ShopSchemas());
    ReadRuleImage(bytes, again);
  };
  EXPECT_NO_THROW(read(image));
  for (size_t size = 0; size < image.size(); ++size) EXPECT_THROW(read(image.substr(0, size)), Error) << size;
  EXPECT_THROW(read(image + "x"), Error);
  EXPECT_THROW(read(std::string(64, '\xff')), Error);
}

}  // namespace
}  // namespace dladvisor
