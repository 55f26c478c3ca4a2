// SPDX-License-Identifier: Apache-2.0
#include "engine/model/savings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>

#include "engine/inference/inference.h"
#include "tests/engine/shop.h"

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

Schema HoursSchema() {
  return {"hours",
          "Time of each shop by use.",
          {"shop", "use"},
          {{"shop", Type::kInteger, Unit::kNone, "Shop.", false, ""},
           {"use", Type::kText, Unit::kText, "Use.", false, ""},
           {"ns", Type::kInteger, Unit::kNanoseconds, "Time.", true, ""}}};
}

Ledger Hours() { return {"hours", "use", "ns", {"idle/rain", "idle/lunch", "serving"}, {}}; }

struct ShopHours {
  Schema schema = HoursSchema();
  Table hours{schema}, shops{test::ShopSchema()};
  Database database;
  std::vector<RuleFile> files;

  ShopHours() {
    for (const int64_t shop : {1, 2}) {
      hours.AddRow({shop, std::string("idle/rain"), 100 * shop});
      hours.AddRow({shop, std::string("idle/lunch"), Value()});
      hours.AddRow({shop, std::string("serving"), int64_t{1000}});
      shops.AddRow({shop, Value(), int64_t{0}, Value(), int64_t{0}});
    }
    database.Add(hours);
    database.Add(shops);
  }
  void Rule(const std::string& id, const std::string& saves, const std::string& more = "for: shop\n") {
    files.push_back({"r/" + id + ".yaml",
                     "id: " + id + "\ntitle: T\nproblem: P\nrecommendation: R\nwhen: ['1']\nsaves: " + saves +
                         "\n" + more});
  }
  Advice Infer(const Ledger& ledger = Hours()) {
    std::vector<const Schema*> schemas = {&schema, &shops.schema()};
    KnowledgeBase knowledge(schemas, ledger);
    knowledge.AddLayer(files);
    return dladvisor::Infer(knowledge, database);
  }
};

std::vector<double> Highs(const Advice& advice) {
  std::vector<double> highs;
  for (const Finding& finding : advice.findings) highs.push_back(finding.saves->high_ns.value_or(-1));
  return highs;
}

TEST(Savings, GiveNoMoreThanTheBucketHolds) {
  ShopHours shop;
  shop.Rule("a", "{from: idle/rain, high: '500', low: '150'}");
  const Advice advice = shop.Infer();
  EXPECT_THAT(Highs(advice), ElementsAre(100, 200));
  EXPECT_EQ(advice.findings[0].saves->low_ns, 100);
  EXPECT_EQ(advice.findings[0].saves->claimed_ns, 500);
  EXPECT_EQ(advice.findings[0].saves->alone_ns, 100);
  // Of two shops at the same time the one that saves most counts.
  ASSERT_EQ(advice.savings.size(), 1u);
  EXPECT_EQ(advice.savings[0].bucket, "idle/rain");
  EXPECT_EQ(advice.savings[0].high_ns, 200);
  EXPECT_EQ(advice.savings[0].low_ns, 150);
}

TEST(Savings, OfLessThanANanosecondAreNone) {
  ShopHours shop;
  shop.Rule("a", "{from: idle/rain, high: '99.9999'}", "confidence: high\nfor: shop\n");
  shop.Rule("b", "{from: idle/rain, high: '50', low: '20'}");
  const Advice advice = shop.Infer();
  EXPECT_THAT(Highs(advice), testing::UnorderedElementsAre(99.9999, 99.9999, 0, 50));
  for (const Finding& finding : advice.findings) EXPECT_LE(finding.saves->low_ns, finding.saves->high_ns);
}

TEST(Savings, OfABucketComeFromItsParts) {
  Ledger ledger = Hours();
  ledger.buckets = {"idle/rain", "idle/rain-drizzle", "idle/rainy", "idle/lunch", "serving"};
  EXPECT_THAT(ledger.BucketsOf("idle/rain"), ElementsAre("idle/rain", "idle/rain-drizzle"));
  EXPECT_THAT(ledger.BucketsOf("idle/rain-drizzle"), ElementsAre("idle/rain-drizzle"));
  EXPECT_THAT(ledger.BucketsOf("idle/snow"), IsEmpty());
}

