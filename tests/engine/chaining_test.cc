// SPDX-License-Identifier: Apache-2.0
// Rules that build on rules and layers that build on layers; the same input gives the same advice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using test::MakeRule;
using test::Shops;
using testing::ElementsAre;
using testing::IsEmpty;

KnowledgeBase Load(const std::vector<RuleFile>& files) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(files);
  return knowledge;
}

// "rule key=value,...: outcome" for every finding, in order.
std::vector<std::string> Lines(const Advice& advice) {
  std::vector<std::string> lines;
  for (const Finding& finding : advice.findings) {
    std::string subject;
    for (const NamedValue& key : finding.subject)
      subject += fmt::format(" {}={}", key.name, FormatValue(key.value, key.unit));
    lines.push_back(fmt::format("{}{}: {}", finding.rule, subject, OutcomeName(finding.outcome)));
  }
  return lines;
}

// Everything an Advice holds, as text.
std::string Dump(const Advice& advice) {
  std::string text;
  const auto values = [&](const std::vector<NamedValue>& named) {
    for (const NamedValue& v : named)
      text += fmt::format(" {}={}[{}]", v.name, FormatValue(v.value, v.unit), UnitName(v.unit));
  };
  for (const Finding& f : advice.findings) {
    text += fmt::format("{} {} {} {}", f.rule, f.title, OutcomeName(f.outcome), f.problem.text);
    values(f.subject);
    values(f.lets);
    for (const ConditionTrace& c : f.why) {
      text += fmt::format("\n  {} {}", c.sql, c.holds ? (*c.holds ? "true" : "false") : "unknown");
      values(c.facts);
    }
    text += fmt::format("\n  {} {} {} {} {}\n", fmt::join(f.missing, ","), fmt::join(f.capture, ","),
                        f.suppressed_by, f.evidence_sql, fmt::join(f.causes, ","));
  }
  for (const size_t root : advice.Roots()) text += fmt::format("{},", root);
  return text;
}

TEST(Chaining, ChainsRunInTheirOrderWhateverTheIds) {
  Shops shops;
  // c depends on b, b on a, in reverse order of id; d is silenced by c.
  const KnowledgeBase knowledge = Load({MakeRule("a", "for: shop\nwhen: [1]\nunless: [b]\n"),
                                        MakeRule("b", "for: shop\nwhen: [1]\ngiven: [c]\n"),
                                        MakeRule("c", "for: shop\nwhen: [1]\ngiven: [d]\n"),
                                        MakeRule("d", "for: shop\nwhen: [shop = 2]\n")});
  EXPECT_THAT(Lines(Infer(knowledge, shops.database, {.keep_clear = "*"})),
              ElementsAre("d shop=1: clear", "d shop=2: fired", "c shop=1: clear", "c shop=2: fired",
                          "b shop=1: clear", "b shop=2: fired", "a shop=1: fired", "a shop=2: suppressed"));
}

TEST(Chaining, OnlyWhatFiredSilencesOrAllows) {
  Shops shops;
  // "no-town" is unknown of shop 2, "quiet" itself suppressed there.
  const KnowledgeBase knowledge = Load({MakeRule("busy", "for: shop\nwhen: [busy_share > 0.5]\n"),
                                        MakeRule("quiet", "for: shop\nwhen: [1]\nunless: [all]\n"),
                                        MakeRule("all", "for: shop\nwhen: [shop = 1]\n"),
                                        MakeRule("x1", "for: shop\nwhen: [1]\nunless: [busy]\n"),
                                        MakeRule("x2", "for: shop\nwhen: [1]\ngiven: [busy]\n"),
                                        MakeRule("x3", "for: shop\nwhen: [1]\nunless: [quiet]\n"),
                                        MakeRule("x4", "for: shop\nwhen: [1]\ngiven: [quiet]\n")});
  const std::vector<std::string> lines = Lines(Infer(knowledge, shops.database, {.keep_clear = "*"}));
  const auto of = [&](const std::string& rule) {
    std::vector<std::string> outcomes;
    for (const std::string& line : lines)
      if (line.starts_with(rule + " ")) outcomes.push_back(line.substr(line.find(": ") + 2));
    return outcomes;
  };
  EXPECT_THAT(of("busy"), ElementsAre("fired", "unknown"));
  EXPECT_THAT(of("x1"), ElementsAre("suppressed", "fired"));  // unknown silences nothing
  EXPECT_THAT(of("x2"), ElementsAre("fired", "unknown"));     // and what asks for it is unknown too
  EXPECT_THAT(of("quiet"), ElementsAre("suppressed", "fired"));
  EXPECT_THAT(of("x3"), ElementsAre("fired", "suppressed"));
  EXPECT_THAT(of("x4"), ElementsAre("clear", "fired"));
}

