// SPDX-License-Identifier: Apache-2.0
// Params with a table, relations of one rule alone, counts per step, and what a statement leaves open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/inference/inference.h"
#include "engine/store/lookup_table.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::MakeRule;
using test::ProblemsOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KnowledgeBase KnowledgeOf(const std::string& body) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{MakeRule("x", body)});
  return knowledge;
}

std::vector<std::string> Outcomes(const KnowledgeBase& knowledge) {
  test::Shops shops;
  std::vector<std::string> outcomes;
  for (const Finding& finding : Infer(knowledge, shops.database, {.keep_clear = "*"}).findings)
    outcomes.emplace_back(OutcomeName(finding.outcome));
  return outcomes;
}

Finding FirstFinding(const std::string& body) {
  test::Shops shops;
  return Infer(KnowledgeOf(body), shops.database).findings.at(0);
}

constexpr const char* kByItem = R"yaml(for: orders
params:
  most: {table: {"tea": 5.0, "it*": 30.0}, default: 1.0, doc: Price.}
when: ["price > lookup(:most, item)"]
)yaml";

TEST(ParamTable, GivesANumberByPattern) {
  EXPECT_THAT(Outcomes(KnowledgeOf(kByItem)), ElementsAre("fired", "clear", "unknown"));
}

TEST(ParamTable, HasNoNumberOfWhatFitsNone) {
  EXPECT_THAT(Outcomes(KnowledgeOf("for: orders\nparams: {most: {table: {tea: 5.0}, doc: Price.}}\n"
                                   "when: ['price > lookup(:most, item)']\n")),
              ElementsAre("fired", "unknown", "unknown"));
}

TEST(ParamTable, TakesEntriesOfTheProjectFirst) {
  KnowledgeBase knowledge = KnowledgeOf(kByItem);
  knowledge.Configure(std::vector<RuleSetting>{
      {.id = "x",
       .severity = {},
       .params = {{"most", std::string("t* = 50"), {"dladvisor.yaml", 3, 1, false}, /*is_table=*/true}},
       .place = {}}});
  EXPECT_THAT(Outcomes(knowledge), ElementsAre("clear", "clear", "unknown"));
}

TEST(ParamTable, RefusesASingleNumberOfTheProject) {
  KnowledgeBase knowledge = KnowledgeOf(kByItem);
  try {
    knowledge.Configure(std::vector<RuleSetting>{{.id = "x",
                                                  .severity = {},
                                                  .params = {{"most", 5.0, {"dladvisor.yaml", 3, 1, false}}},
                                                  .place = {}}});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(),
                ElementsAre("dladvisor.yaml:3:1: param 'most' of x must be a mapping (pattern: number)"));
  }
}

TEST(ParamTable, IsReadByLookupAlone) {
  EXPECT_THAT(ProblemsOf({MakeRule("x",
                                   "for: orders\nparams: {most: {table: {tea: 5.0}, doc: D}}\n"
                                   "when: ['price > :most']\n")}),
              ElementsAre(HasSubstr("compares a table of values: lookup(:NAME, TEXT)")));
  EXPECT_THAT(
      ProblemsOf({MakeRule("x",
                           "for: orders\nparams: {most: {default: 5.0, doc: D}}\n"
                           "when: ['price > lookup(:most, item)']\n")}),
      ElementsAre(
          "r/x.yaml:5:17: x: looks a value up in a single number: give the param a 'table' of them by "
          "pattern"));
}

TEST(ParamTable, HasNumbersAndPatterns) {
  const auto with = [](const std::string& table) {
    return ProblemsOf({MakeRule("x", "for: orders\nparams: {most: {table: " + table +
                                         ", doc: D}}\nwhen: ['price > lookup(:most, item)']\n")});
  };
  EXPECT_THAT(with("{tea: much}"),
              ElementsAre(HasSubstr("4:30: x: entries of the table of param 'most' must be numbers")));
  for (const char* pattern : {"a = b", "a =", "a;", "a; b", "; a"})
    EXPECT_THAT(with(std::string("{\"") + pattern + "\": 1}"),
                ElementsAre(HasSubstr("may not hold ';' or ' = ' in a pattern")))
        << pattern;
  EXPECT_THAT(with("{}"), testing::Contains(HasSubstr("must be a mapping (pattern: number)")));
}

