// SPDX-License-Identifier: Apache-2.0
// Texts of ranges without what is appended for a single call.
#include "src/analysis/context/range_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
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

TEST(RangeTexts, WhatIsAppendedBeginsAtTheFirstOfItsWords) {
  EXPECT_EQ(WithoutCall("aten::to, op_id = 7"), "aten::to");
  EXPECT_EQ(WithoutCall("f(a, b), sizes = [], seq = 1"), "f(a, b)");
  EXPECT_EQ(WithoutCall("load, seq 4, sequence = 3"), "load, seq 4, sequence = 3");
  EXPECT_EQ(WithoutCall(""), "");
}

}  // namespace
}  // namespace dladvisor
