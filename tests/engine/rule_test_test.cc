// SPDX-License-Identifier: Apache-2.0
// Rule tests as data: what passes, the diff of what does not, what is reported as untested, what is refused.
#include "engine/authoring/rule_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KnowledgeBase Rules() {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/busy.yaml", R"yaml(id: busy
title: T
for: shop
params: {least: {default: 0.5, unit: ratio}}
when: [busy_share > :least]
unless: [empty]
saves: {from: till, high: open_ns, low: open_ns / 3.0}
problem: Shop {{shop}} is busy {{busy_share}}.
recommendation: [Hire., Or close.]
)yaml"},
      {"r/empty.yaml",
       "id: empty\ntitle: T\nfor: shop\nwhen: [stock_bytes = 0]\nproblem: P\nrecommendation: R\n"},
      {"r/many.yaml", R"yaml(id: many
title: T
for: {sql: "SELECT shop, count(*) AS n FROM orders GROUP BY shop", key: [shop]}
when: [n > 1]
problem: P
recommendation: R
)yaml"}});
  return knowledge;
}

RuleTestReport RunTests(const std::string& id, const std::string& yaml) {
  return RunRuleTests(Rules(), std::vector<RuleFile>{{"r/" + id + ".test.yaml", yaml}});
}

// The diff of a test of `busy` on one busy shop that expects `expectation`.
std::string Diff(const std::string& expectation) {
  const RuleTestReport report = RunTests("busy",
                                         "tests:\n  - name: one\n    given: {shop: [{shop: 1, open_ns: 300, "
                                         "busy_share: 0.75, stock_bytes: 1}]}\n"
                                         "    expect: [" +
                                             expectation + "]\n");
  EXPECT_EQ(report.results.size(), 1u);
  EXPECT_EQ(report.results[0].passed, report.results[0].diff.empty());
  return report.results[0].diff;
}

TEST(RuleTest, EveryKeyOfAnExpectationCanPass) {
  EXPECT_EQ(Diff("{outcome: fired}"), "");
  EXPECT_EQ(Diff("{subject: {shop: 1}, outcome: fired, problem: busy 75.0 %., recommendation: close, "
                 "saves_high: 300, "
                 "saves_low: 100.00000000001}"),
            "");
}

TEST(RuleTest, AnEmptyTextExpectsNothing) {
  EXPECT_THAT(
      RunTests("busy",
               "tests: [{name: one, given: {}, expect: [{outcome: fired, problem: '', recommendation: "
               "''}]}]")
          .problems,
      ElementsAre(HasSubstr("'problem' is empty"), HasSubstr("'recommendation' is empty")));
}

TEST(RuleTest, AMissingFactIsAColumnOfARelation) {
  const auto problems = [](const std::string& missing) {
    return RunTests("busy",
                    "tests: [{name: one, given: {}, expect: [{outcome: unknown, missing: " + missing + "}]}]")
        .problems;
  };
  EXPECT_THAT(problems("[shop.town, shop]"), testing::IsEmpty());
  EXPECT_THAT(problems("[busy_share, shop.twon, shp.town, nothing]"),
              ElementsAre(HasSubstr("'busy_share' is a column without its relation, as in shop.busy_share"),
                          HasSubstr("no column shop.twon (did you mean town?)"),
                          HasSubstr("no such relation: shp (did you mean shop?)"),
                          HasSubstr("no such relation: nothing")));
}

TEST(RuleTest, NumbersMayBeRanges) {
  EXPECT_EQ(Diff("{outcome: fired, saves_high: 299..301, saves_low: 100..100}"), "");
  EXPECT_EQ(Diff("{outcome: fired, saves_high: 301..302}"),
            "  saves_high:\n  - expected 301..302\n  + actual   300\n");
  EXPECT_EQ(Diff("{outcome: fired, saves_high: none}"),
            "  saves_high:\n  - expected none\n  + actual   300\n");
  EXPECT_THAT(
      RunTests("busy",
               "tests: [{name: one, given: {}, expect: [{outcome: fired, saves_low: 3..2}]}, {name: one, "
               "given: {}, expect: []}]")
          .problems,
      ElementsAre(HasSubstr("'saves_low' must be a number, a range such as 0.3..0.4, or none"),
                  HasSubstr("there already is a test 'one'")));
}

