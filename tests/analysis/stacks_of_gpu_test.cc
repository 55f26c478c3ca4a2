// SPDX-License-Identifier: Apache-2.0
// What stacks of the host show of a GPU that is not in the profile, on drawn traces.
#include "src/analysis/summary/stacks_of_gpu.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

void Sample(TraceBuilder& b, Ns time, std::initializer_list<std::string_view> frames, uint32_t thread = 0) {
  CpuSamples& samples = b.trace.cpu_samples;
  samples.time.push_back(time);
  samples.thread.push_back(thread);
  samples.chain.push_back(static_cast<uint32_t>(samples.chains.size()));
  samples.chains.emplace_back();
  for (const std::string_view frame : frames) samples.chains.back().push_back(b.trace.names.Intern(frame));
}

TEST(StacksOfGpu, NamesTheWaitThatAThreadIsInToItsEnd) {
  TraceBuilder b;
  Sample(b, 10, {"poll", "cudaDeviceSynchronize", "main"});
  Sample(b, 20, {"read", "load", "main"});
  for (Ns t = 30; t <= 90; t += 10) Sample(b, t, {"spin", "cudaDeviceSynchronize", "main"});
  Sample(b, 95, {"spin"});
  Sample(b, 97, {"spin", "0x7f", "[Broken backtraces]"});
  Sample(b, 99, {"wait", "worker", "start"}, 1);
  const StacksOfGpu found = FindStacksOfGpu(b.trace);
  EXPECT_EQ(found.call, "cudaDeviceSynchronize");
  EXPECT_EQ(found.wait, "cudaDeviceSynchronize");
  EXPECT_EQ(found.wait_ns, 60);
}

TEST(StacksOfGpu, KnowsNoWaitThatIsOver) {
  TraceBuilder b;
  Sample(b, 10, {"spin", "cudaDeviceSynchronize", "main"});
  Sample(b, 20, {"spin", "cudaDeviceSynchronize", "main"});
  Sample(b, 30, {"write", "print", "main"});
  const StacksOfGpu found = FindStacksOfGpu(b.trace);
  EXPECT_EQ(found.call, "cudaDeviceSynchronize");
  EXPECT_FALSE(found.wait || found.wait_ns);
}

TEST(StacksOfGpu, KnowsWhatDirectivesCallAndNotWhoOnlyAsksForGpus) {
  TraceBuilder directives, asks;
  Sample(directives, 10, {"memcpy", "__pgi_uacc_cuda_dataup1", "main"});
  Sample(asks, 10, {"ioctl", "cudaGetDeviceCount", "main"});
  Sample(asks, 20, {"ioctl", "cuInit", "main"});
  EXPECT_EQ(FindStacksOfGpu(directives.trace).call, "__pgi_uacc_cuda_dataup1");
  EXPECT_FALSE(FindStacksOfGpu(asks.trace).call);
}

TEST(StacksOfGpu, SaysNothingWhereKernelsAreRecorded) {
  TraceBuilder b;
  Sample(b, 10, {"spin", "cudaDeviceSynchronize", "main"});
  b.Kernel(0, 5, "k", 0);
  EXPECT_FALSE(FindStacksOfGpu(b.trace).call);
}

}  // namespace
}  // namespace dladvisor
