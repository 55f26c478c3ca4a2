// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/derived_relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/authoring/rule_test.h"
#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::Shops;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const RuleFile kDear = {"shop/dear_order.yaml", R"yaml(relation: dear_order
doc: Orders above the average price.
key: [shop, number]
columns: {shop: {type: int}, number: {type: int}, price: {type: real}, item: {type: text}}
sql: SELECT shop, number, price, item FROM orders WHERE price > (SELECT avg(price) FROM orders)
)yaml"};
const RuleFile kDearShop = {"shop/dear_shop.yaml", R"yaml(relation: dear_shop
doc: Shops with dear orders.
key: [shop]
columns: {shop: {type: int}, orders: {type: int, unit: count}}
sql: SELECT shop, count(*) AS orders FROM dear_order GROUP BY shop
)yaml"};

RuleFile RuleOver(const std::string& id, const std::string& body) {
  return {"shop/" + id + ".yaml", "id: " + id + "\ntitle: T\nproblem: P\nrecommendation: R\n" + body};
}

Advice InferAll(Shops& shops, const std::vector<RuleFile>& files) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(files);
  return Infer(knowledge, shops.database);
}

TEST(DerivedRelation, FeedsRulesAndOtherRelations) {
  Shops shops;
  const Advice advice =
      InferAll(shops, {RuleOver("dear", "for: dear_shop\nwhen: [orders >= 1]\n"), kDearShop, kDear});
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].subject[0].value, Value(int64_t{1}));
  EXPECT_EQ(shops.database.Query("SELECT item FROM dear_order").rows[0][0], Value("it's <b>"));
}

TEST(DerivedRelation, InheritsWhatItsFactsLack) {
  const RuleFile busy = {
      "shop/busy_shop.yaml",
      "relation: busy_shop\ndoc: D\nkey: [shop]\ncolumns: {shop: {type: int}, busy: {type: real}}\n"
      "sql: SELECT shop, busy_share AS busy FROM shop\n"};
  Shops shops;
  const Advice advice = InferAll(shops, {busy, RuleOver("x", "for: busy_shop\nwhen: [busy > 0.9]\n")});
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].outcome, Outcome::kUnknown);
  EXPECT_THAT(advice.findings[0].missing, ElementsAre("busy_shop.busy"));
  EXPECT_THAT(advice.findings[0].capture, ElementsAre("--count=doors"));
}

TEST(DerivedRelation, ProblemsArePlaced) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kDear.content;
    text.replace(text.find(from), from.size(), to);
    return test::ProblemsOf({{kDear.path, text}});
  };
  EXPECT_THAT(
      with("key: [shop", "key: [shp"),
      ElementsAre(
          "shop/dear_order.yaml:3:7: dear_order: key 'shp' is none of its columns (did you mean shop?)"));
  EXPECT_THAT(with("type: real", "type: float"),
              ElementsAre("shop/dear_order.yaml:4:65: dear_order: no type 'float'; types: int, real, text"));
  EXPECT_THAT(
      with("price: {type: real}", "price: {type: text}"),
      ElementsAre("shop/dear_order.yaml:5:6: dear_order: column 'price' is declared text and is real"));
  EXPECT_THAT(with("price, item FROM", "price AS cost, item FROM"),
              ElementsAre(HasSubstr("gives a column 'cost' that is not declared"),
                          HasSubstr("gives no column 'price'")));
  EXPECT_THAT(
      with("avg(price)", "avg(prise)"),
      ElementsAre("shop/dear_order.yaml:5:77: dear_order: no such column: prise (did you mean price?)"));
  EXPECT_THAT(
      with("relation: dear_order", "relation: dear_orders"),
      ElementsAre("shop/dear_order.yaml:1:11: dear_order: relation 'dear_orders' is not the file's name "
                  "'dear_order'"));
  EXPECT_THAT(with("doc: Orders above the average price.\n", ""), ElementsAre(HasSubstr("lacks 'doc'")));
  EXPECT_THAT(with("price > (", "price > :least AND price > ("), ElementsAre(HasSubstr("has no params")));
}

TEST(DerivedRelation, CyclesAreNamed) {
  const auto relation = [](const std::string& name, const std::string& from) {
    return RuleFile{"shop/" + name + ".yaml",
                    "relation: " + name +
                        "\ndoc: D\nkey: []\ncolumns: {x: {type: int}}\nsql: SELECT x FROM " + from + "\n"};
  };
  EXPECT_THAT(test::ProblemsOf({relation("a", "b"), relation("b", "c"), relation("c", "a")}),
              ElementsAre("shop/c.yaml:5:6: c: reading forms a cycle: a -> b -> c -> a"));
}

TEST(DerivedRelation, TakesNoNameThatIsTaken) {
  RuleFile taken = kDear;
  taken.path = "shop/orders.yaml";
  taken.content.replace(taken.content.find("dear_order"), 10, "orders");
  EXPECT_THAT(test::ProblemsOf({taken}),
              testing::Contains(HasSubstr("is the name of a relation that is there already")));
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kDear});
  try {
    knowledge.AddLayer(std::vector<RuleFile>{kDear});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(), ElementsAre(HasSubstr("say 'override: true' to replace it")));
  }
}

TEST(DerivedRelation, OverridingOneChecksTheRulesThatReadIt) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kDear, RuleOver("dear", "for: dear_order\nwhen: [price > 10]\n")});
  RuleFile fewer = kDear;
  fewer.content =
      "relation: dear_order\noverride: true\ndoc: D\nkey: [shop]\ncolumns: {shop: {type: int}}\n"
      "sql: SELECT shop FROM orders\n";
  try {
    knowledge.AddLayer(std::vector<RuleFile>{fewer});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(), ElementsAre(HasSubstr("dear: no such column: price")));
  }
}

