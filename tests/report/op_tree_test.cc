// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/op_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportTable Paths(const std::vector<std::pair<const char*, int64_t>>& rows) {
  ReportTable table{"ops", "Ops", "", "", {}, rows.size()};
  table.rows.columns = {{"op", Unit::kText}, {"gpu_ns", Unit::kNanoseconds}};
  for (const auto& [path, ns] : rows) table.rows.rows.push_back({std::string(path), ns});
  return table;
}

TEST(OpTree, SumsUpWhatIsBelowAndSortsByTime) {
  const std::string html = OpTreeHtml(Paths({{"/step/forward/mm", 30'000'000},
                                             {"/step/forward/add", 10'000'000},
                                             {"/step/backward/mm", 60'000'000}}),
                                      "op", false);
  EXPECT_THAT(html, HasSubstr("<span>step</span><b>100 ms</b><span class=\"share-of\">100.0 %</span>"));
  EXPECT_THAT(html, HasSubstr("<span>forward</span><b>40.0 ms</b><span class=\"share-of\">40.0 %</span>"));
  EXPECT_THAT(html, HasSubstr("<span>backward/<wbr>mm</span><b>60.0 ms</b>"));  // alone in it
  EXPECT_LT(html.find("backward/<wbr>mm"), html.find("forward"));
}

TEST(OpTree, DoesNotCountTwiceWhatGroupsHold) {
  const std::string html = OpTreeHtml(
      Paths({{"/model", 50'000'000}, {"/model/layer", 20'000'000}, {"/loss", 50'000'000}}), "op", true);
  EXPECT_THAT(html, HasSubstr("<span>model</span><b>50.0 ms</b><span class=\"share-of\">50.0 %</span>"));
}

TEST(OpTree, SaysWhatIsTooSmall) {
  const std::string html =
      OpTreeHtml(Paths({{"/a", 999'000'000}, {"/b", 400'000}, {"/c", 600'000}}), "op", false);
  EXPECT_THAT(html, HasSubstr("2 smaller: 1.00 ms"));
  EXPECT_THAT(html, Not(HasSubstr("<span>b</span>")));
}

TEST(OpTree, EscapesNames) {
  const std::string html =
      OpTreeHtml(Paths({{kHostileName.c_str(), 1'000'000}, {"/b", 400'000}}), "op", false);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(OpTreeHtml(Paths({}), "op", false), "");
}

}  // namespace
}  // namespace dladvisor::test