TEST(RuleTest, AKeyNamesOneRow) {
  const auto problems = [](const std::string& rows) {
    return RunTests("busy", "tests: [{name: one, given: {shop: [" + rows + "]}, expect: []}]").problems;
  };
  EXPECT_THAT(problems("{shop: 1, busy_share: 0.1}, {shop: 2}, {shop: 1, busy_share: 0.2}"),
              ElementsAre(HasSubstr("there already is a row of shop with shop 1: they are its key")));
  EXPECT_THAT(problems("{busy_share: 0.1}, {busy_share: 0.2}"), testing::IsEmpty());
}

TEST(RuleTest, ARuleThatFailedHasNoValues) {
  KnowledgeBase knowledge(test::ShopSchemas());
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/fails.yaml",
       "id: fails\ntitle: T\nfor: shop\nlet: {most: \"(SELECT percentile(busy_share, :of) FROM shop)\"}\n"
       "params: {of: 950}\nwhen: [most > 0]\nproblem: P\nrecommendation: R\n"}});
  const RuleTestReport report = RunRuleTests(
      knowledge,
      std::vector<RuleFile>{{"r/fails.test.yaml",
                             "tests:\n  - name: one\n    given: {shop: [{shop: 1, busy_share: 0.5}]}\n"
                             "    expect: [{outcome: fired, values: {most: 0.5}}]\n"}});
  ASSERT_EQ(report.results.size(), 1u);
  EXPECT_THAT(report.results[0].diff, HasSubstr("failed (percentile: the second argument is a number from"));
}

TEST(RuleTest, ANumberThatIsNoneIsSaid) {
  EXPECT_THAT(Diff("{outcome: fired, problem: busy 75}"), IsEmpty());
  const auto problem = [](const std::string& test) {
    return RunTests("busy", "tests:\n  - name: one\n    given: {shop: [{shop: 1, " + test).problems;
  };
  EXPECT_THAT(problem("busy_share: 0,5}]}\n    expect: []\n"),
              ElementsAre(HasSubstr("no column shop.5; a number has a point, not a comma: 0.5")));
  EXPECT_THAT(problem("busy_share: 0.5}]}\n    expect: [{outcome: suppressed, suppressed_by: emty}]\n"),
              ElementsAre(HasSubstr("'emty' is no rule of 'unless' (did you mean empty?)")));
}

TEST(RuleTest, ASavingMayHaveToBeMissing) {
  const auto diff = [](const std::string& saving) {
    const RuleTestReport report =
        RunTests("empty",
                 "tests:\n  - name: one\n    given: {shop: [{shop: 1, stock_bytes: 0}]}\n"
                 "    expect: [{outcome: fired, saves_high: " +
                     saving + "}]\n");
    EXPECT_EQ(report.results.size(), 1u);
    return report.results[0].diff;
  };
  EXPECT_EQ(diff("none"), "");
  EXPECT_EQ(diff("300"), "  saves_high:\n  - expected 300\n  + actual   none\n");
}

TEST(RuleTest, ListsTestsThatWouldFail) {
  const std::vector<RuleFile> files = {
      {"r/empty.test.yaml",
       "tests: [{name: one, given: {shop: [{shop: 1, stock_bytes: 0}]}, expect: [{outcome: clear}]}]"},
      {"r/busy.test.yaml", "tests: [{name: two, given: {shp: []}, expect: []}]"}};
  const RuleTestList list = ReadRuleTests(Rules(), files);
  ASSERT_EQ(list.tests.size(), 1u);
  EXPECT_EQ(list.tests[0].rule + ": " + list.tests[0].test, "empty: one");
  EXPECT_THAT(list.problems, ElementsAre(HasSubstr("no such relation: shp")));
  EXPECT_THAT(list.untested, testing::Contains(HasSubstr("empty: no test expects fired")));
}

TEST(RuleTest, ATestLiesBesideItsRule) {
  const RuleTestReport report =
      RunRuleTests(Rules(), std::vector<RuleFile>{{"elsewhere/busy.test.yaml", "tests: []"}});
  EXPECT_THAT(report.problems,
              ElementsAre("elsewhere/busy.test.yaml:1:1: busy: lies in another folder than the "
                          "rule: move it beside r/busy.yaml"));
}

