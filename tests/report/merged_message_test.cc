// SPDX-License-Identifier: Apache-2.0
#include "src/render/merged_message.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/message.h"

namespace dladvisor::test {
namespace {

RenderedMessage Takes(int64_t device, int64_t rank, double ns, const std::string& kernel = "sm80_4x4") {
  const std::vector<NamedValue> scope = {{"device", device, Unit::kNone},
                                         {"rank", rank, Unit::kNone},
                                         {"kernel", kernel, Unit::kText},
                                         {"ns", ns, Unit::kNanoseconds}};
  return RenderMessage("On {{GPU device}} of {{rank rank}} {{kernel}} takes {{ns/step}}", scope,
                       {.periods = 1});
}

std::string OfAll(const std::vector<RenderedMessage>& messages) {
  std::vector<const RenderedMessage*> all;
  for (const RenderedMessage& message : messages) all.push_back(&message);
  return Merged(all).text;
}

TEST(MergedMessage, HasTheRangeOfEachNumberAndListsPlaces) {
  EXPECT_EQ(OfAll({Takes(0, 0, 900e3), Takes(3, 1, 1.2e6), Takes(1, 0, 1e6)}),
            "On each of GPUs 0–1, 3 of ranks 0–1 sm80_4x4 takes 900 µs – 1.20 ms per step");
  EXPECT_EQ(OfAll({Takes(0, 0, 1e6), Takes(0, 1, 2e6)}),
            "On GPU 0 of each of ranks 0–1 sm80_4x4 takes 1.00 – 2.00 ms per step");
  EXPECT_EQ(OfAll({Takes(2, 0, 1e6)}), Takes(2, 0, 1e6).text);
}

TEST(MergedMessage, KeepsItsSentences) {
  const auto loads = [](int64_t rank, double ns) {
    return RenderMessage(
        "{{Rank rank}} loads for {{ns}}. {{Rank rank}} waits.",
        std::vector<NamedValue>{{"rank", rank, Unit::kNone}, {"ns", ns, Unit::kNanoseconds}});
  };
  const RenderedMessage first = loads(0, 1e6), second = loads(2, 1e6);
  const RenderedMessage merged = Merged({&first, &second});
  EXPECT_EQ(merged.FirstSentence(), "Each of ranks 0, 2 loads for 1.00 ms. ");
  EXPECT_EQ(merged.AfterFirstSentence(), "Each of ranks 0, 2 waits.");
}

TEST(MergedMessage, HasAShapeOfItsWordsAndNames) {
  EXPECT_EQ(ShapeOf(Takes(0, 0, 900e3)), ShapeOf(Takes(3, 1, 1.2e6)));
  EXPECT_NE(ShapeOf(Takes(0, 0, 900e3)), ShapeOf(Takes(0, 0, 900e3, "sm90")));
  EXPECT_NE(ShapeOf(Takes(0, 0, 900e3)), ShapeOf("On GPU 0 of rank 0 sm80_4x4 takes 900 µs"));
}

TEST(MergedMessage, ListsTheFirstOfMany) {
  EXPECT_EQ(Listed({0, 1, 2, 5}), "0–2, 5");
  std::set<int64_t> even;
  for (int64_t i = 0; i < 100; i += 2) even.insert(i);
  EXPECT_TRUE(Listed(even).ends_with("22, ... (50 in all)")) << Listed(even);
}

}  // namespace
}  // namespace dladvisor::test