TEST(Savings, OfAFamilyComeFromItsBuckets) {
  ShopHours shop;
  shop.hours.AddRow({int64_t{1}, std::string("idle/lunch"), int64_t{30}});
  shop.Rule("a", "{from: idle, high: '500', low: '65'}",
            "for: {sql: SELECT shop FROM shop WHERE shop = 1, key: [shop]}\n");
  const Advice advice = shop.Infer();
  EXPECT_EQ(advice.findings.at(0).saves->high_ns, 130);
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[0].bucket, "idle/rain");
  EXPECT_EQ(advice.savings[0].high_ns, 100);
  EXPECT_EQ(advice.savings[0].low_ns, 50);
  EXPECT_EQ(advice.savings[1].high_ns, 30);
}

TEST(Savings, OfAllBucketsComeFromWorkAndLossAlike) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_limit = "SELECT 2 AS shop, 20";
  ShopHours shop;
  shop.Rule("a", "{from: step, high: '5000'}",
            "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n");
  const Advice advice = shop.Infer(ledger);
  EXPECT_EQ(advice.findings.at(0).saves->high_ns, 1200) << "whatever the other shop loses";
  EXPECT_EQ(advice.findings[0].saves->ExpectedNs(), 600);
  shop.files.clear();
  shop.Rule("a", "{from: step, high: '5000', now: '150'}",
            "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n");
  EXPECT_EQ(shop.Infer(ledger).findings.at(0).saves->ExpectedNs(), 150) << "as the rule says";
  shop.files.clear();
  shop.hours.AddRow({int64_t{2}, std::string("idle/lunch"), int64_t{900}});
  shop.Rule("a", "{from: step, high: '500', now: '150'}",
            "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n");
  const Advice behind = shop.Infer(ledger);
  ASSERT_EQ(behind.savings.size(), 2u);
  EXPECT_EQ(behind.savings[0].bucket, "idle/lunch");
  EXPECT_EQ(behind.savings[0].high_ns, 150);
  EXPECT_EQ(behind.savings[1].high_ns, 350) << "of the work behind the loss";
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[0].high_ns, 200);
  EXPECT_EQ(advice.savings[1].high_ns, 1000);
}

TEST(Savings, OfAllLossesLeaveWorkAlone) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ShopHours shop;
  shop.Rule("a", "{from: loss, high: '5000'}");
  shop.Rule("b", "{from: idle/rain, high: '50'}", "confidence: low\nfor: shop\n");
  const Advice advice = shop.Infer(ledger);
  double total = 0;
  for (const BucketSaving& saving : advice.savings) {
    EXPECT_NE(saving.bucket, "serving");
    total += saving.high_ns;
  }
  EXPECT_EQ(total, 100) << "what the shop that loses least loses, and nothing twice";
}

TEST(Savings, OfLossAreAtMostWhatTheLeastLosingSubjectLoses) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ShopHours shop;
  shop.Rule("a", "{from: idle/rain, high: '500'}");
  shop.Rule("b", "{from: idle/rain, high: '50'}", "for: shop\nconfidence: high\n");
  shop.Rule("c", "{from: serving, high: '700'}");
  const Advice advice = shop.Infer(ledger);
  EXPECT_THAT(Highs(advice), ElementsAre(50, 50, 50, 50, 700, 700)) << "shop 2 waits for shop 1";
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[0].high_ns, 100);
}

TEST(Savings, OfWorkBehindALossRankByWhatTheyGiveAsLongAsThatStays) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_limit = "SELECT 1 AS shop, 20";
  ShopHours shop;
  shop.Rule("a", "{from: serving, high: '700', low: '100'}");
  shop.Rule("b", "{from: idle/rain, high: '90'}");
  const Advice advice = shop.Infer(ledger);
  ASSERT_EQ(advice.findings.size(), 4u);
  EXPECT_THAT(Highs(advice), ElementsAre(700, 700, 90, 90)) << "once the loss is gone";
  EXPECT_EQ(advice.findings[0].saves->ExpectedNs(), 20);
  EXPECT_EQ(advice.findings[1].saves->ExpectedNs(), 400) << "no limit is known of shop 2";
  EXPECT_EQ(advice.findings[2].saves->ExpectedNs(), 45);
  EXPECT_THAT(advice.Roots(), ElementsAre(1, 2, 3, 0));
}