TEST(RuleTest, EveryKeyOfAnExpectationCanFail) {
  EXPECT_EQ(Diff("{subject: {shop: 2}, outcome: fired}"),
            "  subject shop:\n  - expected 2\n  + actual   1\n");
  EXPECT_EQ(Diff("{outcome: clear}"),
            "  outcome:\n  - expected clear\n  + actual   fired\n      busy_share > :least is true, "
            "busy_share = 0.75, "
            "least = 0.5\n");
  EXPECT_EQ(Diff("{outcome: fired, problem: busy 75 %}"),
            "  problem:\n  - expected busy 75 %\n  + actual   Shop 1 is busy 75.0 %.\n");
  EXPECT_EQ(Diff("{outcome: fired, recommendation: Sell}"),
            "  recommendation:\n  - expected Sell\n  + actual   Hire. | Or close.\n");
  EXPECT_EQ(Diff("{outcome: fired, saves_high: 300.001}"),
            "  saves_high:\n  - expected 300.001\n  + actual   300\n");
  EXPECT_EQ(Diff("{outcome: fired, saves_low: 99}"), "  saves_low:\n  - expected 99\n  + actual   100\n");
  EXPECT_EQ(Diff("{outcome: fired, missing: [shop.town]}"),
            "  missing:\n  - expected shop.town\n  + actual   \n");
  EXPECT_EQ(Diff("{outcome: fired, suppressed_by: empty}"),
            "  suppressed_by:\n  - expected empty\n  + actual   \n");
  EXPECT_EQ(Diff(""), "  subjects:\n  - expected 0\n  + actual   1\n");
  EXPECT_EQ(Diff("{outcome: fired}, {outcome: fired}"), "  subjects:\n  - expected 2\n  + actual   1\n");
}

TEST(RuleTest, ColumnsNotGivenAreUnknownAndOtherRulesTakePart) {
  const RuleTestReport report = RunTests("busy", R"yaml(tests:
  - name: unknown
    given: {shop: [{shop: 1}]}
    expect: [{outcome: unknown, missing: [shop.busy_share]}]
  - name: null is unknown too
    given: {shop: [{shop: 1, busy_share: null}, {shop: 2, busy_share: ~}]}
    expect: [{outcome: unknown}, {outcome: unknown}]
  - name: silenced where the shelves are empty
    given: {shop: [{shop: 1, busy_share: 0.9, stock_bytes: 0}, {shop: 2, busy_share: 0.9, stock_bytes: 1}]}
    expect: [{outcome: suppressed, suppressed_by: empty}, {outcome: fired}]
  - name: nothing to judge
    given: {}
    expect: []
  - name: numbers as people write them
    given: {shop: [{shop: 1e0, open_ns: 12e6, busy_share: 1, town: 1e3}]}
    expect: [{outcome: fired, saves_high: 12e6}]
)yaml");
  for (const RuleTestResult& result : report.results)
    EXPECT_TRUE(result.passed) << result.test << "\n" << result.diff;
  EXPECT_EQ(report.results.size(), 5u);
}

TEST(RuleTest, TellsWhichOutcomesNobodyTests) {
  EXPECT_THAT(RunTests("busy", "tests: []").untested,
              ElementsAre("r/busy.yaml:1:1: busy: no test expects fired, clear, unknown",
                          "r/empty.yaml:1:1: empty: no test expects fired, clear, unknown",
                          "r/many.yaml:1:1: many: no test expects fired, clear"));  // n is never NULL
  const std::string fired_and_clear = R"yaml(tests:
  - name: fires
    given: {shop: [{shop: 1, busy_share: 0.9}, {shop: 2, busy_share: 0.1}]}
    expect: [{outcome: fired}, {outcome: clear}]
)yaml";
  EXPECT_EQ(RunTests("busy", fired_and_clear).untested[0], "r/busy.yaml:1:1: busy: no test expects unknown");
  EXPECT_THAT(RunTests("busy", fired_and_clear + "never_unknown: The doors are always counted.\n").untested,
              testing::Each(testing::Not(testing::StartsWith("busy"))));
}

