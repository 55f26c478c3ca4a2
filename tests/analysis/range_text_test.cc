// SPDX-License-Identifier: Apache-2.0
// Texts of ranges without what is appended for a single call.
#include "src/analysis/context/range_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/context/op_path.h"

namespace dladvisor {
namespace {

TEST(RangeTexts, WorkIsPerOperatorNotPerCall) {
  Trace trace;
  for (int call = 0; call < 20'000; ++call)
    for (const char* op : {"aten::linear", "aten::gelu"})
      trace.ranges.name.push_back(trace.names.Intern(
          fmt::format("{}, seq = {}, sizes = [[{}, 4]], op_id = {}", op, call, call, 2 * call)));
  const RangeTexts texts(trace);
  EXPECT_EQ(texts.size(), 3u);  // and "" for no name
  for (size_t i = 0; i < trace.ranges.name.size(); ++i)
    ASSERT_EQ(texts.MarkerOf(trace.ranges.name[i]).name, i % 2 == 0 ? "aten::linear" : "aten::gelu");
}

TEST(RangeTexts, StepsKeepTheirNumbersAmongManyTexts) {
  Trace trace;
  for (int i = 0; i < 100; ++i)
    for (const char* text : {"step {}", "request {}"})
      trace.ranges.name.push_back(trace.names.Intern(fmt::format(fmt::runtime(text), i)));
  const RangeTexts texts(trace, 20);
  EXPECT_EQ(texts.TextAt(texts.IndexOf(trace.ranges.name[14])), "step 7");
  EXPECT_EQ(texts.TextAt(texts.IndexOf(trace.ranges.name[15])), "request #");
}

TEST(RangeTexts, AMarkerKeepsItsWholeText) {
  const std::string text =
      "{'mod': 'torch', 'op': 'conv2d', 'args': [{'type': 'tensor', 'shape': (6,), 'a, seq = ': 1}]}";
  Trace trace;
  trace.ranges.name.push_back(trace.names.Intern(text));
  const RangeTexts texts(trace);
  EXPECT_EQ(texts.TextAt(texts.IndexOf(trace.ranges.name[0])), text);
  EXPECT_EQ(texts.MarkerOf(trace.ranges.name[0]).kind, Marker::Kind::kOp);
}

TEST(RangeTexts, StepsStayApartAndAreCalledAlike) {
  Trace trace;
  for (int step = 0; step < 3; ++step)
    trace.ranges.name.push_back(trace.names.Intern(fmt::format("iteration {}", step)));
  const RangeTexts texts(trace);
  EXPECT_NE(texts.IndexOf(trace.ranges.name[0]), texts.IndexOf(trace.ranges.name[1]));
  EXPECT_EQ(texts.MarkerOf(trace.ranges.name[2]).name, "iteration #");
}

class RareTexts : public testing::Test {
 protected:
  void Add(int times, std::string_view text) {
    for (int i = 0; i < times; ++i) trace_.ranges.name.push_back(trace_.names.Intern(text));
  }
  std::string NameOf(std::string_view text, size_t most_texts) {
    return RangeTexts(trace_, most_texts).MarkerOf(trace_.names.Intern(text)).name;
  }

  Trace trace_;
};

TEST_F(RareTexts, ThatDifferInIdsAreOneWhereTextsAreMany) {
  Add(500, "aten::conv2d");
  Add(500, "layer12");
  for (int i = 0; i < 300; ++i) Add(1, fmt::format("request {:08x}-{} layer{}", i * 2654435761U, i, i));
  EXPECT_EQ(RangeTexts(trace_, 100).size(), 4u);  // and "" for no name
  EXPECT_EQ(NameOf("request 00000000-0 layer0", 100), "request #-# layer#");
  EXPECT_EQ(NameOf("aten::conv2d", 100), "aten::conv2d");
  EXPECT_EQ(NameOf("layer12", 100), "layer12");
  EXPECT_EQ(NameOf("request 00000000-0 layer0", 1000), "request 00000000-0 layer0");
}

TEST_F(RareTexts, ThatDifferInMoreAreOneWhereTooManyAreLeft) {
  Add(500, "forward");
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z'; ++b) Add(1, std::string("load ") + a + b);
  EXPECT_EQ(RangeTexts(trace_, 100).size(), 3u);
  EXPECT_EQ(NameOf("load ab", 100), RangeTexts::kRareText);
  EXPECT_EQ(NameOf("forward", 100), "forward");
}

TEST(RangeTexts, WhatIsAppendedBeginsAtTheFirstOfItsWords) {
  EXPECT_EQ(WithoutCall("aten::to, op_id = 7"), "aten::to");
  EXPECT_EQ(WithoutCall("f(a, b), sizes = [], seq = 1"), "f(a, b)");
  EXPECT_EQ(WithoutCall("load, seq 4, sequence = 3"), "load, seq 4, sequence = 3");
  EXPECT_EQ(WithoutCall(""), "");
}

}  // namespace
}  // namespace dladvisor
