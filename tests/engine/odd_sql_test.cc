// SPDX-License-Identifier: Apache-2.0
// What SQLite takes and hardly any author means is a warning, and what may be meant is none.
#include "engine/rules/odd_sql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/rules/knowledge_base.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Warnings(const std::string& let, const std::string& condition,
                                  const std::string& saves, const std::string& problem) {
  KnowledgeBase knowledge(test::ShopSchemas(), Ledger{"till_ledger", "bucket", "ns", {"till"}, {}});
  knowledge.AddLayer(std::vector<RuleFile>{
      {"r/odd.yaml", "id: odd\ntitle: T\nfor: shop\nlet:\n  lost_ns: {sql: \"" + let +
                         "\", unit: ns}\nwhen:\n  - \"" + condition + "\"\nsaves: {from: till, high: " +
                         saves + "}\nproblem: \"{{shop}} " + problem + "\"\nrecommendation: R\n"}});
  return knowledge.warnings();
}

std::vector<std::string> OfCondition(const std::string& condition) {
  return Warnings("open_ns * 0.5", condition, "lost_ns", "");
}
std::vector<std::string> OfLet(const std::string& let) { return Warnings(let, "shop > 1", "lost_ns", ""); }
std::vector<std::string> OfSaving(const std::string& saves) {
  return Warnings("open_ns * 0.5", "lost_ns > 1", saves, "");
}
std::vector<std::string> OfMessage(const std::string& words) {
  return Warnings("open_ns * 0.5", "shop > 1", "lost_ns", words);
}

TEST(OddSql, AJoinThatSaysNotWhichRowsBelongTogether) {
  EXPECT_THAT(OfCondition("(SELECT count(*) FROM shop AS a JOIN orders AS b) > shop"),
              ElementsAre(HasSubstr("joins each row with every row of the other")));
  for (const char* sound : {"(SELECT count(*) FROM shop AS a JOIN orders AS b ON a.shop = b.shop) > shop",
                            "(SELECT count(*) FROM shop JOIN orders USING (shop)) > shop",
                            "(SELECT count(*) FROM shop AS a JOIN orders AS b WHERE a.shop = b.shop) > shop",
                            "(SELECT count(*) FROM shop CROSS JOIN orders) > shop",
                            "(SELECT count(*) FROM shop NATURAL JOIN orders) > shop",
                            "(SELECT count(*) FROM shop NATURAL LEFT JOIN orders) > shop"})
    EXPECT_THAT(OfCondition(sound), IsEmpty()) << sound;
}

TEST(OddSql, AConditionThatAlwaysHolds) {
  EXPECT_THAT(OfCondition("open_ns > 5 OR open_ns <= 5"),
              ElementsAre(HasSubstr("always holds, or `open_ns > 5` does: AND asks for both")));
  for (const char* both : {"shop < 5 OR town = 'Ulm' OR shop > 4", "town = 'Ulm' OR town <> 'Ulm'",
                           "town IS NULL OR town IS NOT NULL", "5 >= open_ns OR 3 <= open_ns"})
    EXPECT_THAT(OfCondition(both), ElementsAre(HasSubstr("always holds, or"))) << both;
  EXPECT_THAT(OfCondition("busy_share >= 0 AND shop > 1"),
              ElementsAre(HasSubstr("holds wherever busy_share is known, as a share is never below 0: IS NOT "
                                    "NULL asks whether it is")));
  EXPECT_THAT(OfCondition("busy_share <= 1"), ElementsAre(HasSubstr("a share is never above 1")));
  for (const char* sound :
       {"open_ns > 5 OR open_ns < 5", "open_ns < 5 OR open_ns > 6", "town = 'Ulm' OR town <> 'Bonn'",
        "open_ns > 5 OR shop <= 5", "open_ns >= 0", "busy_share > 0", "busy_share < 1", "lost_ns >= 0",
        "open_ns > 5 OR (open_ns <= 5 AND shop > 1)", "town IS NULL OR town <> 'Ulm'"})
    EXPECT_THAT(OfCondition(sound), IsEmpty()) << sound;
}

TEST(OddSql, AShiftOfBits) {
  EXPECT_THAT(OfCondition("shop >> 1"), ElementsAre(HasSubstr(">> shifts bits: > compares")));
  EXPECT_THAT(OfCondition("shop << 1"), ElementsAre(HasSubstr("<< shifts bits: < compares")));
}

TEST(OddSql, TheFirstOfManyRows) {
  EXPECT_THAT(OfCondition("(SELECT busy_share FROM shop) > 0.5 AND shop > 1"),
              ElementsAre(HasSubstr("takes the first row of shop, whichever that is")));
  for (const char* sound : {"(SELECT max(busy_share) FROM shop) > 0.5 AND shop > 1",
                            "(SELECT s.busy_share FROM shop AS s WHERE s.shop = 1) > 0.5 AND shop > 1",
                            "shop IN (SELECT shop FROM orders)"})
    EXPECT_THAT(OfCondition(sound), IsEmpty()) << sound;
}

TEST(OddSql, AWildcardThatIsComparedAsItStands) {
  EXPECT_THAT(OfCondition("town = 'Berlin*'"), ElementsAre(HasSubstr("GLOB has * for any characters")));
  EXPECT_THAT(OfCondition("town <> '%lin'"), ElementsAre(HasSubstr("LIKE has % for any characters")));
  EXPECT_THAT(OfCondition("town = 'a * b'"), IsEmpty());
  EXPECT_THAT(OfCondition("town = '*' || shop"), IsEmpty());
  EXPECT_THAT(OfCondition("town LIKE 5 || '%'"), IsEmpty());
  EXPECT_THAT(OfCondition("town GLOB 'Berlin*'"), IsEmpty());
}

