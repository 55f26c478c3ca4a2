// SPDX-License-Identifier: Apache-2.0
// What the expressions of a rule mean: truth, what is missing, which facts a condition shows, params.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/inference/inference.h"
#include "engine/model/message.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::Shops;
using testing::ElementsAre;
using testing::IsEmpty;

Advice Judge(const std::string& body, Shops& shops) {
  std::string text = "id: x\ntitle: T\n" + body;
  if (body.find("for:") == std::string::npos) text += "for: shop\n";
  if (body.find("problem:") == std::string::npos) text += "problem: P\n";
  if (body.find("recommendation:") == std::string::npos) text += "recommendation: R\n";
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{{"r/x.yaml", text}});
  return Infer(knowledge, shops.database, {.keep_clear = "*"});
}

Advice Judge(const std::string& body) {
  Shops shops;
  return Judge(body, shops);
}

std::vector<std::string> Outcomes(const Advice& advice) {
  std::vector<std::string> outcomes;
  for (const Finding& finding : advice.findings) outcomes.emplace_back(OutcomeName(finding.outcome));
  return outcomes;
}

std::vector<std::string> FactNames(const ConditionTrace& condition) {
  std::vector<std::string> names;
  for (const NamedValue& fact : condition.facts) names.push_back(fact.name);
  return names;
}

TEST(Truth, IsSqls) {
  EXPECT_THAT(Outcomes(Judge("when: [\"CAST('0.5' AS NUMERIC)\"]\n")), ElementsAre("fired", "fired"));
  EXPECT_THAT(Outcomes(Judge("when: [\"CAST('0.0' AS NUMERIC)\"]\n")), ElementsAre("clear", "clear"));
  EXPECT_THAT(Outcomes(Judge("when: [\"CAST('1' AS NUMERIC)\"]\n")), ElementsAre("fired", "fired"));
  EXPECT_THAT(Outcomes(Judge("when: [\"CAST('word' AS NUMERIC)\"]\n")), ElementsAre("clear", "clear"));
  EXPECT_THAT(Outcomes(Judge("when: ['NULL']\n")), ElementsAre("unknown", "unknown"));
  EXPECT_THAT(Outcomes(Judge("when: ['NULL OR shop = 1']\n")), ElementsAre("fired", "unknown"));
  EXPECT_THAT(Outcomes(Judge("when: ['NULL AND shop = 1']\n")), ElementsAre("unknown", "clear"));
  EXPECT_THAT(Outcomes(Judge("when: [shop = 1 -- only the first\n  ]\n")), ElementsAre("fired", "clear"));
}

TEST(Truth, OfEveryCombinationOfConditions) {
  const std::vector<std::string> values = {"1", "0", "NULL"};
  for (const std::string& a : values)
    for (const std::string& b : values)
      for (const std::string& c : values) {
        const std::string expected = a == "0" || b == "0" || c == "0"            ? "clear"
                                     : a == "NULL" || b == "NULL" || c == "NULL" ? "unknown"
                                                                                 : "fired";
        const Advice advice = Judge(fmt::format("when: ['{}', '{}', '{}']\n", a, b, c));
        EXPECT_THAT(Outcomes(advice), ElementsAre(expected, expected)) << a << b << c;
        const auto& why = advice.findings[0].why;
        ASSERT_EQ(why.size(), 3u);
        EXPECT_EQ(why[1].holds, b == "NULL" ? std::nullopt : std::optional(b == "1"));
      }
}

TEST(Facts, OfAConditionAreWhatItNames) {
  const Advice advice = Judge(R"yaml(params: {max: 1, max_busy: {default: 0.5, unit: ratio}}
let: {idle: {sql: 1 - busy_share, unit: ratio}, idler: idle * 2}
when:
  - idler < 2 AND town <> 'busy_share :max' AND shop = :max
  - BUSY_SHARE > :max_busy -- open_ns
  - subject.idle < 1
)yaml");
  const auto& why = advice.findings[0].why;
  EXPECT_THAT(FactNames(why[0]), ElementsAre("shop", "town", "idler", "idle", "busy_share", "max"));
  EXPECT_THAT(FactNames(why[1]), ElementsAre("busy_share", "max_busy"));
  EXPECT_THAT(FactNames(why[2]), ElementsAre("idle", "busy_share"));
  EXPECT_EQ(why[1].facts[1].unit, Unit::kRatio);
  EXPECT_EQ(why[1].facts[0].unit, Unit::kRatio);
  EXPECT_NEAR(*AsNumber(why[2].facts[0].value), 0.2, 1e-12);
}

