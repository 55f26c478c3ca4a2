// SPDX-License-Identifier: Apache-2.0
#include "engine/inference/inference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/authoring/rule_test.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::MakeRule;
using test::Shops;
using testing::ElementsAre;
using testing::HasSubstr;

Advice InferOn(Shops& shops, const std::vector<RuleFile>& files) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(files);
  return Infer(knowledge, shops.database, {.keep_clear = "*"});
}

std::vector<std::string> Outcomes(const Advice& advice, const std::string& rule) {
  std::vector<std::string> outcomes;
  for (const Finding& finding : advice.findings)
    if (finding.rule == rule) outcomes.emplace_back(OutcomeName(finding.outcome));
  return outcomes;
}

const RuleFile kBusy = MakeRule("busy", R"yaml(for: shop
params: {least: {default: 0.5, unit: ratio, doc: Least.}}
let:
  idle: {sql: "1 - busy_share", unit: ratio}
  idle_ns: {sql: "idle * open_ns", unit: ns}
when:
  - busy_share > :least
  - open_ns > 0
saves: {from: till, high: "idle_ns", low: "0.5 * idle_ns"}
problem: "Shop {{shop}} in {{town}} is busy {{busy_share}} of {{open_ns}} (least {{least}}), stock {{stock_bytes}}, idle {{idle_ns}}"
recommendation: ["Hire in {{town}}."]
evidence: {sql: "SELECT item, price FROM orders WHERE shop = :shop ORDER BY number"}
references: ["https://example.org"]
)yaml");

TEST(Infer, FiresWithEverythingNeededToExplain) {
  Shops shops;
  const Advice advice = InferOn(shops, {kBusy});
  ASSERT_EQ(advice.findings.size(), 2u);
  const Finding& fired = advice.findings[0];
  EXPECT_EQ(fired.outcome, Outcome::kFired);
  EXPECT_EQ(fired.problem,
            "Shop 1 in Ulm is busy 80.0 % of 36.0 ms (least 50.0 %), stock 1.50 KiB, idle 7.20 ms");
  EXPECT_THAT(fired.recommendation, ElementsAre("Hire in Ulm."));
  EXPECT_NEAR(*fired.saves->high_ns, 7.2e6, 1e-3);
  EXPECT_NEAR(*fired.saves->low_ns, 3.6e6, 1e-3);
  EXPECT_EQ(fired.saves->bucket, "till");
  ASSERT_EQ(fired.why.size(), 2u);
  EXPECT_EQ(fired.why[0].holds, true);
  ASSERT_EQ(fired.why[0].facts.size(), 2u);
  EXPECT_EQ(fired.why[0].facts[0].name, "busy_share");
  EXPECT_EQ(fired.why[0].facts[1].name, "least");
  EXPECT_EQ(fired.evidence.rows.size(), 2u);
  EXPECT_EQ(fired.evidence_sql, "SELECT item, price FROM orders WHERE shop = 1 ORDER BY number");
  EXPECT_EQ(shops.database.Query(fired.evidence_sql).rows, fired.evidence.rows);
}

TEST(Infer, UnknownNamesTheMissingFactAndTheFlag) {
  Shops shops;
  const Advice advice = InferOn(shops, {kBusy});
  const Finding& unknown = advice.findings[1];
  EXPECT_EQ(unknown.outcome, Outcome::kUnknown);
  EXPECT_THAT(unknown.missing, ElementsAre("shop.busy_share"));
  EXPECT_THAT(unknown.capture, ElementsAre("--count=doors"));
  EXPECT_EQ(unknown.problem, "");
  EXPECT_EQ(advice.coverage.decided, 1u);
}

TEST(Infer, UnknownSaysWhatIsNotThere) {
  const auto lacks = [](const std::string& when) {
    Shops shops;
    std::vector<std::string> all;
    for (const Finding& finding :
         InferOn(shops, {MakeRule("asks", "for: shop\nwhen: [\"" + when + "\"]\n")}).findings)
      if (finding.outcome == Outcome::kUnknown) all.push_back(WhyUndecided(finding));
    return all;
  };
  EXPECT_THAT(lacks("busy_share > 0"), ElementsAre("shop.busy_share is unknown"));
  EXPECT_THAT(lacks("(SELECT sum(price) FROM orders WHERE orders.shop = subject.shop AND number = 1) > 1"),
              ElementsAre("orders.price is unknown of number 1"));
  EXPECT_THAT(lacks("shop = 1 AND (SELECT price FROM orders WHERE item = 'milk') > 1"),
              ElementsAre("no row of orders is as the rule asks, or what it divides by is 0"));
  EXPECT_THAT(lacks("shop = 1 AND (SELECT number FROM orders WHERE item = 'milk') > 1"),
              ElementsAre("its SQL has no value here"));
}