TEST(DerivedRelation, ThatFailsFailsTheRulesThatReadIt) {
  Shops shops;
  RuleFile wrong = kDear;  // SQLite's types are those of the values
  wrong.content =
      "relation: dear_order\ndoc: D\nkey: [x]\ncolumns: {x: {type: int}}\n"
      "sql: SELECT iif(shop > 1, 'a' || item, shop) AS x FROM orders WHERE number = 1\n";
  const Advice advice = InferAll(shops, {wrong, RuleOver("reads", "for: dear_order\nwhen: [x > 1]\n"),
                                         RuleOver("other", "for: shop\nwhen: [shop = 1]\n")});
  ASSERT_EQ(advice.findings.size(), 2u);
  EXPECT_EQ(advice.findings[0].rule, "other");
  EXPECT_EQ(advice.findings[0].outcome, Outcome::kFired);
  EXPECT_EQ(advice.findings[1].outcome, Outcome::kFailed);
  EXPECT_EQ(advice.findings[1].error, "relation dear_order: column x is declared integer and holds a text");
}

TEST(DerivedRelation, KeysNameOneRow) {
  Shops shops;
  RuleFile twice = kDear;
  twice.content =
      "relation: dear_order\ndoc: D\nkey: [shop]\ncolumns: {shop: {type: int}}\nsql: SELECT shop FROM "
      "orders\n";
  EXPECT_EQ(InferAll(shops, {twice}).relation_errors.at("dear_order"),
            "relation dear_order: several rows have the key shop=1;");
}

TEST(DerivedRelation, NamesThatDifferByCaseAreTheSame) {
  RuleFile shop = {
      "shop/Shop.yaml",
      "relation: Shop\ndoc: D\nkey: []\ncolumns: {a: {type: int}, A: {type: int}}\nsql: SELECT 1 AS a, 2 AS "
      "A\n"};
  EXPECT_THAT(test::ProblemsOf({shop}),
              ElementsAre(HasSubstr("there already is a column 'A'"),
                          HasSubstr("is the name of a relation that is there already")));
}

TEST(DerivedRelation, OverridingOneChecksTheRelationsThatReadIt) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kDear, kDearShop});
  RuleFile fewer = kDear;
  fewer.content =
      "relation: dear_order\noverride: true\ndoc: D\nkey: [number]\ncolumns: {number: {type: int}}\n"
      "sql: SELECT number FROM orders\n";
  try {
    knowledge.AddLayer(std::vector<RuleFile>{fewer});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(), ElementsAre(HasSubstr("dear_shop: no such column: shop")));
  }
}

TEST(DerivedRelation, HasTestsOfItsRows) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kDear, kDearShop});
  const RuleFile tests = {"shop/dear_shop.test.yaml", R"yaml(tests:
  - name: counts them
    given: {orders: [{shop: 1, number: 1, price: 1.0}, {shop: 2, number: 1, price: 9.0}]}
    expect: [{shop: 2, orders: 1}]
  - name: or gives what it reads
    given: {dear_order: [{shop: 5, number: 1}, {shop: 5, number: 2}]}
    expect: [{shop: 5, orders: 3}]
)yaml"};
  const RuleTestReport report = RunRuleTests(knowledge, std::vector<RuleFile>{tests});
  ASSERT_EQ(report.results.size(), 2u);
  EXPECT_TRUE(report.results[0].passed) << report.results[0].diff;
  EXPECT_EQ(report.results[1].diff, "  row 1 orders:\n  - expected 3\n  + actual   2\n");
  EXPECT_THAT(report.untested, ElementsAre(HasSubstr("dear_order: has no test")));
}

TEST(Findings, AreARelationForRulesThatRunLast) {
  Shops shops;
  const Advice advice = InferAll(
      shops,
      {RuleOver("a-late",
                "for: {sql: \"SELECT subject ->> 'shop' AS shop, rule, saves_high_ns FROM finding WHERE "
                "outcome = 'fired'\", key: [shop]}\nwhen: [saves_high_ns > 100]\n"),
       RuleOver("b-later", "for: shop\nwhen: [1]\ngiven: [a-late]\n"),
       RuleOver("busy", "for: shop\nwhen: [busy_share > 0.5]\nsaves: {from: till, high: open_ns}\n"),
       RuleOver("counts", "for: {sql: SELECT count(*) AS n FROM finding, key: []}\nwhen: [n = 2]\n")});
  std::vector<std::string> lines;
  for (const Finding& f : advice.findings)
    lines.push_back(f.rule + " " + std::string(OutcomeName(f.outcome)));
  EXPECT_THAT(lines,
              ElementsAre("busy fired", "busy unknown", "a-late fired", "counts fired", "b-later fired"));
  EXPECT_EQ(advice.findings[2].subject[0].value, Value(int64_t{1}));
  // Who asks afterwards sees those of the late rules too.
  EXPECT_EQ(shops.database.Query("SELECT count(*) FROM finding").rows[0][0], Value(int64_t{5}));
}

TEST(Findings, MayBeGivenInTests) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      RuleOver("late", "for: finding\nwhen: [\"rule = 'busy'\", \"outcome = 'fired'\"]\n")});
  const RuleFile tests = {"shop/late.test.yaml", R"yaml(tests:
  - name: fires
    given: {finding: [{rule: busy, subject: '{}', outcome: fired}, {rule: x, subject: '{}', outcome: fired}]}
    expect: [{subject: {rule: busy}, outcome: fired}, {subject: {rule: x}, outcome: clear}]
)yaml"};
  const RuleTestReport report = RunRuleTests(knowledge, std::vector<RuleFile>{tests});
  EXPECT_TRUE(report.results[0].passed) << report.results[0].diff;
}

}  // namespace
}  // namespace dladvisor