TEST(Chaining, WhatIsGivenAndFailedFailsWhatAsksForIt) {
  Shops shops;
  EXPECT_THAT(Lines(Infer(Load({MakeRule("a", "for: shop\nwhen: [\"town REGEXP ('(' || shop)\"]\n"),
                                MakeRule("b", "for: shop\nwhen: [shop = 1]\ngiven: [a]\n"),
                                MakeRule("c", "for: shop\nwhen: [shop = 1]\nunless: [a]\n")}),
                          shops.database)),
              ElementsAre("a: failed", "b shop=1: failed", "c shop=1: fired"));
}

TEST(Chaining, OneRuleHasOneBudgetForAllItsStatements) {
  Shops shops;
  shops.database.SetStepBudget(1'500'000);
  const Advice advice = Infer(
      Load({MakeRule(
                "a",
                "for: shop\nwhen: [1]\nevidence: WITH RECURSIVE n(x) AS (SELECT :shop UNION ALL SELECT x + 1 "
                "FROM n WHERE x < 80000) SELECT count(*) FROM n\n"),
            MakeRule("b", "for: shop\nwhen: [shop = 1]\n")}),
      shops.database);
  ASSERT_EQ(advice.findings.size(), 3u);
  EXPECT_EQ(advice.findings[0].error, "");
  EXPECT_THAT(advice.findings[1].error, testing::HasSubstr("evidence: was stopped after 1 million steps"));
  EXPECT_EQ(advice.findings[2].outcome, Outcome::kFired);
}

TEST(Chaining, SubjectsMatchByTheKeysThatTheyShare) {
  Shops shops;
  const KnowledgeBase knowledge = Load({
      // No key: matches every subject.
      MakeRule("global", "for: {sql: SELECT count(*) AS n FROM shop, key: []}\nwhen: [n = 2]\n"),
      // The same shop, though its number is a real here.
      MakeRule("real",
               "for: {sql: SELECT shop * 1.0 AS shop FROM shop WHERE shop = 2, key: [shop]}\nwhen: [1]\n"),
      // A key that shops lack: no shared key, matches all.
      MakeRule("item", "for: {sql: SELECT item FROM orders WHERE number = 2, key: [item]}\nwhen: [1]\n"),
      MakeRule("x-global", "for: shop\nwhen: [1]\ngiven: [global]\n"),
      MakeRule("x-item", "for: shop\nwhen: [1]\ngiven: [item]\n"),
      MakeRule("x-order", "for: orders\nwhen: [1]\ngiven: [x-real]\n"),
      MakeRule("x-real", "for: shop\nwhen: [1]\ngiven: [real]\n"),
  });
  EXPECT_THAT(Lines(Infer(knowledge, shops.database, {.keep_clear = "*"})),
              ElementsAre("global: fired", "item item=it's <b>: fired", "real shop=2: fired",
                          "x-global shop=1: fired", "x-global shop=2: fired", "x-item shop=1: fired",
                          "x-item shop=2: fired", "x-real shop=1: clear", "x-real shop=2: fired",
                          "x-order shop=1 number=1: clear", "x-order shop=1 number=2: clear",
                          "x-order shop=2 number=1: fired"));
}

TEST(Chaining, CausesNestOnlyWhatFiredAndOnlyItsOwnSubject) {
  Shops shops;
  const Advice advice = Infer(Load({MakeRule("a-symptom", "for: orders\nwhen: [number = 1]\n"),
                                    MakeRule("b-cause", "for: shop\nwhen: [shop = 2]\ncauses: [a-symptom]\n"),
                                    MakeRule("c-root", "for: shop\nwhen: [shop = 2]\ncauses: [b-cause]\n")}),
                              shops.database, {.keep_clear = "*"});
  ASSERT_EQ(advice.findings.size(), 7u);
  EXPECT_EQ(advice.findings[0].caused_by, std::nullopt);  // shop 1: no cause fired
  EXPECT_EQ(advice.findings[1].caused_by, std::nullopt);  // clear
  EXPECT_EQ(advice.findings[2].caused_by, 4u);
  EXPECT_EQ(advice.findings[4].caused_by, 6u);
  EXPECT_THAT(advice.findings[4].causes, ElementsAre(2u));
  EXPECT_THAT(advice.findings[6].causes, ElementsAre(4u));
  EXPECT_THAT(advice.Roots(), ElementsAre(0u, 6u));
}