// Rows differ in what makes them known: a rule asks for what its own rows need, and is not held up by others.
TEST(Infer, UnknownIsOfTheRowsThatTheRuleNames) {
  const Schema schema = {
      "till",
      "Time by part.",
      {"shop", "part"},
      {{"shop", Type::kInteger, Unit::kNone, "Shop.", false, ""},
       {"part", Type::kText, Unit::kText, "Part.", false, ""},
       {"share", Type::kReal, Unit::kRatio, "Share.", true, "doors clock:idle cameras:theft,loss"},
       {"staff", Type::kInteger, Unit::kNone, "Staff.", true, ""}}};
  Table tills(schema);
  tills.AddRow({int64_t{1}, std::string("busy"), 0.5, Value()});
  tills.AddRow({int64_t{1}, std::string("idle"), Value(), Value()});
  tills.AddRow({int64_t{1}, std::string("loss"), Value(), Value()});
  const auto unknown = [&](const std::string& part, const std::string& value) {
    Database database;
    database.Add(tills);
    KnowledgeBase knowledge({&schema});
    const RuleFile rule = test::MakeRule(
        "asks",
        "for: {sql: \"SELECT shop, " + value +
            " AS value, (SELECT sum(share) FROM till WHERE part = 'busy') AS busy FROM till WHERE part = '" +
            part + "'\", key: [shop]}\nwhen: [value > 0.1]\n");
    knowledge.AddLayer({&rule, 1});
    return Infer(knowledge, database).findings.at(0);
  };
  EXPECT_THAT(unknown("idle", "share").capture, ElementsAre("doors", "clock"));
  EXPECT_THAT(unknown("loss", "share").capture, ElementsAre("doors", "cameras"));
  EXPECT_EQ(WhyUndecided(unknown("loss", "share")), "till.share is unknown of part loss");
  // That the shares of idle and loss are unknown, too, is no reason where neither is asked for.
  EXPECT_EQ(WhyUndecided(unknown("busy", "staff")), "till.staff is unknown of part busy");
}

// Counts the cells that are read.
class CountedReads final : public Relation {
 public:
  explicit CountedReads(const Relation& of) : of_(of) {}
  const Schema& schema() const override { return of_.schema(); }
  size_t rows() const override { return of_.rows(); }
  CellView At(size_t row, size_t column) const override {
    ++reads_;
    return of_.At(row, column);
  }
  size_t reads() const { return reads_; }

 private:
  const Relation& of_;
  mutable size_t reads_ = 0;
};

TEST(Infer, LooksForWhatASubjectLacksAmongItsOwnRows) {
  const Schema shop = {
      "shop", "Shops.", {"shop"}, {{"shop", Type::kInteger, Unit::kNone, "Shop.", false, ""}}};
  const Schema till = {"till",
                       "Time by part.",
                       {"shop", "part"},
                       {{"shop", Type::kInteger, Unit::kNone, "Shop.", false, ""},
                        {"part", Type::kText, Unit::kText, "Part.", false, ""},
                        {"staff", Type::kInteger, Unit::kNone, "Staff.", true, ""}}};
  const auto reads = [&](int64_t count) {
    Table shops(shop), tills(till);
    for (int64_t i = 0; i < count; ++i) {
      shops.AddRow({i});
      if (i % 3 == 0) continue;
      tills.AddRow({i, std::string(i % 3 == 1 ? "idle" : "busy"), Value()});
      tills.AddRow({i, std::string("loss"), int64_t{1}});
    }
    const CountedReads counted(tills);
    Database database;
    database.Add(shops);
    database.Add(counted);
    KnowledgeBase knowledge({&shop, &till});
    const RuleFile rule = MakeRule(
        "asks", "for: shop\nwhen: [\"(SELECT staff FROM till WHERE till.shop = subject.shop) > 1\"]\n");
    knowledge.AddLayer({&rule, 1});
    const Advice advice = Infer(knowledge, database);
    EXPECT_EQ(advice.findings.size(), static_cast<size_t>(count));
    for (size_t i = 0; i < advice.findings.size(); ++i)
      EXPECT_EQ(WhyUndecided(advice.findings[i]),
                i % 3 == 0 ? fmt::format("till has no row of shop {}", i)
                           : fmt::format("till.staff is unknown of part {}", i % 3 == 1 ? "idle" : "busy"));
    return counted.reads();
  };
  EXPECT_LT(reads(900), 15 * reads(90));
}