TEST(Missing, NamesFactsThroughLetsOfLets) {
  const Advice advice = Judge("let: {a: busy_share * open_ns, b: a * 2, c: b + open_ns}\nwhen: [c > 0]\n");
  EXPECT_THAT(Outcomes(advice), ElementsAre("fired", "unknown"));
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("shop.busy_share"));
}

TEST(Missing, NamesFactsOfQualifiedLetsAndColumns) {
  const Advice advice = Judge("let: {a: busy_share * 2}\nwhen: [subject.a > 0 AND subject.town <> '']\n");
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("shop.busy_share", "shop.town"));
  EXPECT_THAT(advice.findings[1].capture, ElementsAre("--count=doors"));
}

TEST(Missing, OnlyOfTheConditionsThatAreUnknown) {
  const Advice advice = Judge("when: [town IS NULL OR shop > 0, busy_share > 0]\n");
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("shop.busy_share"));
}

TEST(Missing, NothingWhereEveryFactIsThere) {
  const Advice advice = Judge("when: ['ratio(open_ns, 0) > 1']\n");
  EXPECT_THAT(Outcomes(advice), ElementsAre("unknown", "unknown"));
  EXPECT_THAT(advice.findings[0].missing, IsEmpty());
  EXPECT_THAT(advice.findings[0].capture, IsEmpty());
}

TEST(Missing, NamesFactsOfAnEmptyRelation) {
  Shops shops;
  const Table none(test::OrderSchema());
  shops.database.Add(none);
  const Advice advice = Judge("when: ['(SELECT sum(number) FROM orders) > 1']\n", shops);
  EXPECT_THAT(Outcomes(advice), ElementsAre("unknown", "unknown"));
  EXPECT_THAT(advice.findings[0].missing, ElementsAre("orders.number"));
}

TEST(Missing, NothingOfLetsThatAreKnown) {
  const Advice advice =
      Judge("let: {busy: 'coalesce(busy_share, 0)'}\nwhen: [\"busy >= 0 AND town <> 'Rome'\"]\n");
  EXPECT_THAT(Outcomes(advice), ElementsAre("fired", "unknown"));
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("shop.town"));
}

TEST(Missing, NoEmptyRelationWhereAFactThatIsThereIsNull) {
  Shops shops;
  const Table none(test::OrderSchema());
  shops.database.Add(none);
  const Advice advice = Judge("when: ['busy_share > (SELECT max(number) FROM orders)']\n", shops);
  EXPECT_THAT(Outcomes(advice), ElementsAre("unknown", "unknown"));
  EXPECT_THAT(advice.findings[0].missing, ElementsAre("orders.number"));
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("shop.busy_share"));
}

// Two lets whose queries have columns of each other's names do not depend on each other.
TEST(Missing, LetsNamedAsColumnsOfOtherRelationsEnd) {
  const Advice advice = Judge(R"yaml(let:
  price: (SELECT max(orders.number) + NULL FROM orders)
  number: (SELECT max(orders.price) FROM orders WHERE orders.shop = subject.shop)
when: [price > 1, number > 1]
)yaml");
  EXPECT_THAT(Outcomes(advice), ElementsAre("unknown", "unknown"));
  EXPECT_THAT(advice.findings[1].missing, ElementsAre("orders.price"));
}

