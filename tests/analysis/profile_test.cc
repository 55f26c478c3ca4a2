// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/profile.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Profile, TellsOperatorsWithGradientsOnFromTheirBackwardPass) {
  TraceBuilder b;
  for (const Ns start : {0, 100, 200, 300}) test::AddRange(b, start, start + 50, "aten::linear");
  b.Launch(20, 200, 250, test::kGemm);
  EXPECT_FALSE(ComputeProfile(test::ContextOf(b.trace)).gradient_calls.has_value());
  for (const int64_t number : {0, -1, 7, 7}) b.trace.ranges.sequence.push_back(number);
  for (const int64_t thread : {0, 0, 0, 1}) b.trace.ranges.forward_thread.push_back(thread);
  const ProfileRow row = ComputeProfile(test::ContextOf(b.trace));
  EXPECT_EQ(row.gradient_calls, 2);
  EXPECT_EQ(row.backward_calls, 1);
}

TEST(Profile, CountsNormalisationsBeforeWhichTheModuleCountsTheBatch) {
  const auto counted = [&](const std::vector<const char*>& operators) {
    TraceBuilder built;
    for (size_t i = 0; i < operators.size(); ++i) {
      test::AddRange(built, static_cast<Ns>(100 * i), static_cast<Ns>(100 * i + 50), operators[i]);
      built.trace.ranges.sequence.push_back(-1);
    }
    return ComputeProfile(test::ContextOf(built.trace)).training_norms;
  };
  EXPECT_EQ(
      counted({"aten::conv2d", "aten::add_", "aten::batch_norm", "aten::add_", "step", "aten::batch_norm"}),
      2);
  // The sum of a residual stands behind the normalisation.
  EXPECT_EQ(counted({"aten::conv2d", "aten::batch_norm", "aten::add_", "aten::conv2d", "aten::batch_norm"}),
            0);
  EXPECT_FALSE(counted({}).has_value());
}

void AddOverhead(TraceBuilder& b, const std::string& name) {
  b.trace.overheads.start.push_back(5);
  b.trace.overheads.end.push_back(6);
  b.trace.overheads.thread.push_back(kNoIndex);
  b.trace.overheads.name.push_back(b.trace.names.Intern(name));
}

TEST(Profile, SaysWhatEndedTheCapture) {
  const auto end = [](const std::string& overhead, const std::string& milliseconds, Ns session) {
    TraceBuilder b;
    AddOverhead(b, overhead);
    b.trace.capture_options["RUN_DURATION_MS"] = milliseconds;
    b.trace.session_duration_ns = session;
    return ComputeProfile(test::ContextOf(b.trace)).ended_by.value_or("unknown");
  };
  EXPECT_EQ(end("CUDA profiling data flush on process exit", "10000", 10'005'000'000), "program");
  EXPECT_EQ(end("CUDA profiling initialization", "10000", 10'005'000'000), "duration");
  EXPECT_EQ(end("CUDA profiling initialization", "10000", 9'005'000'000), "unknown") << "shorter";
  EXPECT_EQ(end("CUDA profiling initialization", "2387", 2'386'986'224), "unknown")
      << "the length of the session, which nobody set";
}

TEST(Profile, CountsTheProfilersTimeOnThreadsThatCallCuda) {
  const auto overhead = [](const char* format, uint32_t thread) {
    TraceBuilder b;
    b.trace.format = format;
    b.AddThread(0, 7);
    b.Launch(0, 10, 100, "k");
    b.trace.overheads.start.push_back(20);
    b.trace.overheads.end.push_back(50);
    b.trace.overheads.thread.push_back(thread);
    b.trace.overheads.name.push_back(b.trace.names.Intern("TLS allocation"));
    return ComputeProfile(test::ContextOf(b.trace)).overhead_ns;
  };
  EXPECT_EQ(overhead("nsys", 0), 30);
  EXPECT_EQ(overhead("nsys", 1), 0) << "a worker of the host";
  EXPECT_EQ(overhead("nsys", kNoIndex), 30);
  EXPECT_EQ(overhead("kineto", 1), 30) << "of no thread of the program";
}

TEST(Profile, SaysWhatCallsWithoutKernelsAre) {
  const auto row = [](const char* call, const char* overhead) {
    TraceBuilder b;
    b.Api(0, 1, call, 0);
    AddOverhead(b, overhead);
    return ComputeProfile(test::ContextOf(b.trace));
  };
  const ProfileRow started = row("cuInit", "CUDA profiling initialization");
  EXPECT_EQ(started.notes, "of the calls that were recorded none launches a kernel.");
  EXPECT_TRUE(started.missing_capture.has_value());
  const ProfileRow ended = row("cuInit", "CUDA profiling data flush on process exit");
  EXPECT_FALSE(ended.missing_capture.has_value()) << "another capture would hold as little";
  TraceBuilder lost;
  lost.trace.capture_options["gpu_traced"] = "yes";
  AddOverhead(lost, "CUDA profiling data flush on context created");
  const ProfileRow created = ComputeProfile(test::ContextOf(lost.trace));
  EXPECT_EQ(created.notes, "the program created a CUDA context, and no call of it was recorded.");
  EXPECT_FALSE(created.gpu_traced.has_value()) << "it is not known that no call was made";
  EXPECT_EQ(row("cudaLaunchKernel", "CUDA profiling initialization").notes,
            "calls that launch kernels were recorded, and no kernel.");
  TraceBuilder gone;
  gone.trace.capture_options["gpu_traced"] = "yes";
  AddOverhead(gone, "CUDA profiling initialization");
  EXPECT_EQ(ComputeProfile(test::ContextOf(gone.trace)).notes,
            "the program initialised CUDA, and the profiler never came to write what it recorded.");
  AddOverhead(gone, "CUDA profiling data flush on process exit");
  EXPECT_EQ(ComputeProfile(test::ContextOf(gone.trace)).notes,
            "CUDA was traced, and the program made no CUDA call.");
}

TEST(Profile, NothingAtAllSaysNothingOfCalls) {
  TraceBuilder b;
  b.trace.capture_options["gpu_traced"] = "yes";
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).notes,
            "CUDA was traced, and nothing at all was recorded: no call, no range and no sample.");
  b.trace.last_printed = "saved results.csv";
  EXPECT_EQ(
      ComputeProfile(test::ContextOf(b.trace)).notes,
      "CUDA was traced, and nothing at all was recorded: no call, no range and no sample, while the program "
      "printed at last \"saved results.csv\".");
  b.Os(0, 10, "read");
  EXPECT_EQ(ComputeProfile(test::ContextOf(b.trace)).notes,
            "CUDA was traced, and the program made no CUDA call.");
}

}  // namespace
}  // namespace dladvisor
