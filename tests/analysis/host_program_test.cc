// SPDX-License-Identifier: Apache-2.0
// What takes the time of programs without a GPU, on drawn traces.
#include "src/analysis/host/host_program.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/analysis/summary/run.h"
#include "src/analysis/timeline/step.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<HostProgramRow> RowsOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeHostProgram(context);
}

// A convolution of 400 ns within another operator, and a collective on a second thread that runs beside it
// for 100 ns.
TEST(HostProgram, OperatorsAndCollectives) {
  TraceBuilder b;
  b.trace.devices.clear();
  b.AddThread(0, 43);
  b.Range(0, 500, "aten::conv2d");
  b.Range(50, 450, "aten::mkldnn_convolution");
  b.Range(400, 1000, "gloo:all_reduce", 1);
  const auto rows = RowsOf(b);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "gloo:all_reduce");
  EXPECT_TRUE(rows[0].communication);
  EXPECT_EQ(rows[0].busy_ns, 600);
  EXPECT_EQ(rows[0].alone_ns, 500);
  EXPECT_DOUBLE_EQ(rows[0].alone_share, 0.5);
  EXPECT_EQ(rows[1].name, "aten::mkldnn_convolution");
  EXPECT_EQ(rows[1].busy_ns, 400);
  EXPECT_EQ(rows[2].busy_ns, 100);
  b.Api(0, 10, "cudaStreamIsCapturing", 0);
  EXPECT_EQ(RowsOf(b).size(), 3u) << "a question";
  b.Api(10, 20, "cudaLaunchKernel", 0);
  EXPECT_EQ(RowsOf(b).size(), 0u);
}

// What a loader runs is loading; what another thread computes beside it is not.
TEST(HostProgram, LoadersWithWhatTheyRun) {
  TraceBuilder b;
  b.trace.devices.clear();
  test::AddRange(b, 0, 600, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation");
  test::AddRange(b, 200, 300, "aten::stack");
  test::AddRange(b, 600, 1000, "aten::addmm");
  b.AddThread(0, 43);
  test::AddRange(b, 0, 50, "aten::mm", "cpu_op", 1);
  const auto rows = RowsOf(b);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_TRUE(rows[0].loading);
  EXPECT_EQ(rows[0].busy_ns, 550);
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[1].name, "aten::addmm");
  EXPECT_FALSE(rows[1].loading);
  EXPECT_EQ(rows[2].name, "aten::mm");
}

// Updates of an optimizer beside the operators within them, and the longest call of each.
TEST(HostProgram, UpdatesAndLongestCalls) {
  TraceBuilder b;
  b.trace.devices.clear();
  for (const Ns start : {0, 1000}) {
    test::AddRange(b, start, start + 100, "aten::mm");
    test::AddRange(b, start + 100, start + 400 + start / 10, "Optimizer.step#Adam.step", "user_annotation");
    test::AddRange(b, start + 150, start + 250, "aten::add_");
  }
  const auto rows = RowsOf(b);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "Optimizer.step#Adam.step");
  EXPECT_TRUE(rows[0].updating);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].busy_ns, 700);
  EXPECT_EQ(rows[0].longest_ns, 400);
  EXPECT_FALSE(rows[1].updating);
  EXPECT_EQ(rows[1].busy_ns, 200);
  EXPECT_EQ(rows[1].longest_ns, 100);
}

// One loader within another, and a third on another thread that begins beside them.
TEST(HostProgram, LoadersThatLoadAtOnceLoadOnce) {
  TraceBuilder b;
  b.trace.devices.clear();
  b.AddThread(0, 43);
  test::AddRange(b, 0, 600, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                 "user_annotation");
  test::AddRange(b, 100, 500, "dataloader fetch", "user_annotation");
  test::AddRange(b, 600, 1000, "aten::addmm");
  b.Range(550, 700, "dataloader", 1);
  Ns alone = 0;
  for (const HostProgramRow& row : RowsOf(b))
    if (row.loading) alone += row.alone_ns;
  EXPECT_EQ(alone, 600);
}

