// SPDX-License-Identifier: Apache-2.0
#include "src/render/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

namespace dladvisor {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<RooflineCeiling> kCeilings = {{"BF16 matrix units", 1e15}, {"FP32", 5e13}};

std::string Chart(const std::vector<RooflineDot>& dots) {
  return Roofline("r", "Roofline", 2e12, kCeilings, dots);
}

// Of the circle in the mark of a dot: x, y, radius.
std::array<double, 3> Circle(const std::string& svg) {
  static const std::regex circle(
      R"re(<g class="dot [^"]*"><circle cx="([0-9.]+)" cy="([0-9.]+)" r="([0-9.]+)")re");
  std::smatch found;
  EXPECT_TRUE(std::regex_search(svg, found, circle)) << svg;
  return {std::stod(found[1]), std::stod(found[2]), std::stod(found[3])};
}

TEST(Roofline, FasterIsHigherAndMoreIntenseIsFurtherRight) {
  const auto slow = Circle(Chart({{"mm", 100, 1e13, 1, 0}})), fast = Circle(Chart({{"mm", 100, 1e14, 1, 0}}));
  EXPECT_DOUBLE_EQ(slow[0], fast[0]);
  EXPECT_LT(fast[1], slow[1]);
  EXPECT_GT(Circle(Chart({{"mm", 300, 1e13, 1, 0}}))[0], slow[0]);
}

TEST(Roofline, DotAtTheRidgeTouchesTheRoof) {
  const std::string svg = Chart({{"mm", 500, 1e15, 1, 0}});  // 1e15 FLOP/s at 2e12 bytes/s
  static const std::regex roof(R"re(<line class="roof" x1="([0-9.]+)" x2="934" y1="([0-9.]+)")re");
  std::smatch ceiling;
  ASSERT_TRUE(std::regex_search(svg, ceiling, roof)) << svg;
  const auto dot = Circle(svg);
  EXPECT_NEAR(dot[0], std::stod(ceiling[1]), 0.11);
  EXPECT_NEAR(dot[1], std::stod(ceiling[2]), 0.11);
}

// What a ceiling's dots look like is shown beside the plot, where none can be.
TEST(Roofline, MarkersOfCeilingsAreNoOperators) {
  static const std::regex marker(R"re(<g class="c-[a-z]*"><circle cx="([0-9.]+)")re");
  const std::string svg = Chart({{"mm", 500, 1e15, 1, 0}});
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, marker)) << svg;
  EXPECT_GT(std::stod(found[1]), 934 + 4);
}

TEST(Roofline, LargestDotsAreNamedWhereNamesCoverNoOther) {
  const std::string svg = Chart({{"1", 100, 1e13, 4, 0, "mm"},
                                 {"2", 101, 1e13, 3, 0, "bmm"},
                                 {"3", 10, 1e13, 2, 1, "add<float>"},
                                 {"4", 10, 1e14, 1, 1},
                                 {"5", 1000, 1e12, 1, 0, "add<float>"}});
  EXPECT_THAT(svg, HasSubstr(">mm</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">bmm</text>"))) << "over the first";
  const std::string add = ">add&lt;float&gt;</text>";
  EXPECT_THAT(svg, HasSubstr(add));
  EXPECT_EQ(svg.find(add), svg.rfind(add)) << "once";
  std::vector<RooflineDot> many;
  for (int i = 0; i < 20; ++i) many.push_back({"", std::pow(1.6, i), 1e13, 1, 0, "op" + std::to_string(i)});
  static const std::regex name("op[0-9]+</text>");
  const std::string of_many = Chart(many);
  EXPECT_EQ(std::distance(std::sregex_iterator(of_many.begin(), of_many.end(), name), {}), 5);
}

TEST(Roofline, NameOfADotAtTheTopIsWithinThePicture) {
  const std::string svg = Chart({{"mm", 1000, 9e14, 1, 0, "mm"}});
  static const std::regex label(R"re(<text class="middle" x="[0-9.]+" y="(-?[0-9.]+)">mm</text>)re");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, label)) << svg;
  EXPECT_GT(std::stod(found[1]), 16 + 10);
}

TEST(Roofline, SaysHowManyDotsAreBeyondTheScale) {
  EXPECT_THAT(Chart({{"mm", 100, 1e13, 1, 0}, {"tiny", 1, 1, 1, 0}}),
              HasSubstr("1 beyond the scale on its edge."));
  EXPECT_THAT(Chart({{"mm", 100, 1e13, 1, 0}}), Not(HasSubstr("beyond the scale")));
}

TEST(Roofline, AreaIsTheShareOfTime) {
  const double whole = Circle(Chart({{"mm", 100, 1e13, 4, 0}}))[2];
  const double quarter = Circle(Chart({{"mm", 100, 1e13, 1, 0}, {"bmm", 10, 1e12, 3, 1}}))[2];
  EXPECT_NEAR(quarter, whole / 2, 0.06);
}

TEST(Roofline, LeavesOutWhatHasNoPlaceOnLogarithmicAxes) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(Chart({{"copy", 0, 1e13, 1, 0}, {"none", 1, 0, 1, 0}, {"inf", infinite, 1e13, 1, 0}}),
              Not(HasSubstr("class=\"dot")));
  EXPECT_EQ(Roofline("r", "Roofline", 0, kCeilings, {}), "");
  EXPECT_EQ(Roofline("r", "Roofline", 2e12, {}, {}), "");
}

TEST(Roofline, VerySlowDotsStayInThePlot) {
  const auto dot = Circle(Chart({{"tiny", 1e-9, 1, 1, 0}}));
  EXPECT_GE(dot[0], 74);
  EXPECT_LE(dot[1], 372);
}

TEST(Roofline, EscapesNames) {
  EXPECT_THAT(Chart({{"<script>", 10, 1e13, 1, 1}}), HasSubstr("&lt;script&gt;"));
}

}  // namespace
}  // namespace dladvisor