TEST(Savings, OfWorkBehindLossesThatStayAreTogetherNoMoreThanItsLimit) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_as_recorded = "SELECT 2 AS shop, 20";
  ledger.pace = {"idle/rain"};
  const std::string of_one = "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n";
  ShopHours shop;
  shop.Rule("a", "{from: serving, high: '700', low: '100'}", of_one);
  Advice advice = shop.Infer(ledger);
  ASSERT_EQ(advice.savings.size(), 1u);
  EXPECT_EQ(advice.savings[0].high_ns, 20);
  EXPECT_EQ(advice.savings[0].low_ns, 20);
  EXPECT_EQ(advice.findings[0].saves->high_ns, 700) << "once the losses are gone";
  EXPECT_EQ(advice.findings[0].saves->now_ns, 20);
  EXPECT_EQ(advice.findings[0].saves->ExpectedNs(), 20) << "ranks by what it may promise";
  shop.Rule("b", "{from: idle/rain, high: '90'}", of_one);
  advice = shop.Infer(ledger);
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[1].high_ns, 700) << "as what it lies behind is faster, too";
}

TEST(Savings, OfWorkThatTakesALossWithItAreWhatGoesWithIt) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_limit = ledger.work_as_recorded = "SELECT 2 AS shop, 20";
  ledger.pace = {"idle/rain"};
  const std::string of_one = "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n";
  const auto saves = [&](const std::string& claim) {
    ShopHours shop;
    shop.Rule("a", claim, of_one);
    const Advice advice = shop.Infer(ledger);
    EXPECT_EQ(advice.savings.size(), 1u);
    return std::pair(advice.findings[0].saves.value(), advice.savings[0].high_ns);
  };
  EXPECT_EQ(saves("{from: serving, high: '700', now: '300'}").first.now_ns, 300);
  EXPECT_EQ(saves("{from: serving, high: '700', now: '300'}").first.ExpectedNs(), 300);
  EXPECT_EQ(saves("{from: serving, high: '700', now: '300'}").second, 300);
  EXPECT_EQ(saves("{from: serving, high: '700', now: '5'}").first.now_ns, 20) << "less than without it";
  EXPECT_EQ(saves("{from: serving, high: '700'}").second, 20);
  ledger.work_limit = ledger.work_as_recorded = "";
  EXPECT_EQ(saves("{from: serving, high: '700', now: '300'}").first.now_ns, std::nullopt)
      << "nothing limits it";
}

TEST(Savings, OfAllBucketsTakeLossesFirstAndKeepWhatWorkSavesBesideThem) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_limit = ledger.work_as_recorded = "SELECT 2 AS shop, 20";
  ShopHours shop;
  shop.Rule("a", "{from: step, high: '300', now: '300'}",
            "for: {sql: SELECT shop FROM shop WHERE shop = 2, key: [shop]}\n");
  const Advice advice = shop.Infer(ledger);
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[0].high_ns, 200) << "all that is lost";
  EXPECT_EQ(advice.savings[1].high_ns, 100);
}

TEST(Savings, RankByTwiceWhatIsSure) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  const std::string of_one = "for: {sql: SELECT shop FROM shop WHERE shop = 1, key: [shop]}\n";
  ShopHours shop;
  shop.Rule("a", "{from: serving, high: '100'}", of_one);
  shop.Rule("b", "{from: idle/rain, high: '80', low: '30'}", of_one);
  const Advice advice = shop.Infer(ledger);
  ASSERT_EQ(advice.findings.size(), 2u);
  EXPECT_EQ(advice.findings[0].saves->ExpectedNs(), 50);
  EXPECT_EQ(advice.findings[1].saves->ExpectedNs(), 60);
  EXPECT_THAT(advice.Roots(), ElementsAre(1, 0));
  shop.files.clear();
  shop.Rule("b", "{from: idle/rain, high: '80', low: '50'}", of_one);
  EXPECT_EQ(shop.Infer(ledger).findings.at(0).saves->ExpectedNs(), 80);
}

