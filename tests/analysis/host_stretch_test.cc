// SPDX-License-Identifier: Apache-2.0
// Stretches in which only the host works, on drawn traces.
#include "src/analysis/host/host_stretch.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

constexpr Ns kMs = 1'000'000;

std::vector<HostStretchRow> StretchesOf(const TraceBuilder& b) {
  return ComputeHostStretches(test::ContextOf(b.trace));
}

void Sample(TraceBuilder& b, Ns time, std::vector<std::string_view> stack) {
  CpuSamples& samples = b.trace.cpu_samples;
  samples.time.push_back(time);
  samples.thread.push_back(0);
  samples.chain.push_back(static_cast<uint32_t>(samples.chains.size()));
  std::vector<NameId>& chain = samples.chains.emplace_back();
  for (const std::string_view frame : stack) chain.push_back(b.trace.names.Intern(frame));
}

TEST(HostStretch, AfterTheLastWork) {
  TraceBuilder b;
  b.Launch(0, 50 * kMs, 60 * kMs, "kernel");
  b.Api(61 * kMs, 62 * kMs, "cudaMemcpy_v3020", 7);
  b.Api(100 * kMs, 101 * kMs, "cudaFree_v3020", 8);
  for (const Ns at : {70, 80, 90})
    Sample(b, at * kMs, {at == 80 ? "sin" : "cos", "reference(float*)", "main"});
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "after");
  EXPECT_EQ(rows[0].duration_ns, 38 * kMs);
  EXPECT_EQ(rows[0].before, "cudaMemcpy");
  EXPECT_EQ(rows[0].after, "cudaFree");
  EXPECT_EQ(rows[0].function, "reference(float*)");
  EXPECT_DOUBLE_EQ(rows[0].function_share.value(), 1);
  EXPECT_DOUBLE_EQ(rows[0].share, 38.0 / 101);
}

TEST(HostStretch, TearingDownACommunicatorIsNoComputing) {
  for (const bool of_nccl : {true, false}) {
    TraceBuilder b;
    b.Launch(0, 50 * kMs, 60 * kMs, "kernel");
    b.Range(61 * kMs, 99 * kMs, of_nccl ? "ncclCommDestroy" : "check the result");
    b.Api(100 * kMs, 101 * kMs, "cudaFree_v3020", 8);
    EXPECT_EQ(StretchesOf(b).size(), of_nccl ? 0u : 1u);
  }
}

TEST(HostStretch, BeforeAPrefetchOfWhatTheHostFilled) {
  TraceBuilder b;
  b.Api(0, kMs, "cudaMallocManaged_v6000", 7);
  b.Api(500 * kMs, 501 * kMs, "cudaMemPrefetchAsync_v8000", 8);
  b.Launch(502 * kMs, 503 * kMs, 504 * kMs, "kernel");
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "before");
  EXPECT_EQ(rows[0].duration_ns, 499 * kMs);
  EXPECT_EQ(rows[0].after, "cudaMemPrefetchAsync");
}

// A thread that computes for two seconds and then launches.
TraceBuilder LateStart(Ns computed, std::optional<Ns> driver_until = {}) {
  TraceBuilder b;
  b.Run(0, computed, 3);
  if (driver_until) b.Api(100 * kMs, *driver_until, "cuModuleGetLoadingMode", 8);
  b.Launch(2000 * kMs, 2001 * kMs, 2010 * kMs, "kernel");
  b.Api(2011 * kMs, 2012 * kMs, "cudaDeviceSynchronize", 7);
  return b;
}

TEST(HostStretch, BeforeTheFirstCallOfANativeProgram) {
  TraceBuilder b = LateStart(1500 * kMs);
  EXPECT_TRUE(StretchesOf(b).empty()) << "an interpreter imports";
  b.trace.processes[0].name = "./a.out";
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 2000 * kMs);
  EXPECT_FALSE(rows[0].before.has_value());
  EXPECT_EQ(rows[0].after, "cudaLaunchKernel");
  EXPECT_NEAR(rows[0].share, 2000.0 / 2012, 1e-9);
}

TEST(HostStretch, AProgramThatWaitsAtItsStartDoesNotCompute) {
  TraceBuilder b = LateStart(900 * kMs);
  b.trace.processes[0].name = "./a.out";
  EXPECT_TRUE(StretchesOf(b).empty());
}

