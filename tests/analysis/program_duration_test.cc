// SPDX-License-Identifier: Apache-2.0
// How long a program ran, beside its use of the GPU, on drawn traces.
#include "src/analysis/host/program_duration.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/analysis/summary/run.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// Calls of CUDA from 100 to 210, work from 110 to 200.
TraceBuilder GpuProgram() {
  TraceBuilder b;
  b.Launch(100, 110, 150, "kernel");
  b.Copy(160, 200, 8, CopyDirection::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable, 7);
  b.Api(205, 210, "cudaDeviceSynchronize", 8);
  return b;
}

RunRow RunRowOf(const TraceBuilder& b) {
  OpFamilies ops;
  ops.eligible_ns = ops.eligible_tensor_core_ns = {0};
  return ComputeRun(test::ContextOf(b.trace), {GpuRow{}}, {}, ops, {}, {}, {}, {});
}

TEST(ProgramDuration, UnknownWhereOnlyItsUseOfTheGpuWasRecorded) {
  const TraceBuilder b = GpuProgram();
  EXPECT_FALSE(ProgramDuration(test::ContextOf(b.trace)).has_value());
  EXPECT_EQ(GpuSpan(b.trace)->length(), 110);
  EXPECT_EQ(GpuWorkSpan(b.trace)->length(), 90);
  const RunRow run = RunRowOf(b);
  EXPECT_FALSE(run.program_ns.has_value());
  EXPECT_FALSE(run.before_work_ns.has_value());
  EXPECT_EQ(run.gpu_span_ns, 110);
}

TEST(ProgramDuration, CoversCallsOfTheSystemSamplesAndTurnsOnCpus) {
  TraceBuilder b = GpuProgram();
  b.Os(40, 45, "fopen");
  b.Sample(500, "write_image", "main");
  RunRow run = RunRowOf(b);
  EXPECT_EQ(run.program_ns, 460);
  EXPECT_EQ(run.before_work_ns, 70);
  EXPECT_EQ(run.after_work_ns, 300);
  b.Run(10, 700, 3);
  run = RunRowOf(b);
  EXPECT_EQ(run.program_ns, 690);
  EXPECT_EQ(run.before_work_ns, 100);
  EXPECT_EQ(run.after_work_ns, 500);
}

TEST(ProgramDuration, IsNeverShorterThanItsUseOfTheGpu) {
  TraceBuilder b = GpuProgram();
  b.Os(120, 125, "ioctl");
  const auto time = ProgramDuration(test::ContextOf(b.trace));
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->start, 100);
  EXPECT_EQ(time->end, 210);
}

TEST(ProgramDuration, LeavesOutProcessesThatDoNotUseTheGpu) {
  TraceBuilder b = GpuProgram();
  b.Os(0, 900, "waitpid", b.AddThread(b.AddProcess(7), 8));
  EXPECT_FALSE(ProgramDuration(test::ContextOf(b.trace)).has_value()) << "a shell that starts the program";
  EXPECT_EQ(ProgramProcesses(b.trace), (std::vector<uint8_t>{1, 0}));
}

TEST(ProgramDuration, WithoutCallsOfCudaIsOfTheProcessThatCallsTheSystemOrIsSampledMost) {
  TraceBuilder b;
  const uint32_t thread = b.AddThread(b.AddProcess(7), 8);
  for (const Ns at : {10, 20, 70}) b.Sample(at, "solve", "main", thread);
  b.Sample(90, "idle", "main");
  EXPECT_EQ(ProgramProcesses(b.trace), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(ProgramDuration(test::ContextOf(b.trace))->length(), 60);
  EXPECT_FALSE(GpuSpan(b.trace).has_value());
  b.Os(30, 130, "read");
  EXPECT_EQ(ProgramProcesses(b.trace), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(ProgramDuration(test::ContextOf(b.trace))->length(), 100);
}

TEST(ProgramDuration, OfSeveralProfilesIsTheLongest) {
  RunRow first, second, unknown;
  first.program_ns = 100, first.before_work_ns = 60, first.after_work_ns = 10, first.gpu_span_ns = 30;
  second.program_ns = 200, second.before_work_ns = 20, second.after_work_ns = 90, second.gpu_span_ns = 90;
  unknown.gpu_span_ns = 95;
  const RunRow merged = MergeRuns({first, second, unknown}, {});
  EXPECT_EQ(merged.program_ns, 200);
  EXPECT_EQ(merged.before_work_ns, 20);
  EXPECT_EQ(merged.after_work_ns, 90);
  EXPECT_EQ(merged.gpu_span_ns, 95);
}

}  // namespace
}  // namespace dladvisor
