// SPDX-License-Identifier: Apache-2.0
// The period of a kernel sequence, against a reference that tries every period letter by letter.
#include "src/analysis/context/kernel_period.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace dladvisor {
namespace {
using Sequence = std::vector<uint32_t>;

Sequence Repeat(const Sequence& unit, size_t times) {
  Sequence sequence;
  for (size_t i = 0; i < times; ++i) sequence.insert(sequence.end(), unit.begin(), unit.end());
  return sequence;
}

Sequence Distinct(uint32_t first, size_t count) {
  Sequence sequence;
  for (size_t i = 0; i < count; ++i) sequence.push_back(first + static_cast<uint32_t>(i));
  return sequence;
}

void Append(Sequence& sequence, const Sequence& more) {
  sequence.insert(sequence.end(), more.begin(), more.end());
}

// The shortest period of the longest repetition at the end, by comparing every pair; without a cut tail.
std::optional<SequencePeriod> PeriodByForce(const Sequence& s) {
  for (size_t period = 1; period * 3 <= s.size(); ++period) {
    size_t covered = period;
    while (covered < s.size() && s[s.size() - 1 - covered] == s[s.size() - 1 - covered + period]) ++covered;
    if (covered < 3 * period || covered * 10 < s.size() * 8) continue;
    std::set<uint32_t> names(s.end() - static_cast<std::ptrdiff_t>(period), s.end());
    if (period < 8 || names.size() < 3) return std::nullopt;
    return SequencePeriod{period, s.size() - covered / period * period, covered / period};
  }
  return std::nullopt;
}

void ExpectRepeats(const Sequence& s, const SequencePeriod& found) {
  ASSERT_LE(found.first + found.period * found.count, s.size());
  for (size_t i = found.first + found.period; i < found.first + found.period * found.count; ++i)
    ASSERT_EQ(s[i], s[i - found.period]) << "at " << i;
}

TEST(KernelPeriod, AgreesWithComparingEveryPair) {
  std::mt19937 random(17);
  int found_some = 0;
  for (int round = 0; round < 2000; ++round) {
    Sequence unit(1 + random() % 20);
    for (uint32_t& name : unit) name = static_cast<uint32_t>(random() % 4);
    Sequence s = Distinct(100, random() % 8);
    Append(s, Repeat(unit, 1 + random() % 8));
    // The beginning of one more round, as where the capture ended within a step.
    s.insert(s.end(), unit.begin(), unit.begin() + static_cast<std::ptrdiff_t>(random() % unit.size()));
    const auto expected = PeriodByForce(s);
    const auto found = FindPeriod(s);
    if (expected) {
      ++found_some;
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->period, expected->period);
      EXPECT_EQ(found->first, expected->first);
      EXPECT_EQ(found->count, expected->count);
    }
    if (found) ExpectRepeats(s, *found);
  }
  EXPECT_GT(found_some, 200);
}

TEST(KernelPeriod, RoundsOfAShortLoopAreNoSteps) {
  for (size_t length = 1; length < 8; ++length)
    EXPECT_FALSE(FindPeriod(Repeat(Distinct(1, length), 100)).has_value()) << length;
  EXPECT_TRUE(FindPeriod(Repeat(Distinct(1, 8), 100)).has_value());
  EXPECT_FALSE(FindPeriod(Repeat({1, 2, 2, 2, 1, 1, 2, 2, 1}, 100)).has_value()) << "two names";
}

TEST(KernelPeriod, RepeatedLayersWithinAStepDoNotHideTheStep) {
  Sequence step = {1, 2, 3};
  for (int layer = 0; layer < 24; ++layer) Append(step, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
  Append(step, {4, 5, 6, 7});
  const auto found = FindPeriod(Repeat(step, 6));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->period, step.size());
  EXPECT_EQ(found->count, 6u);
}

TEST(KernelPeriod, CoverageIsOfTheWholeSequence) {
  const Sequence step = Distinct(1, 10);
  Sequence enough = Distinct(100, 12), too_little = Distinct(100, 13);
  Append(enough, Repeat(step, 5));      // 50 of 62: 80.6 %
  Append(too_little, Repeat(step, 5));  // 50 of 63: 79.4 %
  EXPECT_TRUE(FindPeriod(enough).has_value());
  EXPECT_FALSE(FindPeriod(too_little).has_value());
  EXPECT_FALSE(FindPeriod(Repeat(step, 2)).has_value());
  EXPECT_TRUE(FindPeriod(Repeat(step, 3)).has_value());
}

// Sequences that a search without care takes quadratic time for: minutes instead of a second.
TEST(KernelPeriod, LongMonotonousSequencesAreNoTrouble) {
  constexpr size_t kLength = 300'000;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(FindPeriod(Sequence(kLength, 7)).has_value());
  EXPECT_FALSE(FindPeriod(Repeat({1, 2}, kLength / 2)).has_value());
  Sequence late = Sequence(kLength, 7);
  late.back() = 8;
  EXPECT_FALSE(FindPeriod(late).has_value());
  Sequence early = Sequence(kLength, 7);
  early.front() = 8;
  EXPECT_FALSE(FindPeriod(early).has_value());
  std::mt19937 random(1);
  Sequence noise(kLength);
  for (uint32_t& name : noise) name = static_cast<uint32_t>(random() % 2);
  EXPECT_FALSE(FindPeriod(noise).has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// A round of ten kernels of which every other one runs two of them in the other order.
TEST(KernelPeriod, RoundsInAlternatingOrderAreTwo) {
  const Sequence a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, b = {1, 2, 3, 5, 4, 6, 7, 8, 9, 10};
  Sequence both = a;
  Append(both, b);
  for (size_t shift = 0; shift < both.size(); ++shift) {
    Sequence s = Repeat(both, 5);
    s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(shift));
    const auto found = FindPeriod(s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->period, 20u);
    const SequencePeriod halved = WithoutAlternation(s, *found);
    EXPECT_EQ(halved.period, 10u) << shift;
    EXPECT_LE(halved.first + halved.period * halved.count, s.size());
    EXPECT_GE(halved.count, 2 * found->count - 1);
  }
}

TEST(KernelPeriod, RoundsOfOtherWorkAreNotHalved) {
  Sequence more = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, fewer = more, reversed(more.rbegin(), more.rend());
  fewer[4] = 11;  // an update in every other round
  for (const Sequence* second : {&fewer, &reversed}) {
    Sequence both = more;
    Append(both, *second);
    const Sequence s = Repeat(both, 5);
    const auto found = FindPeriod(s);
    ASSERT_TRUE(found);
    EXPECT_EQ(WithoutAlternation(s, *found).period, 20u);
  }
}

}  // namespace
}  // namespace dladvisor
