// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {

const std::vector<std::string> kColumns = {"idle_share", "idle_ns", "device", "rank"};

TEST(Nearest, FindsTypos) {
  EXPECT_EQ(Nearest("idel_share", kColumns), "idle_share");
  EXPECT_EQ(Nearest("devcie", kColumns), "device");
  EXPECT_EQ(DidYouMean("idle_nss", kColumns), " (did you mean idle_ns?)");
}

TEST(Nearest, FindsNamesInOtherCase) {
  EXPECT_EQ(Nearest("RANK", kColumns), "rank");
  EXPECT_EQ(Nearest("Idle_Share", kColumns), "idle_share");
}

TEST(Nearest, FindsNamesOfTheSameWords) {
  const std::vector<std::string> columns = {"gpu_ns", "step_ns", "steps", "idle_step_ns"};
  EXPECT_EQ(Nearest("avg_step_ns", columns), "step_ns");
  EXPECT_EQ(Nearest("first_idle_step_ns", columns), "idle_step_ns");
  EXPECT_FALSE(Nearest("avg_memory_ns", columns).has_value());
}

TEST(Nearest, FindsAbbreviations) {
  const std::vector<std::string> keys = {"params", "problem", "let", "code"};
  EXPECT_EQ(Nearest("parameters", keys), "params");
  EXPECT_EQ(Nearest("problem_statement", keys), "problem");
  EXPECT_FALSE(Nearest("letters_of_thanks", keys).has_value());
}

TEST(Nearest, IsSilentOnStrangers) {
  EXPECT_FALSE(Nearest("temperature", kColumns).has_value());
  EXPECT_EQ(DidYouMean("x", kColumns), "");
}

TEST(ValidUtf8, ReplacesOnlyWhatIsBroken) {
  EXPECT_EQ(ValidUtf8("gr\xC3\xBC\xC3\x9F"), "grüß");
  EXPECT_EQ(ValidUtf8("a\xFF"
                      "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong "/"
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(ValidUtf8("\xE2\x82"), "\uFFFD\uFFFD");            // cut short
}

TEST(WithThousands, GroupsDigits) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(3073524010), "3,073,524,010");
  EXPECT_EQ(WithThousands(-1000), "-1,000");
  EXPECT_EQ(WithThousands(-100), "-100");
}

TEST(ThreeDigits, OfAnySize) {
  EXPECT_EQ(ThreeDigits(0.03281), "0.0328");
  EXPECT_EQ(ThreeDigits(999.4), "999");
  EXPECT_EQ(ThreeDigits(999.9999), "1,000");
  EXPECT_EQ(ThreeDigits(12345.6), "12,346");
  EXPECT_EQ(ThreeDigits(1e308), "1e+308");
}

TEST(Split, LeavesOutEmptyParts) {
  EXPECT_THAT(Split(" gpu-work  ranges ", ' '), testing::ElementsAre("gpu-work", "ranges"));
  EXPECT_THAT(Split("", ','), testing::IsEmpty());
}

}  // namespace
}  // namespace dladvisor