TEST(HostStretch, BeforeTheFirstCallForDataHoweverEarlyTheDriverIsAsked) {
  TraceBuilder b = LateStart(1900 * kMs, 101 * kMs);
  b.trace.processes[0].name = "./a.out";
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 1999 * kMs) << "without the call";
  EXPECT_NEAR(rows[0].share, 1999.0 / 2012, 1e-9);
}

TEST(HostStretch, ADriverThatStartsIsNotTheProgramThatComputes) {
  TraceBuilder b = LateStart(1900 * kMs, 1800 * kMs);
  b.trace.processes[0].name = "./a.out";
  EXPECT_TRUE(StretchesOf(b).empty());
}

TEST(HostStretch, CallsOfTheOperatingSystemTellWhoComputesAtTheStart) {
  const auto of = [](Ns read, std::string_view process) {
    TraceBuilder b;
    b.Os(0, kMs, "fopen");
    b.Os(10 * kMs, read, "read");
    b.Launch(2000 * kMs, 2001 * kMs, 2010 * kMs, "kernel");
    b.Api(2011 * kMs, 2012 * kMs, "cudaDeviceSynchronize", 7);
    b.trace.processes[0].name = process;
    return StretchesOf(b);
  };
  const auto rows = of(100 * kMs, "./a.out");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 2000 * kMs);
  EXPECT_TRUE(of(1500 * kMs, "./a.out").empty()) << "it reads";
  EXPECT_TRUE(of(100 * kMs, "").empty()) << "it may be an interpreter that imports";
}

TEST(HostStretch, CallsOfTheSystemWithinThoseOfTheDriverCountOnce) {
  TraceBuilder b;
  b.Os(0, kMs, "fopen");
  b.Os(100 * kMs, 800 * kMs, "ioctl");
  b.Api(100 * kMs, 800 * kMs, "cuInit", 8);
  b.Launch(2000 * kMs, 2001 * kMs, 2010 * kMs, "kernel");
  b.Api(2011 * kMs, 2012 * kMs, "cudaDeviceSynchronize", 7);
  b.trace.processes[0].name = "./a.out";
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 1300 * kMs);
}

TEST(HostStretch, ADriverThatSleepsTakesNoTimeOfTheThreadsComputing) {
  TraceBuilder b;
  b.Run(0, 50 * kMs, 3);
  b.Api(50 * kMs, 900 * kMs, "cuModuleGetLoadingMode", 8);
  b.Run(900 * kMs, 1950 * kMs, 3);
  b.Launch(2000 * kMs, 2001 * kMs, 2010 * kMs, "kernel");
  b.Api(2011 * kMs, 2012 * kMs, "cudaDeviceSynchronize", 7);
  b.trace.processes[0].name = "./a.out";
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 1150 * kMs);
}

// A native program that launches, and whose thread runs until it has computed for so long after its last
// call.
TraceBuilder LateEnd(Ns computed, Ns ended) {
  TraceBuilder b;
  b.trace.processes[0].name = "./a.out";
  b.Run(0, 100 * kMs, 3);
  b.Launch(100 * kMs, 150 * kMs, 160 * kMs, "kernel");
  b.Api(165 * kMs, 200 * kMs, "cudaDeviceReset_v3020", 7);
  b.Run(200 * kMs, 200 * kMs + computed, 3);
  b.Run(ended - kMs, ended, 3);
  return b;
}

TEST(HostStretch, AfterTheLastCallOfANativeProgram) {
  TraceBuilder b = LateEnd(1500 * kMs, 2000 * kMs);
  for (const Ns at : {300, 700, 1100, 1500})
    Sample(b, at * kMs, {at == 1500 ? "sum_rows" : "deflate_block", "main"});
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "end");
  EXPECT_EQ(rows[0].duration_ns, 1800 * kMs);
  EXPECT_EQ(rows[0].before, "cudaDeviceReset");
  EXPECT_FALSE(rows[0].after.has_value());
  EXPECT_NEAR(rows[0].share, 0.9, 1e-9) << "of the whole program, as run has it";
  EXPECT_EQ(rows[0].samples, 4);
  EXPECT_EQ(rows[0].functions, "deflate_block (75 %), sum_rows (25 %)");
  EXPECT_EQ(rows[0].leading_functions, "deflate_block (75 %), sum_rows (25 %)");
  EXPECT_FALSE(rows[0].other_threads.has_value());
}

