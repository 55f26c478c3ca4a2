// SPDX-License-Identifier: Apache-2.0
// Tensors that the host fills and copies, on drawn traces.
#include "src/analysis/host/filled_copy.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// One step: `filler` and, 10 ns later, aten::to with the copy, both of shape-less operators.
void FillAndMove(TraceBuilder& b, Ns t, std::string_view filler, int64_t correlation) {
  b.Range(t, t + 100, filler);
  b.Range(t + 110, t + 200, "aten::to");
  b.Range(t + 115, t + 190, "aten::_to_copy");
  b.Range(t + 120, t + 180, "aten::copy_");
  b.Api(t + 130, t + 170, "cudaMemcpyAsync", correlation);
  b.Copy(t + 140, t + 160, 4096, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
         correlation);
}

std::vector<FilledCopyRow> FilledCopiesOf(const TraceBuilder& b) {
  return ComputeFilledCopies(test::ContextOf(b.trace));
}

TEST(FilledCopy, ATensorFilledAndMoved) {
  TraceBuilder b;
  b.Frame(0, 5000, "train.py(7): step");
  FillAndMove(b, 1000, "aten::zeros", 1);
  FillAndMove(b, 2000, "aten::zeros", 2);
  FillAndMove(b, 3000, "aten::randn", 3);
  const auto rows = FilledCopiesOf(b);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].op, "aten::zeros");
  EXPECT_EQ(rows[0].copies, 2);
  EXPECT_EQ(rows[0].bytes, 8192);
  EXPECT_EQ(rows[0].host_ns, 2 * (100 + 90));
  EXPECT_EQ(rows[0].line, "train.py(7): step");
  EXPECT_EQ(rows[1].op, "aten::randn");
}

TEST(FilledCopy, NotWhatWasLoadedOrIsFilledOnTheGpu) {
  TraceBuilder loaded;
  FillAndMove(loaded, 1000, "aten::stack", 1);
  EXPECT_TRUE(FilledCopiesOf(loaded).empty());
  TraceBuilder on_gpu;
  on_gpu.Range(1000, 1100, "aten::zeros");
  on_gpu.Launch(1010, 1020, 1030, "fill");
  on_gpu.Range(1110, 1200, "aten::to");
  on_gpu.Api(1130, 1170, "cudaMemcpyAsync", 1);
  on_gpu.Copy(1140, 1160, 4096, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, 1);
  EXPECT_TRUE(FilledCopiesOf(on_gpu).empty());
}

TEST(FilledCopy, OfTheSameShapeWhereShapesAreKnown) {
  for (const bool same : {true, false}) {
    TraceBuilder b;
    FillAndMove(b, 1000, "aten::randperm", 1);
    Trace& trace = b.trace;
    trace.operator_arguments.resize(3);
    trace.operator_arguments[1].shapes = trace.names.Intern("[[128], [], []]");
    trace.operator_arguments[2].shapes = trace.names.Intern("[[32, 3, 224, 224], []]");
    for (const int arguments : {1, same ? 1 : 2, 0, 0}) trace.ranges.arguments.push_back(arguments);
    EXPECT_EQ(FilledCopiesOf(b).size(), same ? 1u : 0u);
  }
}

}  // namespace
}  // namespace dladvisor