TEST(ParamTable, HasTheUnitOfTheParam) {
  EXPECT_THAT(ProblemsOf({MakeRule("x",
                                   "for: shop\nparams: {most: {table: {Ulm: 5}, unit: bytes, doc: D}}\n"
                                   "when: ['open_ns > lookup(:most, town)']\n")}),
              ElementsAre(HasSubstr("compares ns with bytes")));
}

TEST(LookupTables, AreShownInTheirUnit) {
  EXPECT_EQ(LookupTable::Parse("*H100* = 1e+06; * = 3e+06")->Formatted(Unit::kNanoseconds),
            "*H100* = 1.00 ms; * = 3.00 ms");
}

constexpr const char* kWith = R"yaml(for: {sql: SELECT shop FROM sold WHERE sold.number > 1, key: [shop]}
with:
  sold: SELECT shop, count(*) AS number FROM orders GROUP BY shop
  most: SELECT max(number) AS number FROM sold
let: {number: (SELECT number FROM sold WHERE sold.shop = subject.shop)}
when: ['number = (SELECT number FROM most)']
problem: "{{number}}"
evidence: WITH own AS (SELECT * FROM sold WHERE shop = :shop) SELECT own.number FROM own
)yaml";

TEST(HelperRelations, AreReadByEveryStatementOfTheRule) {
  const Finding finding = FirstFinding(kWith);
  EXPECT_EQ(finding.problem, "2");
  EXPECT_EQ(finding.evidence.rows, (std::vector<std::vector<Value>>{{int64_t{2}}}));
  test::Shops shops;
  EXPECT_EQ(shops.database.Query(finding.evidence_sql).rows, finding.evidence.rows);
}

TEST(HelperRelations, AreOfOneRuleAlone) {
  EXPECT_THAT(ProblemsOf({MakeRule("x", kWith),
                          MakeRule("y", "for: shop\nwhen: ['shop IN (SELECT shop FROM sold)']\n")}),
              ElementsAre(HasSubstr("no such relation: sold")));
}

TEST(HelperRelations, CountAsWhatTheyRead) {
  EXPECT_THAT(KnowledgeOf(kWith).rules()[0].reads, ElementsAre("orders"));
}

TEST(HelperRelations, ArePlacedWhereTheyAreWrong) {
  const auto with = [](const std::string& helper, const std::string& name = "sold") {
    return ProblemsOf({MakeRule("x", "for: shop\nwith:\n  " + name + ": " + helper +
                                         "\nwhen: ['shop IN (SELECT shop FROM sold)']\n")});
  };
  EXPECT_THAT(with("SELECT shop FROM orders"), IsEmpty());
  // Once, and not again wherever it is read.
  EXPECT_THAT(with("SELECT shp FROM orders"), ElementsAre(HasSubstr("5:16: x: no such column: shp")));
  EXPECT_THAT(with("SELECT shop FROM orders", "shop"),
              testing::Contains("r/x.yaml:5:9: x: 'shop' in 'with' has the name of a relation"));
  EXPECT_THAT(with("SELECT shop FROM orders\n  other: SELECT 1"),
              ElementsAre("r/x.yaml:6:10: x: 'other' in 'with' is never used"));
  EXPECT_THAT(with("DELETE FROM orders"), testing::Contains(HasSubstr("only SELECT")));
  EXPECT_THAT(with("[a]"), testing::Contains(HasSubstr("'sold' in 'with' must be a SELECT")));
}

TEST(CountPerStep, IsWhatALetSaysOfCountsBySteps) {
  const Finding finding = FirstFinding(
      "for: shop\nparams: {most: {default: 0.5, unit: count/step, doc: D}}\n"
      "let: {rate: {sql: 'ratio(open_ns, 12000000)', unit: count/step}}\n"
      "when: ['rate > :most']\nproblem: '{{rate}}, more than {{most}}'\n");
  EXPECT_EQ(finding.problem, "3 per step, more than 0.50 per step");
  EXPECT_THAT(ProblemsOf({MakeRule("x",
                                   "for: shop\nlet: {rate: {sql: 'open_ns', unit: count/step}}\n"
                                   "when: ['rate > 1']\n")}),
              ElementsAre(HasSubstr("is declared in count/step and is in ns")));
}

