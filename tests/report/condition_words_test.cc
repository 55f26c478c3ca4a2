// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/condition_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

TEST(ConditionWords, SayWhatWasFoundAndWhatWasLookedFor) {
  const auto words = WordsOf(Compared("idle_share", ">", ":min_idle", 0.589, 0.15, Unit::kRatio));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].what, "Idle share");
  EXPECT_EQ(words[0].here, "58.9 %");
  EXPECT_EQ(words[0].wanted, "more than 15.0 %");
  EXPECT_EQ(words[0].apart, "43.9 percentage points above");
  EXPECT_EQ(words[0].limit, "Why this much.");
  const auto mirrored = WordsOf(Compared(":most", ">=", "calls", int64_t{9}, int64_t{4}, Unit::kCount));
  EXPECT_EQ(mirrored[0].what, "Calls");
  EXPECT_EQ(mirrored[0].wanted, "at most 9");
  const auto sides = WordsOf(Compared("kernel_ns", "<", "2 * own_ns", 1e6, 4e6, Unit::kNanoseconds));
  EXPECT_EQ(sides[0].wanted, "less than 4.00 ms (2 × local time)");
}

TEST(ConditionWords, SayExpressionsAsSentencesDo) {
  EXPECT_EQ(ExpressionWords("coalesce(gpus, 1)"), "GPUs");
  EXPECT_EQ(ExpressionWords("ratio(gaps_ns, window_ns)"), "Gaps time / window time");
  EXPECT_EQ(ExpressionWords("step_source IS NOT NULL"), "Step source is known");
  EXPECT_EQ(ExpressionWords("coalesce(kind, '') NOT IN ('serving', 'host')"),
            "Kind is none of serving, host");
  EXPECT_EQ(ExpressionWords("(SELECT r.kind FROM run AS r) = 'host'"), "Kind is host");
  EXPECT_EQ(
      ExpressionWords("(SELECT max(l.ns) FROM time_ledger AS l WHERE l.bucket = 'idle/os' AND l.rank = 1)"),
      "Largest time (time ledger: idle/os)");
  EXPECT_EQ(ExpressionWords("CASE WHEN a THEN b END"), "");
  EXPECT_EQ(ExpressionWords("kind GLOB '*'"), "");
  for (const char* open : {"a + (b", "CAST(a AS", "(SELECT a AS", "a IN (", "-", ""})
    EXPECT_EQ(ExpressionWords(open), "") << open;
  EXPECT_EQ(ExpressionWords(std::string(1000, '(')), "");
}

TEST(ConditionWords, SayTruthsWithWhatWasWanted) {
  ConditionTrace truth;
  truth.sql = "NOT cold";
  truth.holds = true;
  ConditionWords words = WordsOf(truth).at(0);
  EXPECT_EQ(words.what, "Cold");
  EXPECT_EQ(words.here, "no");
  EXPECT_EQ(words.wanted, "no");
  truth.sql = "low OR slow";
  words = WordsOf(truth).at(0);
  EXPECT_EQ(words.what, "Low or slow");
  EXPECT_EQ(words.here, "yes");
  truth.sql = "kind GLOB '*x'";
  truth.facts = {{"kind", "serving", Unit::kText}};
  EXPECT_EQ(WordsOf(truth).at(0).what, "A condition on kind");
}

}  // namespace
}  // namespace dladvisor::test