TEST(OddSql, APercentileGivenAsAShare) {
  EXPECT_THAT(OfCondition("busy_share > (SELECT percentile(busy_share, 0.9) FROM shop)"),
              ElementsAre(HasSubstr("0.9 is below the 1st percentile; write 90 for a share of 0.9")));
  EXPECT_THAT(OfCondition("busy_share > (SELECT percentile(busy_share, 0.57) FROM shop)"),
              ElementsAre(HasSubstr("write 57 for a share of 0.57")));
  EXPECT_THAT(OfCondition("busy_share > (SELECT percentile(busy_share, 90) FROM shop)"), IsEmpty());
  EXPECT_THAT(OfCondition("busy_share > (SELECT percentile(busy_share, 0) FROM shop)"), IsEmpty());
}

TEST(OddSql, ATimeThatIsMadeLessAndStillTakenForNanoseconds) {
  for (const char* let : {"open_ns / 1e9", "open_ns * 1e-9"})
    EXPECT_THAT(OfLet(let), ElementsAre(HasSubstr("makes a time in ns a billion times less"))) << let;
  EXPECT_THAT(OfLet("open_ns / 1e6"), ElementsAre(HasSubstr("a million times less")));
  EXPECT_THAT(OfLet("open_ns / 1e3"), ElementsAre(HasSubstr("a thousand times less")));
  EXPECT_THAT(OfSaving("lost_ns / 1e9"), ElementsAre(HasSubstr("a billion times less")));
  EXPECT_THAT(OfLet("open_ns / 2.0"), IsEmpty());
  EXPECT_THAT(OfSaving("\"10.0\""), ElementsAre(HasSubstr("saves.high is the same for every subject")));
}

std::vector<std::string> ErrorsOfOrders(const std::string& query, const std::string& problem = "{{shop}}") {
  KnowledgeBase knowledge(test::ShopSchemas());
  try {
    knowledge.AddLayer(std::vector<RuleFile>{{"r/odd.yaml", "id: odd\ntitle: T\nfor: {sql: \"" + query +
                                                                "\", key: [shop]}\nwhen: n > 0\nproblem: \"" +
                                                                problem + "\"\nrecommendation: R\n"}});
  } catch (const RuleErrors& errors) {
    return errors.problems();
  }
  return {};
}

TEST(OddSql, AColumnComparedWithItself) {
  EXPECT_THAT(
      ErrorsOfOrders("SELECT shop, count(*) AS n FROM orders AS o WHERE o.price = price GROUP BY shop"),
      ElementsAre(AllOf(HasSubstr("compares o.price with itself, which price is here: write the relation"),
                        Not(HasSubstr("subject")))));
  for (
      const char* sound :
      {"SELECT shop, count(*) AS n FROM orders AS o WHERE o.price = price - number GROUP BY shop",
       "SELECT shop, count(*) AS n FROM orders AS o WHERE 2 * price = o.price GROUP BY shop",
       "SELECT shop, count(*) AS n FROM orders AS o WHERE o.item = item || 's' GROUP BY shop",
       "SELECT shop, count(*) AS n FROM orders AS o WHERE o.item = item COLLATE nocase GROUP BY shop",
       "SELECT shop, count(*) AS n FROM orders AS o WHERE number BETWEEN 1 AND o.price = price GROUP BY shop",
       "SELECT shop, sum(o.price) AS price, 1 AS n FROM orders AS o GROUP BY shop HAVING o.price = price",
       "SELECT shop, sum(o.price) price, 1 AS n FROM orders AS o GROUP BY shop HAVING price = o.price",
       "SELECT s.shop AS shop, 1 AS n FROM shop AS s LEFT JOIN orders AS o USING (shop) WHERE o.shop = shop",
       "SELECT shop, 1 AS n FROM orders WHERE EXISTS (SELECT 1 FROM orders AS k WHERE orders.price = price)"})
    EXPECT_THAT(ErrorsOfOrders(sound), IsEmpty()) << sound;
}

TEST(OddMessages, BracesThatAreOpenBeforeOthers) {
  for (const char* problem : {"x {{shop}} and {{ {{shop}} end", "x {{n}} and {{shop {{shop}} end",
                              "x {{ and {{shop}} end", "x {{shop}} and {{{ {{shop}} end"})
    EXPECT_THAT(ErrorsOfOrders("SELECT shop, 1 AS n FROM orders", problem),
                ElementsAre(HasSubstr("opens {{ and does not close it")))
        << problem;
  EXPECT_THAT(ErrorsOfOrders("SELECT shop, 1 AS n FROM orders", "{{{shop}}} of {{ n }}"), IsEmpty());
}

TEST(OddMessages, TagsOfOtherTemplatesAreShownAsTheyAre) {
  EXPECT_THAT(OfMessage("{% if shop %}x{% endif %}"), ElementsAre(HasSubstr("{% ... %} is shown as it is")));
  for (const char* tag : {"%(lost_ns)s", "$lost_ns", "<lost_ns>", "#{lost_ns}"})
    EXPECT_THAT(OfMessage(tag), testing::Contains(HasSubstr("is shown as it is: {{lost_ns}} is the value")))
        << tag;
  EXPECT_THAT(OfMessage("costs $lost_nsx, <b>"), IsEmpty());
}

}  // namespace
}  // namespace dladvisor