TEST(Chaining, RootsComeInOrderOfSeveritySavingAndConfidence) {
  Shops shops;
  const auto one = [](const std::string& id, const std::string& more) {
    return MakeRule(id, "for: {sql: SELECT 1 AS x, key: []}\nwhen: [x]\n" + more);
  };
  const Advice advice = Infer(
      Load({one("a-info", "severity: info\nsaves: {from: b, high: '9'}\n"),
            one("b-less", "saves: {from: b, high: '1'}\n"), one("c-more", "saves: {from: b, high: '2'}\n"),
            one("d-none", ""), one("e-zero", "saves: {from: b, high: '0'}\n"),
            one("f-null", "saves: {from: b, high: 'NULL'}\nconfidence: high\n"),
            one("g-error", "severity: error\n"),
            one("h-sure", "saves: {from: b, high: '2'}\nconfidence: high\n")}),
      shops.database, {.keep_clear = "*"});
  std::vector<std::string> rules;
  for (const size_t root : advice.Roots()) rules.push_back(advice.findings[root].rule);
  EXPECT_THAT(rules,
              ElementsAre("g-error", "h-sure", "c-more", "b-less", "e-zero", "f-null", "d-none", "a-info"));
}

TEST(Chaining, TheOrderOfFilesChangesNothing) {
  Shops shops;
  std::vector<RuleFile> files = {
      MakeRule("a", "for: shop\nlet: {x: busy_share * 2}\nwhen: [x > 1]\nunless: [d]\ncauses: [b]\n"),
      MakeRule("b", "for: orders\nwhen: [price > 5]\nevidence: SELECT * FROM shop WHERE shop = :shop\n"),
      MakeRule("c",
               "for: shop\nwhen: [\"(SELECT max(price) FROM orders o WHERE o.shop = subject.shop) > 1\"]\n"),
      MakeRule("d", "for: shop\nwhen: [stock_bytes > 9999]\n"),
      MakeRule("e", "for: orders\nwhen: [1]\ngiven: [c, b]\n")};
  const std::string first = Dump(Infer(Load(files), shops.database, {.keep_clear = "*"}));
  std::mt19937 random(5);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(files.begin(), files.end(), random);
    EXPECT_EQ(Dump(Infer(Load(files), shops.database, {.keep_clear = "*"})), first);
  }
}

TEST(Layers, OverrideReplacesTheWholeRuleAndKeepsReferences) {
  Shops shops;
  KnowledgeBase knowledge =
      Load({MakeRule("a", "for: shop\nwhen: [1]\nunless: [b]\n"), MakeRule("b", "for: shop\nwhen: [1]\n")});
  knowledge.AddLayer(std::vector<RuleFile>{{"team/b.yaml",
                                            "id: b\ntitle: Ours\nfor: orders\nwhen: [price > 15]\nproblem: "
                                            "Q\nrecommendation: [S]\noverride: true\n"}});
  EXPECT_EQ(knowledge.rules().size(), 2u);
  EXPECT_EQ(knowledge.Find("b")->category, "team");
  EXPECT_EQ(knowledge.Find("b")->title, "Ours");
  EXPECT_THAT(Lines(Infer(knowledge, shops.database, {.keep_clear = "*"})),
              ElementsAre("b shop=1 number=1: clear", "b shop=1 number=2: fired",
                          "b shop=2 number=1: unknown", "a shop=1: suppressed", "a shop=2: fired"));
}

TEST(Layers, ALaterLayerMayNameRulesOfAnEarlierOne) {
  KnowledgeBase knowledge = Load({MakeRule("a", "for: shop\nwhen: [1]\n")});
  knowledge.AddLayer(std::vector<RuleFile>{MakeRule("b", "for: shop\nwhen: [1]\nunless: [a]\n")});
  EXPECT_EQ(knowledge.rules().size(), 2u);
}

TEST(Layers, ABrokenLayerLeavesTheKnowledgeAsItWas) {
  KnowledgeBase knowledge = Load({MakeRule("a", "for: shop\nwhen: [1]\n")});
  EXPECT_THROW(knowledge.AddLayer(std::vector<RuleFile>{MakeRule("b", "for: shop\nwhen: [1]\n"),
                                                        MakeRule("c", "for: shp\nwhen: [1]\n")}),
               RuleErrors);
  EXPECT_EQ(knowledge.rules().size(), 1u);
  // An override may close a cycle with a rule of an earlier layer.
  knowledge.AddLayer(std::vector<RuleFile>{MakeRule("b", "for: shop\nwhen: [1]\nunless: [a]\n")});
  try {
    knowledge.AddLayer(
        std::vector<RuleFile>{MakeRule("a", "for: shop\nwhen: [1]\nunless: [b]\noverride: true\n")});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(),
                ElementsAre(testing::HasSubstr("given and unless forms a cycle: a -> b -> a")));
  }
  EXPECT_THAT(knowledge.Find("a")->unless, IsEmpty());
}

}  // namespace
}  // namespace dladvisor
