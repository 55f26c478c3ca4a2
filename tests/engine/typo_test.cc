// SPDX-License-Identifier: Apache-2.0
// What a newcomer mistypes, one case for each kind of place, with the whole message.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/authoring/rule_schema.h"
#include "engine/rules/knowledge_base.h"
#include "tests/engine/shop.h"
#include "tests/support/json_schema.h"

namespace dladvisor {
namespace {

constexpr const char* kBusyRule = R"yaml(id: busy-shop
title: The shop is busy
severity: warning
confidence: high
for: shop
params:
  max_busy: {default: 0.5, unit: ratio, doc: Most.}
  kind: {default: tea, doc: Item.}
let:
  idle: {sql: "1 - busy_share", unit: ratio}
  sold: (SELECT count(*) FROM orders WHERE orders.shop = subject.shop AND item = :kind)
when:
  - busy_share > :max_busy
  - >
    sold > 0
    AND idle < 1
unless: [calm-shop]
causes: [calm-shop]
saves: {from: till, high: "idle * open_ns", low: "0"}
problem: |
  Shop {{shop}} in {{town}} is busy,
  idle {{idle}}.
recommendation:
  - Hire for {{kind}}.
evidence: {sql: "SELECT number, item FROM orders WHERE shop = :shop AND item = :kind"}
references: [https://example.org]
)yaml";

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

struct Typo {
  const char* name;
  const char* what;  // stands once in kBusyRule
  const char* with;
  std::vector<std::string> problems;  // without "shop/busy-shop.yaml:"
};

void PrintTo(const Typo& typo, std::ostream* out) { *out << typo.name; }

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

const Typo kTypos[] = {
    // Keys and their values.
    {"Key",
     "title:",
     "titel:",
     {"1:1: busy-shop: a rule lacks 'title'",
      "2:1: busy-shop: a rule has no key 'titel' (did you mean title?)"}},
    {"KeyOfParam",
     "unit: ratio, doc",
     "units: ratio, doc",
     {"7:28: busy-shop: param 'max_busy' has no key 'units' (did you mean unit?)"}},
    {"CommaInAText",
     "doc: Most.",
     "doc: Most, by far",
     {"7:52: busy-shop: param 'max_busy' has no key 'by far'; a text with a comma stands in quotes"}},
    {"KeyOfLet",
     "idle: {sql:",
     "idle: {sq:",
     {"10:9: busy-shop: let 'idle' lacks 'sql'",
      "10:10: busy-shop: let 'idle' has no key 'sq' (did you mean sql?)"}},
    {"KeyOfSaves",
     "saves: {from:",
     "saves: {form:",
     {"19:8: busy-shop: 'saves' lacks 'from'",
      "19:9: busy-shop: 'saves' has no key 'form' (did you mean from?)"}},
    {"KeyOfEvidence",
     "evidence: {sql:",
     "evidence: {query:",
     {"25:11: busy-shop: 'evidence' lacks 'sql'", "25:12: busy-shop: 'evidence' has no key 'query'"}},
    {"KeyTwice", "confidence: high", "title: Again", {"4:1: key 'title' stands twice"}},
    {"Severity",
     "severity: warning",
     "severity: warnign",
     {"3:11: busy-shop: severity 'warnign' is none of error, warning, info (did you mean warning?)"}},
    {"Confidence",
     "confidence: high",
     "confidence: hihg",
     {"4:13: busy-shop: confidence 'hihg' is none of high, medium, low (did you mean high?)"}},
    {"Id",
     "id: busy-shop",
     "id: busy-shops",
     {"1:5: busy-shop: id 'busy-shops' is not the file's name 'busy-shop'"}},
    {"Override",
     "references:",
     "override: yes\nreferences:",
     {"26:11: busy-shop: 'override' must be true or false"}},
    {"Unit",
     "unit: ratio, doc",
     "unit: percent, doc",
     {"7:34: busy-shop: no unit 'percent'; units: ns, bytes, ratio, count, count/step, bytes/s, flops, "
      "flops/s, celsius, "
      "watts, hertz, text"}},
    {"ParamName",
     "  kind: {default: tea, doc: Item.}",
     "  kind-of: {default: tea, doc: Item.}",
     {"8:3: busy-shop: 'kind-of' is not a valid name: use letters, digits and _",
      "11:82: busy-shop: no such param: :kind", "24:16: busy-shop: no value named 'kind'",
      "25:80: busy-shop: no such param: :kind"}},
    {"ParamDefault",
     "default: 0.5, ",
     "",
     {"7:13: busy-shop: param 'max_busy' lacks 'default': a number or text"}},
    {"ListForText",
     "title: The shop is busy",
     "title: [The shop, is busy]",
     {"2:8: busy-shop: 'title' must be a text"}},
    {"MappingForText",
     "  - Hire for {{kind}}.",
     "  - Hire: for {{kind}}.",
     {"1:1: busy-shop: a rule lacks 'recommendation': what to change",
      "24:5: busy-shop: an item of 'recommendation' must be a text; quote it if it holds ': ' or begins with "
      "[ or "
      "{"}},
    {"Empty",
     "for: shop\n",
     "for:\n",
     {"1:1: busy-shop: a rule lacks 'for': the relation whose rows it judges"}},
    {"EmptyCondition",
     "  - busy_share > :max_busy",
     "  - ''",
     {"7:3: busy-shop: param 'max_busy' is never used", "13:6: busy-shop: an item of 'when' is empty"}},
    // YAML.
    {"Bracket", "unless: [calm-shop]", "unless: [calm-shop", {"18:7: YAML: end of sequence flow not found"}},
    {"Indent", "confidence: high", " confidence: high", {"4:12: YAML: illegal map value"}},
    {"Alias",
     "title: The shop is busy",
     "title: *busy",
     {"2:8: aliases (*name) are not allowed: write the value out; a text that begins with * needs "
      "quotes"}},
    // Names in SQL.
    {"Relation",
     "for: shop\n",
     "for: shops\n",
     {"5:6: busy-shop: no such relation: shops (did you mean shop?)"}},
    {"Column",
     "busy_share > :max_busy",
     "bussy_share > :max_busy",
     {"13:5: busy-shop: no such column: bussy_share (did you mean busy_share?)"}},
    {"ColumnOfSubject",
     "subject.shop",
     "subject.shp",
     {"11:58: busy-shop: no such column: subject.shp (did you mean shop?)"}},
    {"ColumnInQuotedSql",
     "1 - busy_share",
     "1 - busy_shar",
     {"10:20: busy-shop: no such column: busy_shar (did you mean busy_share?)"}},
    {"ColumnInFoldedSql",
     "AND idle < 1",
     "AND idel < 1",
     {"14:5: busy-shop: no such column: idel (did you mean idle?)\n    sold > 0 AND idel < 1\n              "
      "   ^"}},
    {"ColumnInSubQuery",
     "AND item = :kind)\n",
     "AND itme = :kind)\n",
     {"11:75: busy-shop: no such column: itme (did you mean item?)"}},
    {"RelationInSubQuery",
     "count(*) FROM orders WHERE orders.shop",
     "count(*) FROM order_ AS orders WHERE shop",
     {"11:31: busy-shop: no such relation: order_ (did you mean orders?)"}},
    {"Function", "count(*)", "coutn(*)", {"11:17: busy-shop: no such function: coutn (did you mean count?)"}},
    {"ForbiddenFunction",
     "busy_share > :max_busy",
     "busy_share + random() > :max_busy",
     {"13:18: busy-shop: function random is not allowed"}},
    {"Arguments",
     "1 - busy_share",
     "ratio(busy_share)",
     {"10:16: busy-shop: wrong number of arguments to function ratio()"}},
    {"Param",
     "busy_share > :max_busy",
     "busy_share > :max_buys",
     {"7:3: busy-shop: param 'max_busy' is never used",
      "13:18: busy-shop: no such param: :max_buys (did you mean max_busy?)"}},
    {"LetAsParam",
     "sold > 0",
     ":sold > 0",
     {"14:5: busy-shop: no such param: :sold\n    :sold > 0 AND idle < 1\n    ^"}},
    {"QuestionMark",
     "busy_share > :max_busy",
     "busy_share > ?",
     {"7:3: busy-shop: param 'max_busy' is never used",
      "13:18: busy-shop: ? is not a parameter: write :name"}},
    {"DoubleQuotedText",
     "item = :kind)\n",
     "item = \"tea\")\n",
     {"11:82: busy-shop: no such column: tea; a text stands in single quotes: 'tea'"}},
    {"EvidenceColumn",
     "SELECT number",
     "SELECT nubmer",
     {"25:25: busy-shop: no such column: nubmer (did you mean number?)"}},
    {"EvidenceName", ":shop AND", ":shp AND", {"25:63: busy-shop: no such param: :shp (did you mean shop?)"}},
    {"TwoStatements",
     "SELECT number, item",
     "SELECT 1; SELECT number, item",
     {"25:27: busy-shop: only one statement is allowed"}},
    {"NoSelect",
     "SELECT number, item FROM orders WHERE",
     "DELETE FROM orders WHERE",
     {"25:18: busy-shop: only SELECT over relations is allowed"}},
    // Conditions that judge no single subject.
    {"Aggregate",
     "busy_share > :max_busy",
     "max(busy_share) > :max_busy",
     {"13:5: busy-shop: misuse of aggregate function max(); it needs a query of its own: (SELECT ... FROM "
      "...)"}},
    {"WindowFunction",
     "busy_share > :max_busy",
     "rank() OVER () > :max_busy",
     {"13:5: busy-shop: misuse of window function rank(); it needs a query of its own: (SELECT ... FROM "
      "...)"}},
    {"TwoValues", "busy_share > :max_busy", "busy_share, :max_busy", {"13:5: busy-shop: row value misused"}},
    // Names that clash or that nothing uses.
    {"UnusedParam", "> :max_busy", "> 0.5", {"7:3: busy-shop: param 'max_busy' is never used"}},
    {"LetNamedAsColumn",
     "  idle: {sql",
     "  open_ns: {sql",
     {"10:19: busy-shop: let 'open_ns' has the name of a column of the subject",
      "14:5: busy-shop: no such column: idle\n    sold > 0 AND idle < 1\n                 ^",
      "19:28: busy-shop: no such column: idle",
      "20:10: busy-shop: no value named 'idle'\n    idle {{idle}}.\n           ^"}},
    {"LetNamedAsParam",
     "  max_busy: {default",
     "  sold: {default",
     {"7:3: busy-shop: param 'sold' is never used", "11:9: busy-shop: let 'sold' has the name of a param",
      "13:18: busy-shop: no such param: :max_busy"}},
    {"ParamNamedAsColumn",
     "  kind: {default: tea",
     "  town: {default: tea",
     {"8:3: busy-shop: param 'town' has the name of a column of the subject",
      "11:82: busy-shop: no such param: :kind", "24:16: busy-shop: no value named 'kind'",
      "25:80: busy-shop: no such param: :kind"}},
    {"LetsNamedAlikeButForCase",
     "  sold: (SELECT",
     "  Idle: 2\n  sold: (SELECT",
     {"11:9: busy-shop: there already is a let 'Idle': names in SQL are case-insensitive"}},
    {"LetNamedAsColumnButForCase",
     "  sold: (SELECT",
     "  Town: 2\n  sold: (SELECT",
     {"11:9: busy-shop: let 'Town' has the name of a column of the subject",
      "11:9: busy-shop: let 'Town' is never used"}},
    {"ParamWithoutColon",
     "busy_share > :max_busy",
     "busy_share > max_busy",
     {"7:3: busy-shop: param 'max_busy' is never used",
      "13:18: busy-shop: no such column: max_busy (did you mean :max_busy?)"}},
    {"Parentheses",
     "busy_share > :max_busy",
     "busy_share > :max_busy) OR (1",
     {"13:27: busy-shop: closes a parenthesis that is not open"}},
    {"TextAsCondition",
     "busy_share > :max_busy",
     "upper(:kind) || :max_busy",
     {"13:5: busy-shop: is a text, which is neither true nor false"}},
    // Messages.
    {"NameInMessage",
     "{{town}}",
     "{{twon}}",
     {"20:10: busy-shop: no value named 'twon' (did you mean town?)\n    Shop {{shop}} in {{twon}} is "
      "busy,\n        "
      "               ^"}},
    {"NameInRecommendation",
     "{{kind}}",
     "{{ knid }}",
     {"24:17: busy-shop: no value named 'knid' (did you mean kind?)"}},
    {"Section", "Hire for {{kind}}.", "\"{{#town}}Hire for {{kind}}.{{/town}}\"", {}},
    {"SectionOfNothing",
     "Hire for {{kind}}.",
     "\"{{#tonw}}Hire for {{kind}}.{{/tonw}}\"",
     {"24:8: busy-shop: no value named 'tonw' (did you mean town?)"}},
    {"SectionThatIsOpen",
     "Hire for {{kind}}.",
     "\"{{#town}}Hire for {{kind}}.\"",
     {"24:6: busy-shop: Unclosed section \"town\" at 0"}},
    {"SectionAndValue",
     "Hire for {{kind}}.",
     "\"{{#kind}}Hire for {{kind}}.{{/kind}}\"",
     {"24:8: busy-shop: 'kind' is both a section and a value: make a let for the section"}},
    {"Partial",
     "Hire for {{kind}}.",
     "\"{{> kind}}\"",
     {"24:8: busy-shop: {{> kind}} is not a plain value: for words that depend on a value make a let with "
      "iif(), and calculate in a let"}},
    {"OpenBraces",
     "Hire for {{kind}}.",
     "Hire for {{kind}} {{town.",
     {"24:5: busy-shop: opens {{ and does not close it"}},
    {"NoName", "Hire for {{kind}}.", "Hire for {{ }}.", {"24:5: busy-shop: has {{ }} without a name in it"}},
    {"Calculation",
     "Hire for {{kind}}.",
     "Hire for {{ kind*2 }}.",
     {"24:17: busy-shop: {{kind*2}} is not a plain value: for words that depend on a value make a let "
      "with iif(), and calculate in a let"}},
    {"LetBelow",
     "idle: {sql: \"1 - busy_share\", unit: ratio}",
     "idle: {sql: \"1 - spare\", unit: ratio}\n  spare: 1 - busy_share",
     {"10:20: busy-shop: let 'spare' does not stand above: a let names those above it"}},
    {"LetOfItself",
     "1 - busy_share",
     "1 - idle",
     {"10:20: busy-shop: let 'idle' does not stand above: a let names those above it"}},
    {"AndOfC",
     "    sold > 0\n    AND",
     "    sold > 0\n    &&",
     {"14:5: busy-shop: near \"&\": syntax error; SQL has AND in place of &&\n    sold > 0 && idle < 1\n     "
      "         ^"}},
    {"UnitOfNumber",
     "busy_share > :max_busy",
     "open_ns > 5 ms AND busy_share > :max_busy",
     {"13:17: busy-shop: near \"ms\": syntax error; times are in ns and sizes in bytes: 5 ms is 5e6"}},
    {"Pattern",
     "busy_share > :max_busy",
     "town REGEXP 'U(lm' AND busy_share > :max_busy",
     {"13:17: busy-shop: regexp: missing ): U(lm"}},
    {"PatternOfExtract",
     "busy_share > :max_busy",
     "regexp_extract(lower(town), '(?=u)') = 'u' AND busy_share > :max_busy",
     {"13:33: busy-shop: regexp: invalid perl operator: (?="}},
    {"PatternOfParam", "idle < 1", "idle < 1 AND 'tea' REGEXP :kind || '$' AND '' NOT REGEXP :kind", {}},
    {"EqualsNull",
     "busy_share > :max_busy",
     "town = NULL AND busy_share > :max_busy",
     {"13:5: busy-shop: is never true of NULL: IS NULL and IS NOT NULL ask for it"}},
    {"NullInAList",
     "busy_share > :max_busy",
     "town NOT IN ('Ulm', NULL) AND busy_share > :max_busy",
     {"13:25: busy-shop: makes NOT IN true of nothing: leave it out, or ask for IS NOT NULL"}},
    {"IsInNull",
     "busy_share > :max_busy",
     "town IN (NULL) AND busy_share > :max_busy",
     {"13:14: busy-shop: equals nothing, also in a list: IS NULL asks for it"}},
    {"NotInAQuery", "idle < 1", "idle < 1 AND town NOT IN (SELECT NULL) AND coalesce(town, NULL) > ''", {}},
    {"BetweenTheWrongWayRound",
     "busy_share > :max_busy",
     "busy_share BETWEEN :max_busy AND 0.1",
     {"13:16: busy-shop: lies between nothing: BETWEEN has the smaller number first"}},
    {"BetweenNegativeNumbers",
     "idle < 1",
     "idle < 1 AND open_ns BETWEEN -1 AND -5",
     {"14:5: busy-shop: lies between nothing: BETWEEN has the smaller number first\n    sold > 0 AND idle < "
      "1 AND open_ns BETWEEN -1 AND -5\n                                      ^"}},
    {"BetweenTheRightWayRound", "idle < 1", "idle < 1 AND open_ns BETWEEN -5 AND -1", {}},
    {"OrOfATextAlone",
     "busy_share > :max_busy",
     "busy_share > :max_busy AND (town = 'Ulm' OR 'Bonn')",
     {"13:49: busy-shop: 'Bonn' compares nothing: each side of OR is a condition of its own"}},
    {"AndOfANumberAlone",
     "busy_share > :max_busy",
     "1 AND busy_share > :max_busy",
     {"13:5: busy-shop: 1 compares nothing: each side of AND is a condition of its own"}},
    {"ComparedWithItself",
     "WHERE orders.shop = subject.shop",
     "WHERE shop = shop",
     {"11:44: busy-shop: compares shop with itself"}},
    {"NegativeSaving",
     "high: \"idle * open_ns\", low: \"0\"",
     "high: \"-5e6\", low: -1",
     {"19:28: busy-shop: saves.high is below 0: a saving is a time",
      "19:40: busy-shop: saves.low is below 0: a saving is a time"}},
    {"ReferenceThatIsNoLink",
     "references: [https://example.org]",
     "references: [https://example.org/a, see the wiki, www.example.org, 'https://', http://intranet/x]",
     {"26:37: busy-shop: 'see the wiki' is no link: references begin with https://",
      "26:51: busy-shop: 'www.example.org' is no link: references begin with https://",
      "26:69: busy-shop: 'https://' is no link: references begin with https://"}},
    {"PercentWithUnit",
     "default: 0.5",
     "default: 50 %",
     {"7:23: busy-shop: '50 %' is a text, and its unit is ratio: write a number, 10 % as 0.1"}},
    {"TableAsNumber",
     "{default: 0.5, unit",
     "{default: 0.5, table: {A100: 0.4}, unit",
     {"13:5: busy-shop: compares a table of values: lookup(:NAME, TEXT) reads the one that fits"}},
    // Other rules.
    {"Unless",
     "unless: [calm-shop]",
     "unless: [clam-shop]",
     {"17:10: busy-shop: no such rule: clam-shop (did you mean calm-shop?)"}},
    {"Causes",
     "causes: [calm-shop]",
     "causes: calm_shop",
     {"18:9: busy-shop: no such rule: calm_shop (did you mean calm-shop?)"}},
    {"GivenItself",
     "causes: [calm-shop]",
     "given: [busy-shop]",
     {"18:9: busy-shop: given and unless forms a cycle: busy-shop -> busy-shop"}},
};

// With those of tests/cases/typos, which are whole folders.
TEST(TypoRule, AreMany) { EXPECT_GE(std::size(kTypos), 75U); }

INSTANTIATE_TEST_SUITE_P(Rule, Typos, testing::ValuesIn(kTypos),
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
                                                "BetweenNegativeNumbers",
                                                "BetweenTheRightWayRound",
                                                "OrOfATextAlone",
                                                "AndOfANumberAlone",
                                                "ComparedWithItself",
                                                "NegativeSaving",
                                                "PercentWithUnit",
                                                "TableAsNumber",
                                                "Unless",
                                                "Causes",
                                                "GivenItself"};

TEST(TypoSchema, RejectsWhatTheCheckerRejects) {
  KnowledgeBase knowledge(test::ShopSchemas(), Ledger{"till_ledger", "bucket", "ns", {"till"}, {}});
  std::vector<std::string> documents = {kBusyRule, kCalm};
  std::vector<std::string> names = {"", ""};
  for (const Typo& typo : kTypos) {
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
              ElementsAre("shop/busy-shop.yaml:3:12: busy-shop: near \";\": syntax error"));
  EXPECT_THAT(with("{key: [shop]}"), ElementsAre("shop/busy-shop.yaml:3:6: busy-shop: 'for' lacks 'sql'"));
  EXPECT_THAT(with("[shop]"),
              ElementsAre("shop/busy-shop.yaml:3:6: busy-shop: 'for' must be a mapping (key: value)",
                          "shop/busy-shop.yaml:3:6: busy-shop: 'for' lacks 'sql'",
                          "shop/busy-shop.yaml:3:6: busy-shop: 'for' lacks 'key': the columns that name "
                          "a subject ([] where there is one)"));
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