TEST(Params, HaveTheTypesThatTheyAreWrittenIn) {
  const Advice advice =
      Judge(R"yaml(params: {i: 3, r: 3.0, e: 1e3, n: -2, t: tea, q: '3', yes: true, no: false, word: nan}
when: [":i + :r + :e + :n + :q + :yes + :no > 0 OR :t || :word > ''"]
problem: "{{i}} {{r}} {{e}} {{n}} {{t}} {{q}} {{yes}} {{no}} {{word}}"
)yaml");
  ASSERT_FALSE(advice.findings.empty());
  std::vector<std::string> values;
  for (const NamedValue& fact : advice.findings[0].why[0].facts) {
    const char* type = std::holds_alternative<int64_t>(fact.value)       ? "integer "
                       : std::holds_alternative<double>(fact.value)      ? "real "
                       : std::holds_alternative<std::string>(fact.value) ? "text "
                                                                         : "null ";
    values.push_back(type + FormatValue(fact.value, fact.unit));
  }
  EXPECT_THAT(values, ElementsAre("integer 3", "real 3", "real 1000", "integer -2", "text tea", "text 3",
                                  "integer 1", "integer 0", "text nan"));
  EXPECT_EQ(advice.findings[0].problem, "3 3 1000 -2 tea 3 1 0 nan");
}

TEST(Params, MayBeNamedInTheQueryOverSubjects) {
  const Advice advice = Judge(
      "params: {least: 2}\nfor: {sql: 'SELECT shop, open_ns FROM shop WHERE shop >= :least', key: "
      "[shop]}\nwhen: "
      "[1]\nproblem: '{{shop}} {{open_ns}}'\n");
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].problem, "2 18.0 ms");
}

TEST(Message, PrintsByUnit) {
  const Advice advice = Judge(R"yaml(params:
  hot: {default: 71.6, unit: celsius}
  power: {default: 299.5, unit: watts}
  clock: {default: 1410000000, unit: hertz}
  rate: {default: 1.2e9, unit: bytes/s}
  many: {default: 1234567, unit: count}
  plain: 1234567
let:
  share: {sql: busy_share / 3, unit: ratio}
  none: {sql: "NULL", unit: ns}
  half_ns: open_ns / 2.0
  words: iif(shop = 1, 'the first', 'another')
when: [1]
problem: "{{town}}|{{share}}|{{none}}|{{half_ns}}|{{words}}|{{hot}}|{{power}}|{{clock}}|{{rate}}|{{many}}|{{plain}}|{{{ town }}}|{{& town}}"
)yaml");
  EXPECT_EQ(advice.findings[0].problem,
            "Ulm|26.7 %|unknown|18.0 ms|the first|72 °C|300 W|1.41 GHz|1.20 GB/s|1,234,567|1234567|Ulm|Ulm");
  EXPECT_THAT(advice.findings[1].problem, testing::StartsWith("unknown|unknown|unknown|9.00 ms|another|"));
}

TEST(Message, HasSectionsForValuesThatAreTrue) {
  const Advice advice = Judge(R"yaml(let:
  first: shop = 1
  none: {sql: "NULL"}
  word: iif(shop = 1, 'x', '')
when: [1]
problem: "{{#first}}yes{{/first}}{{^first}}no{{/first}} {{#none}}some{{/none}}{{^none}}none{{/none}} {{#word}}w{{/word}}"
recommendation: ["{{#first}}Only the first.{{/first}}", "{{^none}}All.{{/none}}"]
)yaml");
  EXPECT_EQ(advice.findings[0].problem, "yes none w");
  EXPECT_EQ(advice.findings[0].recommendation, (std::vector<RenderedMessage>{"Only the first.", "All."}));
  EXPECT_EQ(advice.findings[1].problem, "no none ");
  EXPECT_EQ(advice.findings[1].recommendation, std::vector<RenderedMessage>{"All."});
}