TEST(RuleTest, RefusesWhatItDoesNotUnderstand) {
  const auto problems = [](const std::string& yaml) { return RunTests("busy", yaml).problems; };
  const std::string start = "tests:\n  - name: one\n    given: {shop: [{shop: 1}]}\n    expect: [";
  EXPECT_THAT(
      problems(start + "{outcome: fierd}]\n"),
      ElementsAre(
          "r/busy.test.yaml:4:24: busy: outcome 'fierd' is none of fired, clear, unknown, suppressed, "
          "failed (did you mean fired?)"));
  EXPECT_THAT(
      problems(start + "{subject: {shp: 1}, outcome: fired}]\n"),
      ElementsAre("r/busy.test.yaml:4:25: busy: 'shp' is not a key of a subject (did you mean shop?)"));
  EXPECT_THAT(problems(start + "{subject: 1, outcome: fired}]\n"),
              ElementsAre("r/busy.test.yaml:4:24: busy: 'subject' must be a mapping (key column: value)"));
  EXPECT_THAT(problems(start + "{subject: {shop: [1]}, outcome: fired}]\n"),
              ElementsAre("r/busy.test.yaml:4:31: busy: 'shop' must be a value"));
  EXPECT_THAT(problems(start + "{subject: {shop: 1}}]\n"),
              ElementsAre("r/busy.test.yaml:4:14: busy: an expectation lacks 'outcome'"));
  EXPECT_THAT(problems(start + "{outcome: fired, saves_hihg: 1}]\n"),
              ElementsAre("r/busy.test.yaml:4:31: busy: an expectation has no key 'saves_hihg' (did you mean "
                          "saves_high?)"));
  EXPECT_THAT(
      problems(start + "{outcome: fired, saves_high: much}]\n"),
      ElementsAre(
          "r/busy.test.yaml:4:43: busy: 'saves_high' must be a number, a range such as 0.3..0.4, or none"));
  EXPECT_THAT(
      problems(start + "fired]\n"),
      testing::Contains("r/busy.test.yaml:4:14: busy: an expectation must be a mapping (key: value)"));
  EXPECT_THAT(problems("tests:\n  - given: {shp: []}\n    expect: []\n"),
              ElementsAre("r/busy.test.yaml:2:5: busy: a test lacks 'name'",
                          "r/busy.test.yaml:2:13: busy: no such relation: shp (did you mean shop?)"));
  EXPECT_THAT(problems("tests:\n  - name: one\n    given: {shop: [1], orders: {}}\n    expect: []\n"),
              ElementsAre("r/busy.test.yaml:3:20: busy: a row must be a mapping (column: value)",
                          "r/busy.test.yaml:3:32: busy: 'orders' must be a list of rows"));
  EXPECT_THAT(
      problems("tests:\n  - name: one\n    given: {shop: [{shop: 1.5, town: [x]}]}\n    expect: []\n"),
      ElementsAre("r/busy.test.yaml:3:27: busy: shop.shop is of type integer",
                  "r/busy.test.yaml:3:38: busy: shop.town is of type text"));
  EXPECT_THAT(problems("test: []\n"),
              ElementsAre("r/busy.test.yaml:1:1: busy: a test file has no key 'test' (did you mean tests?)"));
  EXPECT_THAT(problems(start + "{subject: {shop: 1}, fired: true}]\n"),
              ElementsAre("r/busy.test.yaml:4:35: busy: an expectation has no key 'fired' (did you mean "
                          "outcome?)"));
  const auto given = [&](const std::string& cell) {
    return problems("tests:\n  - name: one\n    given: {shop: [{" + cell + "}]}\n    expect: []\n");
  };
  EXPECT_THAT(given("shop: \"50\""),
              ElementsAre("r/busy.test.yaml:3:28: busy: shop.shop is a number and '50' in quotes is a text: "
                          "leave the quotes out"));
  EXPECT_THAT(given("busy_share: 50"),
              ElementsAre("r/busy.test.yaml:3:33: busy: shop.busy_share is a share, which lies between 0 and "
                          "1: 15 % is 0.15"));
  EXPECT_THAT(given("busy_share: 50 %"),
              ElementsAre("r/busy.test.yaml:3:33: busy: shop.busy_share is of type real: 50 % is 0.5"));
  EXPECT_THAT(given("busy_share: None"),
              ElementsAre("r/busy.test.yaml:3:33: busy: shop.busy_share is of type real; a value that is "
                          "unknown is left out, or null"));
  EXPECT_THAT(given("open_ns: 5 ms"), ElementsAre(testing::HasSubstr("; times are in ns: 5 ms is 5.0e+6")));
  EXPECT_THAT(problems("tests: ["), ElementsAre(testing::HasSubstr("YAML: ")));
  EXPECT_THAT(problems("- x\n"), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace dladvisor
