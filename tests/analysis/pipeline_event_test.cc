// SPDX-License-Identifier: Apache-2.0
// Passes of a pipeline: from names of ranges to the kernels launched in them.
#include "src/analysis/pipeline/pipeline_event.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "src/analysis/pipeline/pipeline_name.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::ContextOf;
using test::TraceBuilder;

constexpr const char* kGemm = "gemm";
constexpr const char* kReceive = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)";

PipelineEvents EventsOf(const TraceBuilder& drawn, const std::string& pipeline = "") {
  AnalysisOptions options;
  options.pipeline = pipeline;
  const Context context = ContextOf(drawn.trace, options);
  return ComputePipelineEvents(context);
}

std::string Parsed(std::string_view name, const std::string& pattern = "") {
  const auto parsed = PipelineNames(pattern).Parse(name);
  if (!parsed) return "none";
  std::string text = PipelinePhaseName(parsed->phase);
  for (const auto& number : {parsed->micro_batch, parsed->chunk, parsed->slice})
    text += number ? " " + std::to_string(*number) : " -";
  return text + (parsed->naming == PipelineNaming::kFramework ? " ?" : "");
}

TEST(PipelineName, KnowsWhatFrameworksWrite) {
  EXPECT_EQ(Parsed("F3"), "F 3 - -");
  EXPECT_EQ(Parsed("B12.1"), "B 12 1 -");
  EXPECT_EQ(Parsed("W0.1.2"), "W 0 1 2");
  EXPECT_EQ(Parsed("F3_1"), "F 3 1 -");
  EXPECT_EQ(Parsed("W_clear.1.0"), "W - 1 0");
  EXPECT_EQ(Parsed("Optimizer"), "Optimizer - - -");
  EXPECT_EQ(Parsed("PP:2F7"), "F 7 2 -");
  EXPECT_EQ(Parsed("PP:2I7"), "B 7 2 -");
  EXPECT_EQ(Parsed("Forward 3"), "F 3 - - ?");
  EXPECT_EQ(Parsed("Backward 3"), "B 3 - - ?");
  EXPECT_EQ(Parsed("forward_step"), "F - - - ?");
  EXPECT_EQ(Parsed("megatron.core.pipeline_parallel.schedules.backward_step"), "B - - - ?");
  EXPECT_EQ(Parsed("PipelineEngine._exec_forward_pass"), "F - - - ?");
  EXPECT_EQ(Parsed("_exec_optimizer_step"), "Optimizer - - - ?");
  EXPECT_EQ(Parsed("Optimizer.step#AdamW.step"), "Optimizer - - - ?");
}

TEST(PipelineName, LeavesOthersAlone) {
  for (const char* name : {"", "F", "Fused 3", "FusedAdam", "Forward", "F3x", "B-1", "Backward pass 3", "W.1",
                           "Optimizer.zero_grad#AdamW.zero_grad", "train_step", "fwd_step_3", "PP:F1",
                           "BatchNorm2", "F99999999999999999999", "forward_step_func", "aten::linear"})
    EXPECT_EQ(Parsed(name), "none") << name;
}

TEST(PipelineName, ReadsNamesAsToldByTheOption) {
  EXPECT_EQ(Parsed("bwd mb7", "(fwd|bwd) mb(\\d+)"), "B 7 - -");
  EXPECT_EQ(Parsed("c1:wgrad:4", "c(?P<chunk>\\d+):(?P<phase>\\w+):(?P<micro_batch>\\d+)"), "W 4 1 -");
  EXPECT_EQ(Parsed("x", "(fwd|bwd) mb(\\d+)"), "none");
  EXPECT_EQ(Parsed("Optimizer", "(fwd|bwd) mb(\\d+)"), "Optimizer - - -");
  EXPECT_NE(CheckPipelinePattern("fwd"), "");
  EXPECT_NE(CheckPipelinePattern("(fwd"), "");
  EXPECT_NE(CheckPipelinePattern("(?P<mb>\\d+)"), "");
  EXPECT_EQ(CheckPipelinePattern("(fwd)"), "");
}

