// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/typical_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<TypicalStepRow> RowsOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeTypicalStep(context, ComputeTimelines(context));
}

std::vector<TypicalStepRow> LaneOf(const std::vector<TypicalStepRow>& rows, const std::string& lane) {
  std::vector<TypicalStepRow> of_lane;
  for (const TypicalStepRow& row : rows)
    if (row.lane_name == lane) of_lane.push_back(row);
  return of_lane;
}

TEST(TypicalStep, DrawsTheStepOfMedianLengthOnItsLanes) {
  TraceBuilder b;
  for (int step = 0; step < 5; ++step) {
    const Ns at = step * 100'000 + (step > 3 ? 30'000 : 0), longer = step == 3 ? 30'000 : 0;
    b.Range(at, at + 100'000 + longer, "step " + std::to_string(step));
    b.Range(at + 1'000, at + 40'000, "forward");
    b.Range(at + 2'000, at + 20'000, "linear");
    b.Launch(at + 3'000, at + 10'000, at + 30'000, test::kGemm);
    b.Launch(at + 4'000, at + 30'000, at + 50'000, "add");
  }
  auto rows = RowsOf(b);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].step_ns, 100'000);
  const int64_t median = *rows[0].step;
  // The longest is drawn, too.
  const auto longest = std::ranges::find_if(rows, [&](const auto& row) { return row.step != median; });
  ASSERT_NE(longest, rows.end());
  EXPECT_EQ(longest->lane, 0);
  for (auto row = longest; row != rows.end(); ++row) EXPECT_EQ(row->step_ns, 130'000);
  rows.erase(longest, rows.end());
  const auto compute = LaneOf(rows, "compute");
  ASSERT_EQ(compute.size(), 2u);
  EXPECT_EQ(compute[0].name, test::kGemm);
  EXPECT_EQ(compute[0].bucket, "compute/tensor");
  // A step begins where the GPU has done the work of the one before.
  EXPECT_EQ(compute[0].start_ns - compute[0].step_start_ns, 60'000);
  EXPECT_NEAR(static_cast<double>(compute[0].duration_ns), 20'000, 500);
  EXPECT_EQ(compute[1].bucket, "compute/other");
  EXPECT_TRUE(LaneOf(rows, "communication").empty());
  const auto thread = LaneOf(rows, "thread 42");
  EXPECT_EQ(thread.front().name, "forward");  // the step's own range says nothing of it
  EXPECT_EQ(thread.back().name, "linear");
  EXPECT_EQ(thread.back().lane, thread.front().lane + 1);
  for (const TypicalStepRow& idle : LaneOf(rows, "idle")) EXPECT_TRUE(idle.bucket.starts_with("idle/"));
}

TEST(TypicalStep, BusyTimesOfTheGpuAreThoseOfTheEvents) {
  TraceBuilder b;
  int64_t work = 0;
  for (uint32_t i = 0; i < 3'000; ++i) {  // in no order that repeats
    const bool rare = (i * 2654435761U >> 9) % 3 == 0;
    b.Launch(i * 100, i * 100 + 20, i * 100 + (rare ? 25 : 60), rare ? "rare" : "often");
    work += rare ? 5 : 40;
  }
  int64_t busy = 0, rows = 0;
  for (const TypicalStepRow& row : LaneOf(RowsOf(b), "compute")) {
    EXPECT_EQ(row.name, "often");  // takes most of every cell
    EXPECT_FALSE(row.step.has_value());
    busy += row.busy_ns;
    ++rows;
  }
  EXPECT_EQ(busy, work);
  EXPECT_LE(rows, static_cast<int64_t>(kTimelineCells));
}

// More gaps than are kept each by itself, of which the ledger knows what they were.
TEST(TypicalStep, ShortGapsHaveTheCauseOfMostOfThem) {
  TraceBuilder b;
  const int calls = 1500;
  for (int step = 0; step < 2; ++step) {
    const Ns first = static_cast<Ns>(step) * calls * 100;
    b.Range(first, first + calls * 100, "step " + std::to_string(step));
    for (int i = 0; i < calls; ++i) {
      const Ns at = first + i * 100 + (i % 7);
      b.Launch(at, at + 60, at + 70, "add");  // the host is busy, the GPU waits
    }
  }
  int64_t known = 0, unknown = 0;
  for (const TypicalStepRow& row : LaneOf(RowsOf(b), "idle"))
    (row.bucket == "idle/unknown" ? unknown : known) += row.busy_ns;
  EXPECT_GT(known, 0);
  EXPECT_EQ(unknown, 0);
}

TEST(TypicalStep, NoGpuNoPicture) {
  TraceBuilder b;
  b.Range(0, 100, "alone");
  EXPECT_TRUE(RowsOf(b).empty());
}

}  // namespace
}  // namespace dladvisor