// Where ranges are all that is recorded, each counts, those of a loader too.
TEST(HostProgram, EachCallOfALoaderCounts) {
  TraceBuilder b;
  b.trace.devices.clear();
  for (Ns start : {0, 100, 200}) b.Range(start, start + 50, "dataloader");
  const auto rows = RowsOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].loading);
  EXPECT_EQ(rows[0].calls, 3);
  EXPECT_EQ(rows[0].busy_ns, 150);
}

// Each of many loads between two operators: what is busy is looked through once, not once a loader.
TEST(HostProgram, RangesThatWaitInTheOperatingSystem) {
  TraceBuilder b;
  b.trace.devices.clear();
  b.AddThread(0, 43);
  b.Range(0, 1000, "loop");
  b.Range(100, 200, "f");
  b.Os(110, 190, "read");
  b.Os(300, 900, "select");
  b.Os(900, 950, "write");
  b.Os(0, 1000, "poll", 1);
  const auto rows = RowsOf(b);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "loop");
  EXPECT_EQ(rows[0].busy_ns, 900);
  EXPECT_EQ(rows[0].os_call, "select");
  EXPECT_EQ(rows[0].os_call_ns, 600);
  EXPECT_EQ(rows[1].os_call, "read");
  EXPECT_EQ(rows[1].os_call_ns, 80);
  TraceBuilder without;
  without.trace.devices.clear();
  without.Range(0, 1000, "loop");
  EXPECT_FALSE(RowsOf(without)[0].os_call);
  EXPECT_FALSE(RowsOf(without)[0].os_call_ns);
}

TEST(HostProgram, StepsAreThoseOfTheProfiler) {
  TraceBuilder b;
  b.Range(0, 100, "ProfilerStep#4");
  b.Range(10, 90, "aten::mm");
  b.Range(100, 300, "ProfilerStep#5");
  b.Range(110, 190, "aten::mm");
  const Context context = test::ContextOf(b.trace);
  const std::vector<StepRow> steps = ComputeSteps(context);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].step, 5);
  EXPECT_EQ(steps[1].duration_ns, 200);
  const RunRow run = ComputeRun(context, {}, steps, {}, {}, {}, {}, {});
  EXPECT_EQ(run.steps, 2);
  EXPECT_EQ(run.first_step, 4);
  EXPECT_EQ(run.last_step, 5);
  EXPECT_EQ(run.step_source, "ranges");
  EXPECT_DOUBLE_EQ(run.step_ns.value_or(0), 150);
  TraceBuilder without;
  without.Range(0, 100, "aten::mm");
  EXPECT_TRUE(ComputeSteps(test::ContextOf(without.trace)).empty());
}

// The rest behind the last step() is no step, and a first one that takes three times as long a warm-up.
TEST(HostProgram, StepsOfOperators) {
  TraceBuilder b;
  for (const auto& [start, end] : {std::pair<Ns, Ns>{0, 300}, {300, 400}, {400, 501}, {501, 503}}) {
    b.Range(start, end, "ProfilerStep#" + std::to_string(start));
    if (end > 502) break;
    test::AddRange(b, start, end - 1, "aten::mm");
  }
  const std::vector<StepRow> steps = ComputeSteps(test::ContextOf(b.trace));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_TRUE(steps[0].warmup);
  EXPECT_FALSE(steps[1].warmup);
  EXPECT_FALSE(steps[2].warmup);
}

TEST(HostProgram, NothingWhereAGpuIs) {
  TraceBuilder b;
  b.Range(0, 500, "aten::conv2d");
  b.Launch(10, 20, 30, "kernel");
  EXPECT_TRUE(RowsOf(b).empty());
}

}  // namespace
}  // namespace dladvisor