TEST(PipelineEvent, TakesTheNearestRangeAroundTheCall) {
  TraceBuilder drawn;
  drawn.Range(0, 1000, "F9");
  drawn.Range(100, 300, "F0.1");
  drawn.Range(120, 200, "linear");
  drawn.Launch(130, 500, 560, kGemm);
  drawn.Launch(250, 570, 600, kGemm);
  drawn.Launch(400, 700, 720, kGemm);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 2u);
  const PipelineEventRow &outer = events.events[0], &inner = events.events[1];
  EXPECT_EQ(outer.micro_batch, 9);
  EXPECT_EQ(outer.start_ns, 700);
  EXPECT_EQ(outer.kernels, 1);
  EXPECT_EQ(inner.phase, "F");
  EXPECT_EQ(inner.micro_batch, 0);
  EXPECT_EQ(inner.chunk, 1);
  EXPECT_EQ(inner.host_start_ns, 100);
  EXPECT_EQ(inner.host_end_ns, 300);
  EXPECT_EQ(inner.start_ns, 500);
  EXPECT_EQ(inner.end_ns, 600);
  EXPECT_EQ(inner.kernel_ns, 90);
}

TEST(PipelineEvent, CountsCommunicationApart) {
  TraceBuilder drawn;
  drawn.Range(0, 100, "F0");
  drawn.Launch(10, 20, 900, kReceive);
  drawn.Launch(20, 900, 1000, kGemm);
  drawn.Launch(30, 1000, 1500, kReceive);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 1u);
  EXPECT_EQ(events.events[0].start_ns, 900);
  EXPECT_EQ(events.events[0].end_ns, 1000);
  EXPECT_EQ(events.events[0].communications, 2);
  EXPECT_EQ(events.events[0].communication_ns, 1380);
  EXPECT_EQ(events.captures[0].sends, 2);
  EXPECT_EQ(events.captures[0].outside_kernels, 0);
}

TEST(PipelineEvent, KeepsRangesWithoutKernels) {
  TraceBuilder drawn;
  drawn.Range(0, 100, "F0");
  drawn.Range(200, 300, "B0");
  drawn.Launch(10, 20, 90, kGemm);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 2u);
  EXPECT_FALSE(events.events[1].start_ns.has_value());
  EXPECT_EQ(events.events[1].kernels, 0);
  EXPECT_EQ(events.captures[0].empty_passes, 1);
}

// Two iterations of two micro-batches and an optimizer.
void Iterations(TraceBuilder& drawn, const char* forward, const char* backward, bool numbered) {
  Ns at = 0;
  for (int iteration = 0; iteration < 2; ++iteration) {
    for (const char* phase : {forward, backward})
      for (int i = 0; i < 2; ++i, at += 100) {
        drawn.Range(at, at + 90, phase + (numbered ? std::to_string(i) : std::string()));
        drawn.Launch(at + 10, at + 20, at + 80, kGemm);
      }
    drawn.Range(at, at + 90, "Optimizer");
    drawn.Launch(at + 10, at + 20, at + 80, kGemm);
    at += 100;
  }
}

TEST(PipelineEvent, CountsIterationsWhereNoRangesAreSteps) {
  TraceBuilder drawn;
  Iterations(drawn, "F", "B", true);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(events.events[i].step, i < 5 ? 0 : 1) << i;
  EXPECT_EQ(events.captures[0].optimizers, 2);
}

TEST(PipelineEvent, NumbersMicroBatchesThatNamesDoNot) {
  TraceBuilder drawn;
  Iterations(drawn, "forward_step", "backward_step", false);
  EXPECT_TRUE(EventsOf(drawn).events.empty()) << "gradient accumulation looks the same";
  drawn.Launch(2000, 2000, 2010, kReceive);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 10u);
  EXPECT_EQ(events.events[1].micro_batch, 1);
  EXPECT_EQ(events.events[2].micro_batch, 0);
  EXPECT_EQ(events.events[2].phase, "B");
  EXPECT_EQ(events.events[6].micro_batch, 1);
  EXPECT_EQ(events.events[6].step, 1);
  EXPECT_FALSE(events.events[4].micro_batch.has_value());
}

