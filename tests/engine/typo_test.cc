// SPDX-License-Identifier: Apache-2.0
// What a newcomer mistypes is named, and what of it a schema rejects.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/authoring/rule_schema.h"
#include "engine/rules/knowledge_base.h"
#include "tests/engine/shop.h"
#include "tests/engine/typos.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace test {
void PrintTo(const Typo& typo, std::ostream* out) { *out << typo.name; }
}  // namespace test

namespace {
using test::kBusyRule;
using test::Typo;

constexpr const char* kCalm = R"yaml(id: calm-shop
title: The shop is calm
for: {sql: SELECT shop FROM shop, key: [shop]}
when: [shop > 1]
problem: Shop {{shop}} is calm.
recommendation: Advertise.
)yaml";

std::vector<std::string> ProblemsWith(const std::string& busy) {
  return test::ProblemsOf({{"shop/busy-shop.yaml", busy}, {"shop/calm-shop.yaml", kCalm}});
}

std::vector<Typo> AllTypos() {
  std::vector<Typo> all;
  for (const auto typos : {test::TyposInNames(), test::TyposInSql(), test::TyposOfOthers()})
    all.insert(all.end(), typos.begin(), typos.end());
  return all;
}

class Typos : public testing::TestWithParam<Typo> {};

TEST_P(Typos, AreNamed) {
  const Typo& typo = GetParam();
  std::string text = kBusyRule;
  const size_t at = text.find(typo.what);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(text.find(typo.what, at + 1), std::string::npos) << "stands more than once";
  text.replace(at, std::string_view(typo.what).size(), typo.with);
  std::vector<std::string> expected;
  for (const std::string& problem : typo.problems) expected.push_back("shop/busy-shop.yaml:" + problem);
  EXPECT_EQ(ProblemsWith(text), expected);
}

TEST(TypoRule, IsSoundAsItIs) { EXPECT_THAT(ProblemsWith(kBusyRule), testing::IsEmpty()); }

// With those of tests/cases/typos, which are whole folders.
TEST(TypoRule, AreMany) { EXPECT_GE(AllTypos().size(), 75U); }

INSTANTIATE_TEST_SUITE_P(Rule, Typos, testing::ValuesIn(AllTypos()),
                         [](const testing::TestParamInfo<Typo>& typo) { return typo.param.name; });

// What a schema cannot know: the file's name, keys that stand twice, of which editors say so by themselves,
// and what SQL, messages and other rules hold.
const std::set<std::string> kBeyondTheSchema = {"KeyTwice",
                                                "NoName",
                                                "Id",
                                                "Relation",
                                                "Column",
                                                "ColumnOfSubject",
                                                "ColumnInQuotedSql",
                                                "ColumnInFoldedSql",
                                                "ColumnInSubQuery",
                                                "RelationInSubQuery",
                                                "Function",
                                                "ForbiddenFunction",
                                                "Arguments",
                                                "Param",
                                                "LetAsParam",
                                                "QuestionMark",
                                                "DoubleQuotedText",
                                                "EvidenceColumn",
                                                "EvidenceName",
                                                "TwoStatements",
                                                "NoSelect",
                                                "Aggregate",
                                                "WindowFunction",
                                                "TwoValues",
                                                "UnusedParam",
                                                "LetNamedAsColumn",
                                                "LetsNamedAlikeButForCase",
                                                "LetNamedAsColumnButForCase",
                                                "LetNamedAsParam",
                                                "ParamNamedAsColumn",
                                                "ParamWithoutColon",
                                                "Parentheses",
                                                "TextAsCondition",
                                                "NameInMessage",
                                                "NameInRecommendation",
                                                "Section",
                                                "SectionOfNothing",
                                                "SectionThatIsOpen",
                                                "SectionAndValue",
                                                "Partial",
                                                "OpenBraces",
                                                "Calculation",
                                                "BracesThatAreOpen",
                                                "ParamInASubQuery",
                                                "RelationForSubject",
                                                "ColumnOfItsOwn",
                                                "ColumnOfItsOwnInEvidence",
                                                "WordOfSql",
                                                "ColumnsForAQuery",
                                                "LetOfARelation",
                                                "LetBelow",
                                                "LetOfItself",
                                                "AndOfC",
                                                "UnitOfNumber",
                                                "Pattern",
                                                "PatternOfExtract",
                                                "PatternOfParam",
                                                "EqualsNull",
                                                "NullInAList",
                                                "IsInNull",
                                                "NotInAQuery",
                                                "BetweenTheWrongWayRound",
                                                "Contradiction",
                                                "NoContradiction",
                                                "ContradictionOfTexts",
                                                "ContradictionWithNull",
                                                "NegativeShare",
                                                "DivisionByZero",
                                                "LikeANumber",
                                                "InANumber",
                                                "Power",
                                                "PowerOfPython",
                                                "BetweenNegativeNumbers",
                                                "BetweenTheRightWayRound",
                                                "OrOfATextAlone",
                                                "OrOfC",
                                                "GreaterTheOtherWay",
                                                "LessTheOtherWay",
                                                "CommentOfYaml",
                                                "PercentAtTheEnd",
                                                "TypographicQuotes",
                                                "TypographicMinus",
                                                "UnbreakableSpace",
                                                "InOfAText",
                                                "LikeWithTheWildcardOfGlob",
                                                "GlobWithTheWildcardOfLike",
                                                "EqualsAPattern",
                                                "EvidenceIsARelation",
                                                "ForWithAFilter",
                                                "AndOfAParam",
                                                "NumberAsCondition",
                                                "AndOfANumberAlone",
                                                "ComparedWithItself",
                                                "NegativeSaving",
                                                "TableAsNumber",
                                                "Unless",
                                                "Causes",
                                                "Contains",
                                                "Length",
                                                "Mean",
                                                "Percentile95",
                                                "Quantile",
                                                "IfAsFunction",
                                                "IfOfPython",
                                                "Method",
                                                "NoneOfPython",
                                                "Cast",
                                                "Semicolon",
                                                "DecimalComma",
                                                "HundredTimesAShare",
                                                "HundredTimesALimit",
                                                "PercentileOf950",
                                                "UnlessTwice",
                                                "BracesInSql",
                                                "Filter",
                                                "Format",
                                                "QuotedName",
                                                "QuotedText",
                                                "GivenItself"};

