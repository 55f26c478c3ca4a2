// SPDX-License-Identifier: Apache-2.0
// Loading and checking rules: what a rule author gets wrong, and the message for it.
#include "engine/rules/knowledge_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRule = R"yaml(id: busy-shop
title: The shop is busy
severity: warning
for: shop
params:
  max_busy: {default: 0.5, unit: ratio, doc: Most.}
let:
  idle: {sql: "1 - busy_share", unit: ratio}
when:
  - busy_share > :max_busy
problem: Shop {{shop}} is busy, idle {{idle}}.
recommendation: [Hire.]
evidence: {sql: "SELECT item FROM orders WHERE shop = :shop"}
)yaml";

// The problems of kRule with one piece of its text replaced.
std::vector<std::string> With(const std::string& what, const std::string& with) {
  std::string text = kRule;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), with);
  return test::ProblemsOf({{"shop/busy-shop.yaml", text}});
}

TEST(KnowledgeBase, LoadsARule) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{{"rules/shop/busy-shop.yaml", kRule}});
  ASSERT_EQ(knowledge.rules().size(), 1u);
  const Rule& rule = *knowledge.Find("busy-shop");
  EXPECT_EQ(rule.category, "shop");
  EXPECT_EQ(rule.severity, Severity::kWarning);
  EXPECT_EQ(rule.subject_key, std::vector<std::string>{"shop"});
  EXPECT_EQ(rule.params[0].value, Value(0.5));
  EXPECT_EQ(rule.params[0].unit, Unit::kRatio);
  EXPECT_EQ(knowledge.Find("other"), nullptr);
}

TEST(KnowledgeBase, PlacesTyposAndNamesTheRightWord) {
  EXPECT_THAT(
      With("busy_share > :max_busy", "busy_shar > :max_busy"),
      ElementsAre(
          "shop/busy-shop.yaml:10:5: busy-shop: no such column: busy_shar (did you mean busy_share?)"));
  EXPECT_THAT(
      With("\"1 - busy_share\"", "\"1 - busy_sharee\""),
      ElementsAre(
          "shop/busy-shop.yaml:8:20: busy-shop: no such column: busy_sharee (did you mean busy_share?)"));
  EXPECT_THAT(
      With(":max_busy\n", ":max_bussy\n"),
      testing::Contains(
          "shop/busy-shop.yaml:10:18: busy-shop: no such param: :max_bussy (did you mean max_busy?)"));
  EXPECT_THAT(With("for: shop", "for: shp"),
              ElementsAre("shop/busy-shop.yaml:4:6: busy-shop: no such relation: shp (did you mean shop?)"));
  EXPECT_THAT(With("severity: warning", "severity: warn"),
              ElementsAre(HasSubstr(
                  "shop/busy-shop.yaml:3:11: busy-shop: severity 'warn' is none of error, warning, info")));
  EXPECT_THAT(
      With("title:", "titel:"),
      ElementsAre("shop/busy-shop.yaml:2:1: busy-shop: a rule has no key 'titel' (did you mean title?)"));
  EXPECT_THAT(With("unit: ratio, doc", "unit: ration, doc"),
              ElementsAre(HasSubstr("6:34: busy-shop: no unit 'ration'")));
  EXPECT_THAT(
      With("{{idle}}", "{{idel}}"),
      ElementsAre(HasSubstr("let 'idle' is never used"),
                  "shop/busy-shop.yaml:11:40: busy-shop: no value named 'idel' (did you mean idle?)"));
  EXPECT_THAT(
      With("FROM orders", "FROM oders"),
      ElementsAre("shop/busy-shop.yaml:13:35: busy-shop: no such relation: oders (did you mean orders?)"));
  EXPECT_THAT(With("shop = :shop", "shop = :shp"),
              ElementsAre("shop/busy-shop.yaml:13:55: busy-shop: no such param: :shp (did you mean shop?)"));
  EXPECT_THAT(With("busy_share > :max_busy", "busy_share > :max_busy AND"),
              ElementsAre(HasSubstr("shop/busy-shop.yaml:10:")));
  EXPECT_THAT(With("busy_share > :max_busy", "rnd(busy_share) > :max_busy"),
              ElementsAre("shop/busy-shop.yaml:10:5: busy-shop: no such function: rnd"));
  EXPECT_THAT(With("busy_share > :max_busy", "busy_share > :max_busy AND random() > 0"),
              ElementsAre(HasSubstr("function random is not allowed")));
}

TEST(KnowledgeBase, RefusesWhatIsMissingOrLeftOver) {
  EXPECT_THAT(With("when:\n  - busy_share > :max_busy\n", ""),
              testing::Contains(HasSubstr("a rule lacks 'when'")));
  EXPECT_THAT(With("recommendation: [Hire.]\n", ""), ElementsAre(HasSubstr("a rule lacks 'recommendation'")));
  EXPECT_THAT(With("for: shop\n", ""), ElementsAre(HasSubstr("a rule lacks 'for'")));
  EXPECT_THAT(With("> :max_busy", "> 0.5"),
              ElementsAre(HasSubstr("6:3: busy-shop: param 'max_busy' is never used")));
  EXPECT_THAT(With(", idle {{idle}}", ""), ElementsAre(HasSubstr("let 'idle' is never used")));
  EXPECT_THAT(With("default: 0.5, ", ""), ElementsAre(HasSubstr("param 'max_busy' lacks 'default'")));
  EXPECT_THAT(With("  idle: {sql", "  town: {sql"),
              testing::Contains(HasSubstr("let 'town' has the name of a column of the subject")));
  EXPECT_THAT(
      With("id: busy-shop", "id: buzy-shop"),
      ElementsAre("shop/busy-shop.yaml:1:5: busy-shop: id 'buzy-shop' is not the file's name 'busy-shop'"));
}