TEST(PipelineEvent, TakesStepsOfRangesWithTheirWarmUp) {
  TraceBuilder drawn;
  for (int step = 0; step < 8; ++step) {
    const Ns at = step * 1000, length = step == 0 ? 900 : 200;
    drawn.Range(at, at + length + 50, "iteration " + std::to_string(step + 3));
    drawn.Range(at + 10, at + 100, "F0");
    drawn.Range(at + 110, at + 190, "B0");
    drawn.Launch(at + 20, at + 30, at + 80, kGemm);
    drawn.Launch(at + 120, at + 130, at + length, kGemm);
  }
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 16u);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(events.events[i].step, 3 + static_cast<int64_t>(i) / 2);
}

TEST(PipelineEvent, PrefersNamesThatAreOursAlone) {
  TraceBuilder drawn;
  drawn.Range(0, 100, "F0.0");
  drawn.Range(5, 95, "forward_step");
  drawn.Launch(10, 20, 90, kGemm);
  drawn.Launch(20, 90, 95, kReceive);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 1u);
  EXPECT_EQ(events.events[0].chunk, 0);
  EXPECT_EQ(events.events[0].kernels, 1);
}

TEST(PipelineEvent, TakesTheNamesOfTheOption) {
  TraceBuilder drawn;
  drawn.Range(0, 100, "fwd mb4");
  drawn.Launch(10, 20, 90, kGemm);
  EXPECT_TRUE(EventsOf(drawn).events.empty());
  ASSERT_EQ(EventsOf(drawn, "(fwd|bwd) mb(\\d+)").events.size(), 1u);
  EXPECT_EQ(EventsOf(drawn, "(fwd|bwd) mb(\\d+)").events[0].micro_batch, 4);
  EXPECT_THROW(EventsOf(drawn, "(fwd|bwd) batch(\\d+)"), Error);
}

// What users of scripts for zero-bubble's ranges ran into: an optimizer and kernels, but no F.
TEST(PipelineEvent, SaysWhatTheRangesLack) {
  TraceBuilder drawn;
  drawn.Launch(10, 20, 90, "DeviceSelectSweepKernel");
  drawn.Launch(20, 90, 100, kReceive);
  drawn.Launch(40, 100, 110, kGemm);
  drawn.Range(200, 300, "Optimizer");
  drawn.Launch(210, 220, 240, kGemm);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.captures.size(), 1u);
  const PipelineCaptureRow& capture = events.captures[0];
  EXPECT_EQ(capture.forwards, 0);
  EXPECT_EQ(capture.optimizers, 1);
  EXPECT_EQ(capture.sends, 1);
  EXPECT_EQ(capture.kernels, 3);
  EXPECT_EQ(capture.outside_kernels, 2);
  EXPECT_EQ(capture.outside_ns, 80);
  EXPECT_EQ(capture.outside_kernel, "DeviceSelectSweepKernel");
}

TEST(PipelineEvent, AnOptimizerAloneIsNoPipeline) {
  TraceBuilder drawn;
  drawn.Range(0, 100, "Optimizer");
  drawn.Launch(10, 20, 90, kGemm);
  EXPECT_TRUE(EventsOf(drawn).events.empty());
  EXPECT_TRUE(EventsOf(drawn).captures.empty());
}

TEST(PipelineEvent, SeparatesRanks) {
  TraceBuilder drawn;
  const uint32_t process = drawn.AddProcess(43), device = drawn.AddDevice(1);
  drawn.Range(0, 100, "F0");
  drawn.Range(0, 100, "F0", 1);
  drawn.Launch(10, 20, 90, kGemm);
  drawn.Launch(10, 30, 95, kGemm, 1, process, device);
  const PipelineEvents events = EventsOf(drawn);
  ASSERT_EQ(events.events.size(), 2u);
  EXPECT_EQ(events.events[0].rank, 0);
  EXPECT_EQ(events.events[1].rank, 1);
  EXPECT_EQ(events.events[1].device, 1);
  EXPECT_EQ(events.events[1].start_ns, 30);
}

}  // namespace
}  // namespace dladvisor
