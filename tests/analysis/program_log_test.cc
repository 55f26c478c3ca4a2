// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/program_log.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

ProgramLogRow RowOf(const std::vector<ProgramFigure>& figures) {
  TraceBuilder b;
  b.trace.program_output.figures = figures;
  return ComputeProgramLog(test::ContextOf(b.trace)).front();
}

// The figures stand in the order of their sums.
TEST(ProgramLog, TheSlowestPartAndWhatItIsFor) {
  const ProgramLogRow row =
      RowOf({{"data loading", "", 1, 3e9}, {"forward", "", 1, 1e9}, {"backward", "", 1, 1e9}});
  EXPECT_EQ(row.slowest_time, "data loading");
  EXPECT_EQ(row.slowest_purpose, "input");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.6);
}

TEST(ProgramLog, ASumOfOthersIsNoPart) {
  const ProgramLogRow row =
      RowOf({{"iteration", "", 4, 10e9}, {"forward", "", 4, 6e9}, {"backward", "", 4, 4e9}});
  EXPECT_EQ(row.slowest_time, "forward");
  EXPECT_FALSE(row.slowest_purpose);
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.6);
}

TEST(ProgramLog, OneOtherOfLikeSizeIsNoSum) {
  const ProgramLogRow row =
      RowOf({{"forward", "", 2, 6e9}, {"backward", "", 2, 5.5e9}, {"optimizer", "", 1, 0.5e9}});
  EXPECT_EQ(row.slowest_time, "forward");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.5);
}

}  // namespace
}  // namespace dladvisor