TEST(KnowledgeBase, PlacesAValueThatIsNotThereAtItsKey) {
  EXPECT_THAT(With("evidence:", "code:\nevidence:"),
              ElementsAre("shop/busy-shop.yaml:13:1: busy-shop: 'code' must be a text"));
}

TEST(KnowledgeBase, RefusesBrokenYaml) {
  const auto of = [](const std::string& text) { return test::ProblemsOf({{"shop/x.yaml", text}}); };
  EXPECT_THAT(of(""), ElementsAre("shop/x.yaml:1:1: is empty"));
  EXPECT_THAT(of("a: [1\nb: 2"), ElementsAre(HasSubstr("shop/x.yaml:2:")));
  EXPECT_THAT(of("- a\n- b"), ElementsAre(HasSubstr("holds no rule")));
  EXPECT_THAT(of("id: x\nid: y"), ElementsAre("shop/x.yaml:2:1: key 'id' stands twice"));
  EXPECT_THAT(
      of("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"),
      ElementsAre(
          "shop/x.yaml:2:8: aliases (*name) are not allowed: write the value out; a text that begins with * "
          "needs quotes"));
  EXPECT_THAT(of("id: x\n---\nid: y"), ElementsAre(HasSubstr("several YAML documents")));
  EXPECT_FALSE(of(std::string(20'000, '[')).empty());
  EXPECT_FALSE(of(std::string("\0\xff\xfe", 3)).empty());
}

TEST(KnowledgeBase, CollectsTheProblemsOfAllFiles) {
  std::string other = kRule;
  other.replace(other.find("busy-shop"), 9, "calm-shop");
  other.replace(other.find("for: shop"), 9, "for: shpo");
  const auto problems =
      test::ProblemsOf({{"a/busy-shop.yaml", std::string(kRule).replace(
                                                 std::string(kRule).find("busy_share >"), 10, "bsy_share")},
                        {"b/calm-shop.yaml", other},
                        {"c/broken.yaml", "["}});
  EXPECT_EQ(problems.size(), 3u);
}

TEST(KnowledgeBase, RefusesDuplicatesAndNeedsOverride) {
  EXPECT_THAT(test::ProblemsOf({{"a/busy-shop.yaml", kRule}, {"b/busy-shop.yaml", kRule}}),
              ElementsAre("b/busy-shop.yaml:1:1: busy-shop: is already defined in a/busy-shop.yaml"));
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{{"a/busy-shop.yaml", kRule}});
  EXPECT_THROW(knowledge.AddLayer(std::vector<RuleFile>{{"team/busy-shop.yaml", kRule}}), RuleErrors);
  EXPECT_EQ(knowledge.Find("busy-shop")->category, "a");
  knowledge.AddLayer(std::vector<RuleFile>{{"team/busy-shop.yaml", std::string(kRule) + "override: true\n"}});
  EXPECT_EQ(knowledge.rules().size(), 1u);
  EXPECT_EQ(knowledge.Find("busy-shop")->category, "team");
}

TEST(KnowledgeBase, RefusesUnknownRulesAndCycles) {
  const auto rule = [](const std::string& id, const std::string& extra) {
    return RuleFile{
        "r/" + id + ".yaml",
        "id: " + id + "\ntitle: T\nfor: shop\nwhen: [shop > 0]\nproblem: P\nrecommendation: [R]\n" + extra};
  };
  EXPECT_THAT(test::ProblemsOf({rule("calm", ""), rule("busy", "unless: [clam]\n")}),
              ElementsAre("r/busy.yaml:7:10: busy: no such rule: clam (did you mean calm?)"));
  EXPECT_THAT(test::ProblemsOf({rule("a1", "unless: [b1]\n"), rule("b1", "given: [a1]\n")}),
              ElementsAre(HasSubstr("given and unless forms a cycle: a1 -> b1 -> a1")));
  EXPECT_THAT(test::ProblemsOf({rule("a1", "causes: [a1]\n")}),
              ElementsAre(HasSubstr("causes forms a cycle: a1 -> a1")));
  EXPECT_THAT(test::ProblemsOf({rule("a1", "causes: [b1]\n"), rule("b1", "given: [a1]\n")}),
              testing::IsEmpty());
}

TEST(KnowledgeBase, PlacesErrorsInFoldedText) {
  const auto problems =
      With("- busy_share > :max_busy", "- >\n    busy_share > :max_busy\n    AND twn = 'Ulm'");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0], HasSubstr("shop/busy-shop.yaml:10:"));
  EXPECT_THAT(problems[0], HasSubstr("no such column: twn (did you mean town?)\n"));
  EXPECT_THAT(problems[0], HasSubstr("AND twn = 'Ulm'"));
}

}  // namespace
}  // namespace dladvisor
