// SPDX-License-Identifier: Apache-2.0
// Chrome traces that programs write themselves.
#include "src/importers/kineto/track_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Trace ReadSpans(const std::string& text) {
  const test::ScratchDir dir;
  test::WriteFile(dir.path() / "trace.json", text);
  return ReadProfile(dir.path() / "trace.json");
}

TEST(TrackSpans, AreWholeOrHaveTwoEnds) {
  const Trace t = ReadSpans(
      R"({"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rank 0"}},)"
      R"({"ph": "X", "name": "send", "pid": 1, "tid": 2, "ts": 10, "dur": 5},)"
      R"({"ph": "B", "name": "outer", "pid": 1, "tid": 2, "ts": 20},)"
      R"({"ph": "B", "name": "inner", "pid": 1, "tid": 2, "ts": 22},)"
      R"({"ph": "E", "pid": 1, "tid": 2, "ts": 25}, {"ph": "E", "pid": 1, "tid": 2, "ts": 30},)"
      R"({"ph": "b", "name": "copy", "cat": "net", "id": 1, "pid": 1, "tid": "x", "ts": 12},)"
      R"({"ph": "b", "name": "copy", "cat": "net", "id": 2, "pid": 1, "tid": "x", "ts": 13},)"
      R"({"ph": "e", "name": "copy", "cat": "net", "id": 1, "pid": 1, "tid": "x", "ts": 14},)"
      R"({"ph": "B", "name": "cut", "pid": 1, "tid": 2, "ts": 40}]})");
  EXPECT_EQ(t.format, "span trace");
  const ProgramSpans& spans = t.program_spans;
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(t.names.View(spans.name[2]), "inner");
  EXPECT_EQ(spans.start[0], 0);
  EXPECT_EQ(spans.end[0], 5'000);
  EXPECT_EQ(t.session_duration_ns, 20'000);
  ASSERT_EQ(spans.tracks.size(), 2u);
  EXPECT_EQ(spans.tracks[0].process_name, "rank 0");
  EXPECT_EQ(spans.tracks[0].name, "2");
  EXPECT_EQ(spans.tracks[0].process, spans.tracks[1].process);
  EXPECT_EQ(spans.never_ended, 2);
  EXPECT_THAT(t.health.notes, ElementsAre(HasSubstr("2 of its spans begin and do not end")));
  EXPECT_FALSE(t.facts.contains("framework"));
}

TEST(TrackSpans, OfSeveralCategoriesAreCalledByThem) {
  const Trace t =
      ReadSpans(R"([{"ph": "X", "name": "Linear", "cat": "forward", "pid": 1, "tid": 1, "ts": 10, "dur": 5},)"
                R"({"ph": "X", "name": "Linear", "cat": "backward", "pid": 1, "tid": 2, "ts": 20, "dur": 5},)"
                R"({"ph": "X", "name": "load", "cat": "forward", "pid": 1, "tid": 1, "ts": 30, "dur": 5},)"
                R"({"ph": "b", "name": "call", "cat": "a", "id": 1, "pid": 1, "tid": 3, "ts": 30},)"
                R"({"ph": "e", "name": "call", "cat": "a", "id": 1, "pid": 1, "tid": 3, "ts": 35},)"
                R"({"ph": "b", "name": "call", "cat": "b", "id": 1, "pid": 1, "tid": 3, "ts": 31},)"
                R"({"ph": "e", "name": "call", "cat": "b", "id": 1, "pid": 1, "tid": 3, "ts": 36}])");
  std::vector<std::string> names;
  for (const NameId name : t.program_spans.name) names.emplace_back(t.names.View(name));
  EXPECT_THAT(names, ElementsAre("Linear (forward)", "Linear (backward)", "load", "call (a)", "call (b)"));
}

// Spans of an accelerator's queue overlap on its track, and their ends say whose they are.
TEST(TrackSpans, EndUnderTheNameThatTheyBeganWith) {
  const Trace t = ReadSpans(R"([{"ph": "B", "name": "prepare", "pid": 1, "tid": 2, "ts": 10},)"
                            R"({"ph": "B", "name": "reduce", "pid": 1, "tid": 2, "ts": 11},)"
                            R"({"ph": "E", "name": "prepare", "pid": 1, "tid": 2, "ts": 13},)"
                            R"({"ph": "E", "name": "reduce", "pid": 1, "tid": 2, "ts": 640}])");
  const ProgramSpans& spans = t.program_spans;
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(t.names.View(spans.name[0]), "prepare");
  EXPECT_EQ(spans.end[0] - spans.start[0], 3'000);
  EXPECT_EQ(spans.end[1] - spans.start[1], 629'000);
}

TEST(TrackSpans, OfOnnxRuntimeAreCalledByWhatTheyCompute) {
  const Trace t = ReadSpans(
      R"([{"cat": "Session", "pid": 1, "tid": 2, "dur": 90, "ts": 3, "ph": "X", "name": "session_initialization", "args": {}},)"
      R"({"cat": "Node", "pid": 1, "tid": 2, "dur": 1, "ts": 99, "ph": "X", "name": "/layer.3/MatMul_fence_before",)"
      R"( "args": {"op_name": "MatMul"}},)"
      R"({"cat": "Node", "pid": 1, "tid": 2, "dur": 20, "ts": 100, "ph": "X", "name": "/layer.3/MatMul_kernel_time",)"
      R"( "args": {"op_name": "MatMul", "provider": "CPUExecutionProvider", "node_index": "3"}}])");
  const ProgramSpans& spans = t.program_spans;
  ASSERT_EQ(spans.size(), 2u) << "without what passes around a node";
  EXPECT_EQ(t.names.View(spans.name[0]), "session_initialization");
  EXPECT_EQ(t.names.View(spans.name[1]), "MatMul (CPU)");
  EXPECT_EQ(t.facts.at("framework"), "ONNX Runtime");
}

TEST(TrackSpans, OfACutFileAreThoseBeforeTheEnd) {
  const Trace t = ReadSpans(R"([{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 10, "dur": 5},)"
                            R"({"ph": "X", "name": "b", "pid": 1, "tid": 2, "ts": 20, "du)");
  EXPECT_EQ(t.program_spans.size(), 1u);
  EXPECT_TRUE(t.health.truncated);
}

TEST(TrackSpans, OfAnArrayWithoutItsBracketAreWhole) {
  const Trace t = ReadSpans(
      "["
      R"({"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 10, "dur": 5},)"
      "\n");
  EXPECT_EQ(t.program_spans.size(), 1u);
  EXPECT_FALSE(t.health.truncated);
}

TEST(TrackSpans, AreNoneBesideEventsOfThePyTorchProfiler) {
  const Trace t =
      ReadSpans(R"([{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 10, "dur": 5},)"
                R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 1, "dur": 5}])");
  EXPECT_EQ(t.format, "kineto");
  EXPECT_TRUE(t.program_spans.empty());
}

TEST(TrackSpans, NeedALength) {
  EXPECT_THROW(ReadSpans(R"([{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 10, "dur": -5}])"), Error);
  EXPECT_THROW(ReadSpans(R"([{"ph": "B", "name": "a", "pid": 1, "tid": 2, "ts": 10}])"), Error);
}

}  // namespace
}  // namespace dladvisor