TEST(Infer, UnknownThroughLetsAndSubQueries) {
  Shops shops;
  const Advice advice = InferOn(shops, {MakeRule("dear", R"yaml(for: shop
let: {most: {sql: "(SELECT max(o.price) FROM orders AS o WHERE o.shop = subject.shop)"}
}
when: [most > 15]
)yaml")});
  EXPECT_THAT(Outcomes(advice, "dear"), ElementsAre("fired", "unknown"));
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("orders.price"));
}

TEST(Infer, OneFalseConditionIsClearWhateverIsUnknown) {
  Shops shops;
  const Advice advice = InferOn(shops, {MakeRule("x", "for: shop\nwhen: [busy_share > 0.1, shop < 2]\n")});
  EXPECT_THAT(Outcomes(advice, "x"), ElementsAre("fired", "clear"));
}

TEST(Infer, QueriesAsSubjects) {
  Shops shops;
  const Advice advice = InferOn(
      shops,
      {MakeRule(
          "many",
          R"yaml(for: {sql: "SELECT item, count(*) AS n FROM orders GROUP BY item ORDER BY item", key: [item]}
when: [n > 1]
problem: "{{n}} orders of {{item}}"
)yaml")});
  EXPECT_THAT(Outcomes(advice, "many"), ElementsAre("clear", "fired"));
  EXPECT_EQ(advice.findings[1].problem, "2 orders of tea");
  EXPECT_EQ(advice.findings[1].subject[0].value, Value("tea"));
}

TEST(Infer, UnlessSuppressesMatchingSubjectsOnly) {
  Shops shops;
  const Advice advice =
      InferOn(shops, {MakeRule("a-first", "for: shop\nwhen: [shop > 0]\nunless: [z-later]\n"),
                      MakeRule("z-later", "for: orders\nwhen: [price > 15]\n")});
  EXPECT_THAT(Outcomes(advice, "a-first"), ElementsAre("suppressed", "fired"));
  const auto suppressed = std::find_if(advice.findings.begin(), advice.findings.end(),
                                       [](const Finding& f) { return f.outcome == Outcome::kSuppressed; });
  EXPECT_EQ(suppressed->suppressed_by, "z-later");
  EXPECT_EQ(suppressed->problem, "P");
}

TEST(Infer, GivenAsksOnlyWhereTheOtherFired) {
  Shops shops;
  const Advice advice = InferOn(shops, {MakeRule("after", "for: shop\nwhen: [shop > 0]\ngiven: [dear]\n"),
                                        MakeRule("dear", "for: orders\nwhen: [price > 15]\n")});
  // Whether the order of shop 2 was dear is unknown, and so is what follows from it.
  EXPECT_THAT(Outcomes(advice, "after"), ElementsAre("fired", "unknown"));
  EXPECT_THAT(advice.findings.back().missing, ElementsAre("orders.price"));
}

TEST(Infer, CausesNestUnderTheCauseThatSavesMost) {
  Shops shops;
  const Advice advice = InferOn(
      shops,
      {MakeRule("small", "for: shop\nwhen: [shop = 1]\ncauses: [symptom]\nsaves: {from: b, high: \"1\"}\n"),
       MakeRule("large", "for: shop\nwhen: [shop > 0]\ncauses: [symptom]\nsaves: {from: b, high: \"5\"}\n"),
       MakeRule("symptom", "for: shop\nwhen: [shop > 0]\n")});
  for (const size_t root : advice.Roots()) EXPECT_NE(advice.findings[root].rule, "symptom");
  ASSERT_EQ(advice.Roots().size(), 3u);
  EXPECT_EQ(advice.findings[advice.Roots()[0]].rule, "large");
  for (const Finding& finding : advice.findings)
    if (finding.rule == "symptom") {
      EXPECT_EQ(advice.findings[*finding.caused_by].rule, "large");
      EXPECT_EQ(advice.findings[*finding.caused_by].subject[0].value, finding.subject[0].value);
    }
}

TEST(Infer, ACauseOfTheSmallerPartOfASymptomDoesNotExplainIt) {
  const auto roots = [](const char* claim) {
    Shops shops;
    return InferOn(shops,
                   {MakeRule("cause", fmt::format("for: shop\nwhen: [shop = 1]\ncauses: [symptom]\n"
                                                  "saves: {{from: b, high: \"{}\"}}\n",
                                                  claim)),
                    MakeRule("symptom", "for: shop\nwhen: [shop = 1]\nsaves: {from: b, high: \"10\"}\n")})
        .Roots()
        .size();
  };
  EXPECT_EQ(roots("5"), 1u);
  EXPECT_EQ(roots("4"), 2u);
}

TEST(Infer, AFailingRuleLeavesTheOthers) {
  Shops shops;
  shops.database.SetStepBudget(5'000'000);
  const Advice advice =
      InferOn(shops, {MakeRule("endless",
                               "for: shop\nwhen: [\"(WITH RECURSIVE n(x) AS (SELECT 1 UNION "
                               "ALL SELECT x + 1 FROM n) SELECT count(*) FROM n) > 0\"]\n"),
                      kBusy});
  EXPECT_THAT(Outcomes(advice, "endless"), ElementsAre("failed"));
  EXPECT_THAT(Outcomes(advice, "busy"), ElementsAre("fired", "unknown"));
  EXPECT_EQ(advice.coverage.rules, 2u);
  EXPECT_EQ(advice.coverage.decided, 1u);
  for (const Finding& finding : advice.findings)
    if (finding.rule == "endless") {
      EXPECT_THAT(finding.error, HasSubstr("was stopped after 5 million steps"));
    }
}

TEST(Infer, NoSubjectsIsNoOutcome) {
  Shops shops;
  const Table empty(test::OrderSchema());
  shops.database.Add(empty);
  const Advice advice = InferOn(shops, {MakeRule("dear", "for: orders\nwhen: [price > 15]\n")});
  EXPECT_TRUE(advice.findings.empty());
  EXPECT_EQ(advice.rules[0].note, "no row in orders");
}

TEST(RuleTests, PassAndFailWithADiff) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kBusy});
  const RuleFile tests{"r/busy.test.yaml", R"yaml(tests:
  - name: fires
    given: {shop: [{shop: 1, town: Ulm, open_ns: 1000, busy_share: 0.75}]}
    expect: [{subject: {shop: 1}, outcome: fired, problem: "busy 75.0 %", recommendation: Ulm, saves_high: 250}]
  - name: clear at the threshold
    given: {shop: [{shop: 1, open_ns: 1000, busy_share: 0.5}]}
    expect: [{outcome: clear}]
  - name: wrong on purpose
    given: {shop: [{shop: 1, open_ns: 1000, busy_share: 0.5}]}
    expect: [{outcome: fired}]
  - name: forgets a subject
    given: {shop: [{shop: 1, open_ns: 1000, busy_share: 0.5}, {shop: 2, open_ns: 1}]}
    expect: [{outcome: clear}]
)yaml"};
  const RuleTestReport report = RunRuleTests(knowledge, std::vector<RuleFile>{tests});
  ASSERT_EQ(report.results.size(), 4u);
  EXPECT_TRUE(report.results[0].passed) << report.results[0].diff;
  EXPECT_TRUE(report.results[1].passed) << report.results[1].diff;
  EXPECT_FALSE(report.results[2].passed);
  EXPECT_THAT(report.results[2].diff, HasSubstr("- expected fired\n  + actual   clear\n      busy_share > "
                                                ":least is false, busy_share = 0.5, least = 0.5"));
  EXPECT_THAT(report.results[3].diff, HasSubstr("subjects:\n  - expected 1\n  + actual   2"));
  EXPECT_THAT(report.untested, ElementsAre("r/busy.yaml:1:1: busy: no test expects unknown"));
}

TEST(RuleTests, RefuseUnknownWords) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{kBusy});
  const auto problem = [&](const std::string& path, const std::string& text) -> std::string {
    return RunRuleTests(knowledge, std::vector<RuleFile>{{path, text}}).problems.at(0);
  };
  EXPECT_EQ(problem("r/bussy.test.yaml", "tests: []"),
            "r/bussy.test.yaml:1:1: no rule 'bussy' to test (did you mean busy?)");
  EXPECT_THAT(problem("r/busy.test.yaml",
                      "tests:\n  - name: x\n    given: {shop: [{busy_shar: 1}]}\n    expect: []\n"),
              HasSubstr("no column shop.busy_shar (did you mean busy_share?)"));
  EXPECT_THAT(
      problem("r/busy.test.yaml", "tests:\n  - name: x\n    given: {shop: [{shop: many}]}\n    expect: []\n"),
      HasSubstr("shop.shop is of type integer"));
  EXPECT_THAT(problem("r/busy.test.yaml", "tests:\n  - name: x\n    given: {}\n    expects: []\n"),
              HasSubstr("a test has no key 'expects' (did you mean expect?)"));
}

}  // namespace
}  // namespace dladvisor
