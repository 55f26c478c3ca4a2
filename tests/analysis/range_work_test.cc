// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "src/analysis/analysis.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(RangeWork, ProjectsRangesOntoTheGpu) {
  TraceBuilder b;
  b.Range(0, 1000, "step");
  b.Range(100, 200, "forward");
  b.Range(300, 350, "no work");
  b.Launch(110, 500, 600, "gemm");
  b.Launch(150, 600, 650, "relu");
  b.Launch(400, 700, 710, "loss");
  b.Launch(2000, 2010, 2020, "outside");
  const AnalysedTrace analysed(b.trace);
  const auto relations = analysed.OnDemandRelations();
  const auto& relation = *std::ranges::find_if(
      relations, [](const auto& candidate) { return candidate->schema().name == "range_work"; });
  ASSERT_EQ(relation->rows(), 2u);
  const auto cell = [&](size_t row, const char* name) {
    const auto& columns = relation->schema().columns;
    for (size_t c = 0; c < columns.size(); ++c)
      if (columns[c].name == name) return relation->At(row, c);
    ADD_FAILURE() << name;
    return CellView::Null();
  };
  EXPECT_EQ(cell(0, "name").text, "step");
  EXPECT_EQ(cell(0, "gpu_start_ns").integer, 500);
  EXPECT_EQ(cell(0, "gpu_end_ns").integer, 710);
  EXPECT_EQ(cell(0, "operations").integer, 3);
  EXPECT_EQ(cell(0, "children").integer, 1);
  EXPECT_EQ(cell(1, "name").text, "forward");
  EXPECT_EQ(cell(1, "gpu_end_ns").integer, 650);
  EXPECT_EQ(cell(1, "level").integer, 1);
}

}  // namespace
}  // namespace dladvisor