TEST(HostStretch, AnEndThatIsShortOrWaitsOrOfAnInterpreterIsNone) {
  EXPECT_TRUE(StretchesOf(LateEnd(700 * kMs, 1100 * kMs)).empty()) << "short";
  EXPECT_TRUE(StretchesOf(LateEnd(700 * kMs, 2000 * kMs)).empty()) << "waits";
  TraceBuilder b = LateEnd(1500 * kMs, 2000 * kMs);
  b.trace.processes[0].name = "/usr/bin/python3.12";
  EXPECT_TRUE(StretchesOf(b).empty());
}

TEST(HostStretch, AnEndIsKnownFromSamplesWhereTurnsOnCpusAreNot) {
  TraceBuilder b = LateEnd(1500 * kMs, 2000 * kMs);
  b.trace.cpu_runs = {};
  EXPECT_TRUE(StretchesOf(b).empty());
  for (Ns at = 250; at <= 1450; at += 50) Sample(b, at * kMs, {"sum_rows", "main"});
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "end");
  EXPECT_EQ(rows[0].duration_ns, 1250 * kMs);
}

TEST(HostStretch, WhatOtherThreadsAreInWhileOneWaits) {
  for (const int samples : {10, 20}) {
    TraceBuilder b;
    const uint32_t worker = b.AddThread(0, 43), timer = b.AddThread(0, 44);
    b.Launch(0, 50 * kMs, 60 * kMs, "kernel");
    b.Api(61 * kMs, 62 * kMs, "cudaMemcpy_v3020", 7);
    for (int i = 0; i < samples; ++i) b.Sample((63 + i) * kMs, "draw_samples", "main", worker);
    b.Sample(90 * kMs, "tick", "main", timer);
    b.Api(100 * kMs, 101 * kMs, "cudaFree_v3020", 8);
    const auto rows = StretchesOf(b);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].samples, 0);
    EXPECT_FALSE(rows[0].functions.has_value());
    if (samples == 10) {
      EXPECT_FALSE(rows[0].other_threads.has_value()) << "too few";
      continue;
    }
    EXPECT_EQ(rows[0].other_threads, 1);
    EXPECT_EQ(rows[0].other_functions, "draw_samples (100 %)");
  }
}

TEST(HostStretch, BetweenCallsWithoutGpuWork) {
  TraceBuilder b;
  b.Api(0, kMs, "cudaMalloc", 0);
  b.Api(31 * kMs, 32 * kMs, "cudaMemcpy", 0);
  b.Api(33 * kMs, 34 * kMs, "cudaFree", 0);
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "between");
  EXPECT_EQ(rows[0].duration_ns, 30 * kMs);
  EXPECT_FALSE(rows[0].function.has_value());
}

TEST(HostStretch, BeforeTheFirstCallAlthoughNothingOfTheGpuWasRecorded) {
  TraceBuilder b = LateStart(1500 * kMs);
  b.trace.processes[0].name = "./a.out";
  b.trace.kernels = {};
  b.trace.copies = {};
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "start");
  EXPECT_EQ(rows[0].duration_ns, 2000 * kMs);
  for (size_t i = 0; i < b.trace.api_calls.size(); ++i)
    b.trace.api_calls.name[i] = b.trace.names.Intern("cudaMalloc");
  for (const HostStretchRow& row : StretchesOf(b))
    EXPECT_NE(row.place, "start") << "it never came to its work";
}

TEST(HostStretch, BeforeTheFirstWorkBetweenCallsForData) {
  TraceBuilder b;
  b.Api(0, kMs, "cudaSetDevice", 0);
  b.Api(20 * kMs, 21 * kMs, "cudaMalloc", 0);
  b.Launch(61 * kMs, 62 * kMs, 63 * kMs, "kernel");
  b.Api(64 * kMs, 65 * kMs, "cudaFree", 0);
  const auto rows = StretchesOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].place, "before");
  EXPECT_EQ(rows[0].before, "cudaMalloc");
  EXPECT_EQ(rows[0].duration_ns, 40 * kMs);
}

TEST(HostStretch, NotWhereTheGpuWorksOrWithinTheWindow) {
  TraceBuilder b;
  b.Launch(0, kMs, 2 * kMs, "kernel");
  b.Launch(50 * kMs, 51 * kMs, 99 * kMs, "kernel");
  b.Api(100 * kMs, 101 * kMs, "cudaFree", 0);
  EXPECT_TRUE(StretchesOf(b).empty());
}

}  // namespace
}  // namespace dladvisor