TEST(Message, OfCodeKeepsItsLines) {
  const Advice advice = Judge(R"yaml(params:
  least: {default: 1, unit: count, doc: "Shops below which nothing is said."}
let:
  first: shop = 1
when: ["shop >= :least"]
problem: "{{shop}}"
code: |
  for x in y:
      f(x){{#first}}   # {{shop}}{{/first}}
)yaml");
  EXPECT_EQ(advice.findings[0].code, "for x in y:\n    f(x)   # 1");
  EXPECT_EQ(advice.findings[1].code, "for x in y:\n    f(x)");
  EXPECT_EQ(advice.findings[0].why[0].compared[0].limit, "Shops below which nothing is said.");
}

TEST(Message, RefusesSectionsNestedWithoutEnd) {
  const auto nested = [](int depth) {
    std::string text = "{{n}}";
    for (int i = 0; i < depth; ++i) text = "{{#yes}}" + text + "{{/yes}}";
    return text;
  };
  const std::vector<NamedValue> scope = {{"n", int64_t{3}, Unit::kNone}, {"yes", int64_t{1}, Unit::kNone}};
  EXPECT_EQ(RenderMessage(nested(16), scope), "3");
  EXPECT_EQ(RenderMessage("{{#yes}}a{{/yes}}{{^yes}}b{{/yes}}" + nested(15), scope), "a3");
  EXPECT_THROW(RenderMessage(nested(17), scope), Error);
  EXPECT_THROW(RenderMessage(nested(10'000), scope), Error);
}

TEST(Message, SaysTimesOfOnePeriodAndWhereValuesStand) {
  const std::vector<NamedValue> scope = {{"lost_ns", 30e6, Unit::kNanoseconds},
                                         {"rank", int64_t{3}, Unit::kNone}};
  const std::string words = "rank {{rank}} loses {{lost_ns/step}}, {{lost_ns/step}} of {{lost_ns}}";
  const RenderedMessage message = RenderMessage(words, scope, {.periods = 3});
  EXPECT_EQ(message.text, "rank 3 loses 10.0 ms per step, 10.0 ms of 30.0 ms");
  ASSERT_EQ(message.values.size(), 4u);
  EXPECT_EQ(message.text.substr(message.values[1].at, message.values[1].length), "10.0 ms per step");
  EXPECT_EQ(message.values[1].value.name, "lost_ns");
  EXPECT_EQ(AsNumber(message.values[1].value.value), 10e6);
  EXPECT_TRUE(message.values[1].per_period);
  EXPECT_FALSE(message.values[3].per_period);
  // Where no period is known, and of a value that is unknown.
  EXPECT_EQ(RenderMessage(words, scope).text, "rank 3 loses 30.0 ms, 30.0 ms of 30.0 ms");
  EXPECT_EQ(RenderMessage("{{none/step}}", std::vector<NamedValue>{{"none", {}, Unit::kNanoseconds}},
                          {.periods = 3})
                .text,
            "unknown");
}

TEST(Message, NamesNoNumberWhereThereIsOne) {
  const std::vector<NamedValue> scope = {{"rank", int64_t{3}, Unit::kNone},
                                         {"device", int64_t{0}, Unit::kNone}};
  const std::string words =
      "{{GPU device}} of {{rank rank}} waits for the host of {{rank rank}}. {{Rank rank}} loads on {{rank "
      "rank}}'s disk, for {{GPU device}} of {{rank rank}}{{#rank}} (node 1){{/rank}}.";
  const Wording one = {.single = {{"gpu", {"the GPU", false}}, {"rank", {"the program", true}}}};
  const RenderedMessage message = RenderMessage(words, scope, one);
  EXPECT_EQ(message.text,
            "The GPU waits for the host. The program loads on the program's disk, for the GPU (node 1).");
  EXPECT_TRUE(message.values.empty());
  EXPECT_EQ(RenderMessage(words, scope, {.single = {{"rank", {"the program", true}}}}).FirstSentence(),
            "GPU 0 waits for the host. ");
  EXPECT_EQ(RenderMessage(words, scope).FirstSentence(), "GPU 0 of rank 3 waits for the host of rank 3. ");
}

TEST(Message, KnowsItsSentencesFromItsOwnWords) {
  const std::vector<NamedValue> scope = {{"file", std::string("a. b"), Unit::kText},
                                         {"share", 0.035, Unit::kRatio},
                                         {"device", int64_t{3}, Unit::kNone}};
  const RenderedMessage message = RenderMessage(
      "Do it, e.g. in {{file}} for {{share}}. {{GPU device}} waits.{{#device}} Now.{{/device}}", scope);
  EXPECT_EQ(message.text, "Do it, e.g. in a. b for 3.5 %. GPU 3 waits. Now.");
  EXPECT_EQ(message.FirstSentence(), "Do it, e.g. in a. b for 3.5 %. ");
  EXPECT_EQ(message.AfterFirstSentence(), "GPU 3 waits. Now.");
  EXPECT_TRUE(message.BeginsSentence(message.values[2].at));
  EXPECT_FALSE(message.BeginsSentence(message.values[1].at));
  EXPECT_EQ(RenderMessage("Takes 3.5 ms.", scope).AfterFirstSentence(), "");
}

TEST(Message, EscapesNothing) {
  const Advice advice = Judge("for: orders\nwhen: [number = 2]\nproblem: \"{{item}} & {{{item}}}\"\n");
  EXPECT_EQ(advice.findings[1].problem, "it's <b> & it's <b>");
}

TEST(Evidence, BindsColumnsLetsAndParamsAndRunsAgain) {
  Shops shops;
  const Advice advice = Judge(R"yaml(params: {half: 2.0, kind: "it's <b>", least: -1}
let: {twice: shop * 2}
when: [shop = 1]
evidence: |
  -- the shop's orders; :shop stays in this comment
  SELECT number, :twice AS twice, 9 / :half AS h, 3 -:least AS four, ':kind' AS text
  FROM orders WHERE shop = :shop AND item = :kind
)yaml",
                              shops);
  const Finding& fired = advice.findings[0];
  ASSERT_EQ(fired.evidence.rows.size(), 1u);
  EXPECT_THAT(fired.evidence.rows[0], ElementsAre(Value(int64_t{2}), Value(int64_t{2}), Value(4.5),
                                                  Value(int64_t{4}), Value(std::string(":kind"))));
  EXPECT_EQ(shops.database.Query(fired.evidence_sql).rows, fired.evidence.rows) << fired.evidence_sql;
  EXPECT_TRUE(advice.findings[1].evidence_sql.empty());  // clear
}

TEST(Evidence, IsLimited) {
  Shops shops;
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/x.yaml",
       "id: x\ntitle: T\nfor: shop\nwhen: [shop = 1]\nproblem: P\nrecommendation: R\nevidence: SELECT * "
       "FROM orders\n"}});
  EXPECT_EQ(Infer(knowledge, shops.database, {.max_evidence_rows = 2, .keep_clear = {}})
                .findings[0]
                .evidence.rows.size(),
            2u);
  EXPECT_EQ(Infer(knowledge, shops.database).findings[0].evidence.rows.size(), 3u);
}

TEST(Saves, UnknownOrNegativeClaimsNothing) {
  const Advice advice = Judge("when: [1]\nsaves: {from: till, high: busy_share * open_ns, low: -open_ns}\n");
  EXPECT_NEAR(*advice.findings[0].saves->high_ns, 28'800'000, 1e-3);
  EXPECT_EQ(advice.findings[0].saves->low_ns, 0);
  EXPECT_EQ(advice.findings[1].saves->high_ns, std::nullopt);
  const Advice open = Judge("when: [1]\nsaves: {from: till, high: '1e999'}\n");
  EXPECT_EQ(open.findings[0].saves->high_ns, std::nullopt);
  EXPECT_EQ(open.findings[0].saves->low_ns, std::nullopt);
}

TEST(Failed, SaysWhyAndLeavesTheRest) {
  const Advice advice = Judge("when: [\"town REGEXP '(' || '' OR shop = 2\"]\n");
  ASSERT_EQ(advice.findings.size(), 1u);
  EXPECT_EQ(advice.findings[0].outcome, Outcome::kFailed);
  EXPECT_EQ(advice.findings[0].error, "regexp: missing ): (");
  EXPECT_EQ(advice.rules[0].failed, 1u);
  EXPECT_EQ(advice.coverage.decided, 0u);
  EXPECT_THAT(advice.Roots(), IsEmpty());
}

}  // namespace
}  // namespace dladvisor
