// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/finding_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/inference/explanation.h"

namespace dladvisor::test {
namespace {

ConditionTrace Compares(const std::string& left, const std::string& op, const std::string& right, Value here,
                        Value limit, Unit unit) {
  ConditionTrace trace;
  trace.sql = left + " " + op + " " + right;
  trace.holds = true;
  trace.compared = {{left, op, right, std::move(here), std::move(limit), unit, "Why this much."}};
  return trace;
}

TEST(FindingWords, NameFactsAsPeopleDo) {
  EXPECT_EQ(NameWords("idle_share"), "Idle share");
  EXPECT_EQ(NameWords("gpu.starved_ns"), "Starved time");
  EXPECT_EQ(NameWords("gpu_utilization"), "GPU utilization");
}

TEST(FindingWords, SayWhatWasFoundAndWhatWasLookedFor) {
  const auto words = WordsOf(Compares("idle_share", ">", ":min_idle", 0.589, 0.15, Unit::kRatio));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].what, "Idle share");
  EXPECT_EQ(words[0].here, "58.9 %");
  EXPECT_EQ(words[0].wanted, "more than 15.0 %");
  EXPECT_EQ(words[0].apart, "43.9 percentage points above");
  EXPECT_EQ(words[0].limit, "Why this much.");
  const auto mirrored = WordsOf(Compares(":most", ">=", "calls", int64_t{9}, int64_t{4}, Unit::kCount));
  EXPECT_EQ(mirrored[0].what, "Calls");
  EXPECT_EQ(mirrored[0].wanted, "at most 9");
  const auto sides = WordsOf(Compares("kernel_ns", "<", "2 * own_ns", 1e6, 4e6, Unit::kNanoseconds));
  EXPECT_EQ(sides[0].wanted, "less than 4.00 ms (2 × local time)");
}

TEST(FindingWords, KeepSqlThatIsNoArithmeticToThemselves) {
  const auto words = WordsOf(Compares("(SELECT max(ns) FROM gpu)", ">", "0", 3.0, 0.0, Unit::kNanoseconds));
  EXPECT_EQ(words[0].what, "A computed value");
  ConditionTrace truth;
  truth.sql = "kind NOT IN ('serving')";
  truth.holds = false;
  truth.facts = {{"kind", "serving", Unit::kText}};
  EXPECT_EQ(WordsOf(truth)[0].what, "A further condition on kind");
  EXPECT_EQ(WordsOf(truth)[0].here, "no");
}

TEST(FindingWords, LabelFactsButNoTruthsAndNoKeys) {
  Finding finding;
  finding.subject = {{"rank", int64_t{5}, Unit::kNone}};
  finding.why = {Compares("idle_share", ">", ":min_idle", 0.589, 0.15, Unit::kRatio),
                 Compares("rank", ">", "0", int64_t{5}, int64_t{0}, Unit::kNone)};
  finding.lets = {{"array_library", int64_t{0}, Unit::kNone},
                  {"training", int64_t{1}, Unit::kNone},
                  {"lost_ns", 2e6, Unit::kNanoseconds},
                  {"idle_share", 0.589, Unit::kRatio}};
  const std::vector<std::pair<std::string, std::string>> expected = {{"Idle share", "58.9 %"},
                                                                     {"Lost time", "2.00 ms"}};
  EXPECT_EQ(KeyFacts(finding), expected);
}

TEST(FindingWords, EndASentenceAtItsEnd) {
  EXPECT_EQ(FirstSentence("Do it, e.g. here. Then that."),
            std::pair(std::string("Do it, e.g. here."), std::string("Then that.")));
  EXPECT_EQ(FirstSentence("Takes 3.5 ms").second, "");
}

TEST(FindingWords, NameAPlaceThatStays) {
  Finding finding;
  finding.rule = "slow \"rule\"";
  finding.subject = {{"rank", int64_t{5}, Unit::kNone}};
  const std::string anchor = FindingAnchor(finding);
  EXPECT_TRUE(anchor.starts_with("finding-slow--rule--")) << anchor;
  finding.problem = "takes 3 ms";
  EXPECT_EQ(FindingAnchor(finding), anchor);
}

}  // namespace
}  // namespace dladvisor::test
