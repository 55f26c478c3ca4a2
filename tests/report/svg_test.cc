// SPDX-License-Identifier: Apache-2.0
#include "src/render/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>
#include <vector>

namespace dladvisor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<double> HeightsOf(const std::string& svg) {
  std::vector<double> heights;
  re2::StringPiece rest(svg);
  const RE2 bar(R"re(<rect [^>]*x="[0-9.]+" y="[0-9.]+" width="[0-9.]+" height="([0-9.]+)")re");
  for (double height = 0; RE2::FindAndConsume(&rest, bar, &height);) heights.push_back(height);
  return heights;
}

TEST(BarChart, CutsWarmUpThatWouldFlattenTheRest) {
  const std::string svg =
      BarChart("x", "Steps", {{"0", 170, "170 ms", true}, {"1", 10, "10 ms", false}, {"2", 5, "5 ms", false}},
               10, "10 ms", "170 ms");
  const std::vector<double> heights = HeightsOf(svg);
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_GT(heights[1], 0.7 * heights[0]);
  EXPECT_NEAR(heights[1], 2 * heights[2], 0.1);
  EXPECT_THAT(svg, HasSubstr("170 ms, cut"));
  EXPECT_THAT(svg, HasSubstr("class=\"break\""));
}

TEST(BarChart, KeepsWarmUpWholeThatIsLittleLonger) {
  const std::string svg =
      BarChart("x", "Steps", {{"0", 15, "15 ms", true}, {"1", 10, "10 ms", false}}, 10, "10 ms", "15 ms");
  EXPECT_THAT(svg, Not(HasSubstr("cut")));
  const std::vector<double> heights = HeightsOf(svg);
  ASSERT_EQ(heights.size(), 2u);
  EXPECT_NEAR(heights[0], 1.5 * heights[1], 0.1);
}

TEST(RoundTicks, AreMultiplesOfARoundNumber) {
  EXPECT_EQ(RoundTicks(3.12e6), (std::vector<double>{0, 5e5, 1e6, 1.5e6, 2e6, 2.5e6, 3e6}));
  EXPECT_EQ(RoundTicks(997), (std::vector<double>{0, 200, 400, 600, 800}));
  EXPECT_EQ(RoundTicks(7), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(RoundTicks(0), std::vector<double>{0});
}

TEST(LaneChart, WritesNoLabelBelowAFlag) {
  const std::vector<Lane> lanes = {{"idle", "", {{0, 100, "a long label", "", "c-idle1"}}}};
  const auto label_at = [&](const std::vector<Flag>& flags) {
    double at = 0;
    RE2::PartialMatch(LaneChart("x", "Step", lanes, {}, flags), R"re(<text class="in [^"]*" x="([0-9.]+)")re",
                      &at);
    return at;
  };
  const double centre = label_at({});
  EXPECT_GT(label_at({{0, 0, "1", "Title", "#f"}}), centre);
  EXPECT_GT(label_at({{0, 40, "1", "Title", "#f"}}), centre + 100);
  EXPECT_EQ(label_at({{0, 95, "1", "Title", "#f"}}), 0) << "no room";
  EXPECT_EQ(label_at({{1, 0, "1", "Title", "#f"}}), centre) << "of another lane";
}

}  // namespace
}  // namespace dladvisor