TEST(OpenStatements, ArePlacedWhereTheyOpen) {
  const auto with = [](const std::string& condition) {
    return ProblemsOf({MakeRule("x", "for: orders\nwhen:\n  - " + condition + "\n")});
  };
  EXPECT_THAT(with("item = 'tea"), ElementsAre("r/x.yaml:5:12: x: opens a text and does not close it"));
  EXPECT_THAT(with("item = 'it''s'"), IsEmpty());
  EXPECT_THAT(with("item = \"tea"),
              ElementsAre("r/x.yaml:5:12: x: opens a name in quotes and does not close it"));
  EXPECT_THAT(with("price > (1 + (2)"),
              ElementsAre("r/x.yaml:5:13: x: opens a parenthesis and does not close it"));
  EXPECT_THAT(with("price > 1 /* euros"),
              ElementsAre("r/x.yaml:5:15: x: opens a comment and does not close it"));
  EXPECT_THAT(with("price >"), ElementsAre("r/x.yaml:5:5: x: ends before it is complete"));
}

TEST(Numbers, ThatReadersOfYaml11TakeForTextsAreWarnings) {
  const auto warnings = [](const std::string& number) {
    return KnowledgeOf("for: orders\nparams: {most: {default: " + number +
                       ", doc: D}}\nwhen: ['price > :most']\nproblem: '{{price}}'\n")
        .warnings();
  };
  EXPECT_THAT(warnings("1e-9"),
              ElementsAre("r/x.yaml:4:26: x: 1e-9 is a text to readers of YAML 1.1: write 1.0e-9"));
  EXPECT_THAT(warnings("6.5e9"),
              ElementsAre("r/x.yaml:4:26: x: 6.5e9 is a text to readers of YAML 1.1: write 6.5e+9"));
  EXPECT_THAT(warnings("1.0e-9"), IsEmpty());
  EXPECT_THAT(warnings("1000"), IsEmpty());
  EXPECT_THAT(warnings("true"), IsEmpty());
}

TEST(Conditions, ThatAreTheSameForEverySubjectAreWarnings) {
  const auto warnings = [](const std::string& condition) {
    return KnowledgeOf("for: orders\nparams: {most: 1}\nlet: {cheap: price < 1}\nwhen: [cheap, \"" +
                       condition + "\"]\nproblem: '{{price}} {{most}}'\n")
        .warnings();
  };
  const auto expected =
      ElementsAre("r/x.yaml:6:16: x: is the same for every subject: it names neither a column nor a let");
  EXPECT_THAT(warnings("1"), expected);
  EXPECT_THAT(warnings("true"), expected);
  EXPECT_THAT(warnings(":most > 0"), expected);
  EXPECT_THAT(warnings("abs(-1) = 1"), expected);
  EXPECT_THAT(warnings("price > :most"), IsEmpty());
  EXPECT_THAT(warnings("NOT Cheap"), IsEmpty());
  EXPECT_THAT(warnings("(SELECT count(*) FROM shop) > :most"), IsEmpty());
}

TEST(Messages, ANameInSingleBracesIsAWarning) {
  const auto warnings = [](const std::string& problem) {
    return KnowledgeOf("for: orders\nwhen: [price > 1]\nproblem: '" + problem + "'\n").warnings();
  };
  EXPECT_THAT(warnings("{price} of {{item}}"),
              ElementsAre("r/x.yaml:5:11: x: {price} is shown as it is: {{price}} is the value"));
  EXPECT_THAT(warnings("{{price}} {{{price}}} {prices} {{item}}"), IsEmpty());
}

TEST(Messages, AUnitAfterAValueThatBringsItIsAWarning) {
  const auto warnings = [](const std::string& problem) {
    return KnowledgeOf("for: shop\nwhen: [busy_share > 0.5]\nproblem: '" + problem + "'\n").warnings();
  };
  EXPECT_THAT(warnings("{{busy_share}} % of {{open_ns}} ns"),
              ElementsAre("r/x.yaml:5:11: x: {{busy_share}} brings its unit: leave out '%' after it",
                          "r/x.yaml:5:11: x: {{open_ns}} brings its unit: leave out 'ns' after it"));
  EXPECT_THAT(warnings("{{busy_share}} of {{open_ns}}, {{stock_bytes}} in stock"), IsEmpty());
}

}  // namespace
}  // namespace dladvisor