TEST(Savings, OfWorkBesideWhichOtherThingsGoOnAreWhatItTakesAlone) {
  Ledger ledger = Hours();
  ledger.work = {"serving"};
  ledger.work_beside = "SELECT 1 AS shop, 650";
  ShopHours shop;
  shop.Rule("a", "{from: serving, high: '700'}");
  shop.Rule("b", "{from: idle/rain, high: '90'}");
  EXPECT_THAT(Highs(shop.Infer(ledger)), ElementsAre(350, 700, 90, 90)) << "shop 1 serves alone for 350";
}

TEST(Savings, AreNotSureWhereAWaitIsForWhatGoesOnAtAPaceOfItsOwn) {
  for (const bool paced : {false, true}) {
    Ledger ledger = Hours();
    ledger.paced_from_outside = paced ? "SELECT max(ns) > 150 FROM hours WHERE use = 'idle/rain'"
                                      : "SELECT max(ns) > 250 FROM hours WHERE use = 'idle/rain'";
    ShopHours shop;
    shop.Rule("a", "{from: serving, high: '700', low: '600'}");
    const Advice advice = shop.Infer(ledger);
    EXPECT_THAT(Highs(advice), ElementsAre(700, 700));
    for (const Finding& finding : advice.findings) EXPECT_EQ(finding.saves->low_ns, paced ? 0 : 600);
    ASSERT_EQ(advice.savings.size(), 1u);
    EXPECT_EQ(advice.savings[0].low_ns, paced ? 0 : 600);
  }
}

TEST(Savings, HigherConfidenceThenTheLargerTakesFirst) {
  ShopHours shop;
  shop.Rule("a", "{from: idle/rain, high: '80'}", "for: shop\nconfidence: low\n");
  shop.Rule("b", "{from: idle/rain, high: '30'}", "for: shop\nconfidence: high\n");
  shop.Rule("c", "{from: idle/rain, high: '60'}", "for: shop\nconfidence: high\n");
  const Advice advice = shop.Infer();
  EXPECT_THAT(Highs(advice), ElementsAre(10, 80, 30, 30, 60, 60));
  EXPECT_EQ(advice.findings[0].saves->alone_ns, 80) << "of the 100 that the first shop's bucket holds";
  EXPECT_EQ(advice.findings[2].saves->alone_ns, 30);
}

TEST(Savings, OfASymptomAreNotAddedToThoseOfItsCause) {
  ShopHours shop;
  shop.Rule("cause", "{from: idle/rain, high: '70'}", "for: shop\ncauses: [symptom]\n");
  shop.Rule("symptom", "{from: idle/rain, high: '90'}");
  const Advice advice = shop.Infer();
  EXPECT_THAT(Highs(advice), ElementsAre(70, 70, 90, 90));
  EXPECT_EQ(advice.savings[0].high_ns, 70);
}

// Without a saving the share of the time orders, before what the rules are called.
TEST(Savings, FindingsWithoutOneAreOrderedByTheirShareOfTime) {
  ShopHours shop;
  const auto rule = [&](const std::string& id, const std::string& let) {
    shop.files.push_back(
        {"r/" + id + ".yaml", "id: " + id +
                                  "\ntitle: T\nproblem: P{{share_of_time}}\nrecommendation: R\nfor: "
                                  "shop\nseverity: warning\nwhen: ['1']\n" +
                                  let});
  };
  rule("a-little", "let: {share_of_time: '0.05'}\n");
  rule("b-unknown", "let: {share_of_time: 'NULL'}\n");
  rule("c-much", "let: {share_of_time: '0.4'}\n");
  const Advice advice = shop.Infer();
  std::vector<std::string> order;
  for (const size_t root : advice.Roots()) order.push_back(advice.findings[root].rule);
  EXPECT_THAT(order, ElementsAre("c-much", "c-much", "b-unknown", "b-unknown", "a-little", "a-little"));
}

