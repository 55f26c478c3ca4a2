// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/family/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace dladvisor {
namespace {

struct Flour {
  int grams = 0;
};
struct Dough {
  int grams = 0;
};
struct Bread {
  int grams = 0;
};
struct Cake {};

std::atomic<int> kneaded = 0;
Dough Knead(const Flour& flour) {
  ++kneaded;
  return {flour.grams * 2};
}
Bread Bake(const Dough& dough, const Flour&) { return {dough.grams - 1}; }
Cake Burn(const Dough&) { throw std::runtime_error("burnt"); }

}  // namespace

template <>
inline constexpr Given kValue<Flour>{"flour", Subject::kFleet};
template <>
inline constexpr Computed kValue<Dough>{"dough", Knead};
template <>
inline constexpr Computed kValue<Bread>{"bread", Bake};
template <>
inline constexpr Computed kValue<Cake>{"cake", Burn};

namespace {

std::vector<std::string> NamesOf(const std::vector<const ValueKind*>& kinds) {
  std::vector<std::string> names;
  for (const ValueKind* kind : kinds) names.push_back(kind->name);
  return names;
}

TEST(ComputedValues, EachIsComputedOnce) {
  const Flour flour{100};
  ComputedValues values;
  values.Give(flour);
  kneaded = 0;
  EXPECT_EQ(values.Get<Bread>().grams, 199);
  EXPECT_EQ(values.Get<Dough>().grams, 200);
  EXPECT_EQ(kneaded, 1);
}

TEST(ComputedValues, AreComputedBeforehandAfterTheirInputs) {
  const Flour flour{10};
  ComputedValues values;
  values.Give(flour);
  kneaded = 0;
  const std::vector<const ValueKind*> bread = {&KindOf<Bread>()};
  EXPECT_THAT(NamesOf(WithInputs(bread)), testing::ElementsAre("flour", "dough", "bread"));
  EXPECT_FALSE(values.Has(KindOf<Dough>()));
  values.Compute(bread);
  EXPECT_TRUE(values.Has(KindOf<Dough>()));
  EXPECT_EQ(values.Get<Bread>().grams, 19);
  EXPECT_EQ(kneaded, 1);
}

TEST(ComputedValues, WhatIsNotKeptIsForgotten) {
  const Flour flour{10};
  ComputedValues values;
  values.Give(flour);
  const std::vector<const ValueKind*> dough = {&KindOf<Dough>()};
  values.Get<Bread>();
  values.KeepOnly(dough);
  EXPECT_FALSE(values.Has(KindOf<Bread>()));
  EXPECT_TRUE(values.Has(KindOf<Dough>()));
  EXPECT_EQ(static_cast<const Dough*>(values.Take(KindOf<Dough>()).get())->grams, 20);
  EXPECT_FALSE(values.Has(KindOf<Dough>()));
}

TEST(ComputedValues, AnErrorOfAComputationIsThrown) {
  const Flour flour{10};
  ComputedValues values;
  values.Give(flour);
  const std::vector<const ValueKind*> both = {&KindOf<Cake>(), &KindOf<Bread>()};
  EXPECT_THROW(values.Compute(both), std::runtime_error);
  EXPECT_THROW(values.Get<Cake>(), std::runtime_error);
  EXPECT_EQ(values.Get<Bread>().grams, 19);
}

TEST(ComputedValues, WhatIsNotGivenIsNamed) {
  try {
    ComputedValues().Get<Bread>();
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "no flour was given");
  }
}

TEST(ComputedValues, AreAboutWhatTheyAreComputedFrom) { EXPECT_EQ(KindOf<Bread>().subject, Subject::kFleet); }

}  // namespace
}  // namespace dladvisor