TEST(TypoSchema, RejectsWhatTheCheckerRejects) {
  KnowledgeBase knowledge(test::ShopSchemas(), Ledger{"till_ledger", "bucket", "ns", {"till"}, {}});
  std::vector<std::string> documents = {kBusyRule, kCalm};
  std::vector<std::string> names = {"", ""};
  for (const Typo& typo : AllTypos()) {
    std::string text = kBusyRule;
    text.replace(text.find(typo.what), std::string_view(typo.what).size(), typo.with);
    try {
      YAML::Load(text);
    } catch (const YAML::Exception&) {
      continue;  // editors say so by themselves
    }
    documents.push_back(text);
    names.emplace_back(typo.name);
  }
  const auto problems = test::SchemaProblems(RuleSchema(knowledge), documents);
  if (!problems) GTEST_SKIP() << "python3-jsonschema is not installed";
  ASSERT_EQ(problems->size(), documents.size());
  for (size_t i = 0; i < documents.size(); ++i)
    EXPECT_EQ((*problems)[i].empty(), i < 2 || kBeyondTheSchema.contains(names[i]))
        << names[i] << (*problems)[i];
}

TEST(TypoFor, QueriesAsSubjects) {
  const auto with = [](const std::string& subject) {
    return ProblemsWith("id: busy-shop\ntitle: T\nfor: " + subject +
                        "\nwhen: [1]\nproblem: P\nrecommendation: R\n");
  };
  using testing::ElementsAre;
  EXPECT_THAT(
      with("{sql: SELECT shop FROM shop, key: [shp]}"),
      ElementsAre("shop/busy-shop.yaml:3:12: busy-shop: key 'shp' is not a column of the query (did you mean "
                  "shop?)"));
  EXPECT_THAT(with("{sql: SELECT shp FROM shop, key: [shop]}"),
              ElementsAre("shop/busy-shop.yaml:3:19: busy-shop: no such column: shp (did you mean shop?)"));
  EXPECT_THAT(
      with("{sql: SELECT shop FROM shop}"),
      ElementsAre(
          "shop/busy-shop.yaml:3:6: busy-shop: 'for' lacks 'key': the columns that name a subject ([] "
          "where there is one)"));
  EXPECT_THAT(with("{sql: SELECT shop FROM shop;, key: [shop]}"),
              ElementsAre("shop/busy-shop.yaml:3:12: busy-shop: near \";\": syntax error; it is one "
                          "query or expression, without ;"));
  EXPECT_THAT(with("{key: [shop]}"), ElementsAre("shop/busy-shop.yaml:3:6: busy-shop: 'for' lacks 'sql'"));
  EXPECT_THAT(with("[shop]"),
              ElementsAre("shop/busy-shop.yaml:3:6: busy-shop: 'for' is the name of one relation, or {sql: "
                          "SELECT ..., key: [COLUMN]}"));
}

TEST(TypoLets, ALimitedNumberSoThatNoneMultipliesWithoutEnd) {
  std::string text = "id: busy-shop\ntitle: T\nfor: shop\nlet:\n  x0: shop\n";
  for (int i = 1; i < 12; ++i) text += fmt::format("  x{}: x{} + x{}\n", i, i - 1, i - 1);
  const std::string rest = "problem: P\nrecommendation: R\n";
  EXPECT_THAT(ProblemsWith(text + "when: [x11 > 0]\n" + rest), testing::IsEmpty());
  EXPECT_THAT(ProblemsWith(text + "  x12: x11 + x11\nwhen: [x11 > 0]\n" + rest),
              testing::ElementsAre("shop/busy-shop.yaml:17:8: busy-shop: a rule may have at most 12 lets",
                                   "shop/busy-shop.yaml:17:8: busy-shop: let 'x12' is never used"));
}

TEST(TypoFiles, WindowsLineEndsAndByteOrderMarksKeepTheirPlaces) {
  std::string text = kBusyRule;
  text.replace(text.find("busy_share > :"), 10, "bussyshare");
  const std::vector<std::string> plain = ProblemsWith(text);
  ASSERT_EQ(plain.size(), 1u);
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(ProblemsWith(crlf), plain);
  const std::vector<std::string> marked = ProblemsWith("\xEF\xBB\xBF" + text);
  ASSERT_EQ(marked.size(), 1u);
  EXPECT_THAT(marked[0], testing::StartsWith(plain[0]));  // an excerpt may follow
}

TEST(TypoFiles, ABrokenRuleIsNotReportedOnceMoreWhereOthersNameIt) {
  KnowledgeBase knowledge(test::ShopSchemas());
  try {
    knowledge.AddLayer(
        std::vector<RuleFile>{{"shop/busy-shop.yaml", kBusyRule}, {"shop/calm-shop.yaml", "id: ["}});
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(), testing::ElementsAre(testing::StartsWith("shop/calm-shop.yaml:")));
    EXPECT_THAT(errors.what(), testing::StartsWith("rules: 1 problem\nshop/calm-shop.yaml:"));
  }
}

}  // namespace
}  // namespace dladvisor