TEST(Savings, OfASymptomCountWhereItsCauseClaimsNothing) {
  ShopHours shop;
  shop.files.push_back(
      {"r/cause.yaml",
       "id: cause\ntitle: T\nproblem: P\nrecommendation: R\nseverity: info\nwhen: ['1']\nfor: "
       "shop\ncauses: [symptom]\n"});
  shop.Rule("symptom", "{from: idle/rain, high: '90'}", "for: shop\nseverity: error\n");
  shop.Rule("other", "{from: serving, high: '95'}");
  const Advice advice = shop.Infer();
  ASSERT_EQ(advice.savings.size(), 2u);
  EXPECT_EQ(advice.savings[0].high_ns, 90);
  EXPECT_EQ(advice.findings[advice.Roots()[0]].rule, "cause");  // weighs what it explains
}

TEST(Savings, OfASymptomCountWhereItsCauseCannotTellItsOwn) {
  ShopHours shop;
  shop.Rule("cause", "{from: idle/rain, high: 'NULL'}", "for: shop\ncauses: [symptom]\n");
  shop.Rule("symptom", "{from: idle/rain, high: '90'}");
  const Advice advice = shop.Infer();
  ASSERT_EQ(advice.savings.size(), 1u);
  EXPECT_EQ(advice.savings[0].high_ns, 90);
}

TEST(Savings, AFindingWithoutKeysClaimsFromAll) {
  ShopHours shop;
  shop.Rule("all", "{from: serving, high: '900'}", "for: {sql: SELECT 1 AS x, key: []}\n");
  shop.Rule("one", "{from: serving, high: '400'}");
  const Advice advice = shop.Infer();
  EXPECT_THAT(Highs(advice), ElementsAre(900, 100, 100));
  EXPECT_EQ(advice.savings[0].high_ns, 1000);
}

TEST(Savings, OfABucketOfUnknownSizeAreAtMostTheWhole) {
  ShopHours shop;
  shop.Rule("a", "{from: idle/lunch, high: '5000'}");
  EXPECT_THAT(Highs(shop.Infer()), ElementsAre(1100, 1200));
}

TEST(Savings, LowAboveHighClaimsNothingAndSaysSo) {
  ShopHours shop;
  shop.Rule("a", "{from: serving, high: '5', low: '6'}");
  const Advice advice = shop.Infer();
  EXPECT_EQ(advice.findings[0].outcome, Outcome::kFired);
  EXPECT_EQ(advice.findings[0].saves, std::nullopt);
  EXPECT_EQ(advice.findings[0].error, "saves: low is 6 and above high, 5; nothing is claimed");
  EXPECT_THAT(advice.savings, IsEmpty());
}

TEST(Savings, ABucketThatIsNotThereIsATypo) {
  ShopHours shop;
  shop.Rule("a", "{from: idle/rian, high: '5'}");
  try {
    shop.Infer();
    FAIL() << "accepted";
  } catch (const RuleErrors& errors) {
    EXPECT_THAT(errors.problems(),
                ElementsAre("r/a.yaml:6:15: a: no bucket 'idle/rian' in hours (did you mean idle/rain?)"));
  }
}

TEST(Savings, NeverExceedTheWholeWhateverIsClaimed) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ShopHours shop;
    for (int rule = 0; rule < 12; ++rule)
      shop.Rule(std::string(1, static_cast<char>('a' + rule)),
                "{from: " + Hours().buckets[random() % 3] + ", high: '" + std::to_string(random() % 900) +
                    "', low: '0'}",
                std::string(random() % 2 ? "for: shop\n" : "for: {sql: SELECT 1 AS x, key: []}\n") +
                    "confidence: " + (random() % 2 ? "high" : "low") + "\n");
    const Advice advice = shop.Infer();
    double all = 0;
    for (const BucketSaving& saving : advice.savings) {
      all += saving.high_ns;
      EXPECT_LE(saving.low_ns, saving.high_ns);
      if (saving.bucket == "serving") {
        EXPECT_LE(saving.high_ns, 1000);
      }
    }
    EXPECT_LE(all, 1200 + 1e-9);
    EXPECT_GT(all, 0);
  }
}

}  // namespace
}  // namespace dladvisor
