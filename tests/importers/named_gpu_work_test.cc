// SPDX-License-Identifier: Apache-2.0
// GPU work that Chrome traces of other tools show by names and tracks alone.
#include "src/importers/kineto/named_gpu_work.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

// One event, in microseconds.
std::string Shown(const std::string& pid, const std::string& tid, const std::string& name, int ts, int dur,
                  const std::string& category = "") {
  return fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}{}}},)", name, pid, tid, ts,
                     dur, category.empty() ? "" : fmt::format(R"(,"cat":"{}")", category));
}

Trace ReadShown(std::string events) {
  events.pop_back();
  const test::ScratchDir dir;
  test::WriteFile(dir.path() / "trace.json", "[" + events + "]");
  return ReadProfile(dir.path() / "trace.json");
}

std::string Rounds(const std::string& in, const std::string& kernel, const std::string& out) {
  std::string events;
  for (int i = 0; i < 4; ++i)
    events += Shown("1", "7", in, 1000 * i, 100) + Shown("1", "7", kernel, 1000 * i + 110, 50) +
              Shown("1", "7", out, 1000 * i + 170, 200);
  return events;
}

TEST(NamedGpuWork, IsCopiesAndKernelsByTheirNames) {
  for (const auto& [in, out] : {std::pair("[MEMCPY] HtoD", "[MEMCPY] DtoH"),
                                std::pair("[CUDA memcpy Host-to-Device]", "[CUDA memcpy DtoH]"),
                                std::pair("MemcpyHtoD", "Memcpy DtoH (Device -> Pageable)"),
                                std::pair("CUDA memcpy H2D", "memcpy_D2H")}) {
    const Trace t = ReadShown(Rounds(in, "void scale<float>(float*, int)", out));
    EXPECT_EQ(t.format, "gpu trace") << in;
    ASSERT_EQ(t.kernels.size(), 4u) << in;
    EXPECT_EQ(t.kernels.stream[0], 7) << in;
    ASSERT_EQ(t.copies.size(), 8u) << in;
    EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice) << in;
    EXPECT_EQ(t.copies.direction[1], CopyDirection::kDeviceToHost) << in;
    EXPECT_EQ(t.copies.end[1] - t.copies.start[1], 200'000) << in;
    EXPECT_TRUE(t.program_spans.empty()) << in;
  }
}

TEST(NamedGpuWork, IsWhatStreamsOfDevicesShow) {
  const Trace t =
      ReadShown(Shown(R"("Device 1")", R"("Stream 7")", "mm", 100, 40, "cuda") +
                Shown(R"("Device 1")", R"("Stream 9")", "relu", 150, 20, "cuda") +
                Shown(R"("Device 1")", R"("CUDA API Thread 5")", "cudaLaunchKernel", 80, 10, "cuda_api") +
                Shown(R"("Device 1")", R"("NVTX Thread 5")", "forward", 70, 60, "nvtx") +
                Shown(R"("Device 1")", R"("NVTX Kernel Thread 5")", "forward", 100, 70, "nvtx-kernel"));
  ASSERT_EQ(t.kernels.size(), 2u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "mm");
  EXPECT_EQ(t.kernels.stream[0], 7);
  EXPECT_EQ(t.kernels.stream[1], 9);
  ASSERT_EQ(t.devices.size(), 1u);
  EXPECT_EQ(t.devices[0].ordinal, 1);
  EXPECT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.ranges.size(), 1u);
}

TEST(NamedGpuWork, IsNothingThatAHostDoes) {
  const std::string copies = "[MEMCPY] HtoD";
  for (const std::string& events : {
           Rounds("memcpy HtoD", "compute", "memcpy DtoH"),           // a program's own marks
           Rounds("memcpy HtoD", "kernel", "memcpy DtoH"),            // with no kernel's name
           Rounds("memcpy", "void scale(float*, int)", "memcpy"),     // of the host's memory
           Rounds("load", "void solve(Matrix&, int)", "store"),       // a function of the host
           Rounds("void f(int)", "void g(int)", "void h(int)"),       // functions of the host alone
           Rounds("memset", "step", "memcpyHtoDWrapper"),             // functions
           Rounds("h2d", "forward", "d2h"),                           // stages
           Rounds("memset", "void process(Frame*)", "memset"),        // functions of the host
           Rounds("memcpy h2d", "run_kernel(matmul)", "memcpy d2h"),  // stages
           Shown(R"("gpu 0")", R"("stream 3")", "frame", 0, 100) +    // a camera's stream
               Shown(R"("gpu 0")", R"("stream 3")", "decode", 10, 20),
           Rounds("Memcpy HtoD", "train(epoch)", "Memcpy DtoH"),      // stages
           Shown("1", "7", "void at::native::add(Tensor)", 0, 100) +  // that call each other
               Shown("1", "7", "void at::native::add_stub(Tensor)", 10, 80) +
               Shown("1", "7", "void at::native::loop(Tensor)", 20, 60),
           Shown("1", "7", copies, 0, 100) + Shown("1", "7", copies, 200, 100),  // no kernel at all
           Shown(R"("Device 0")", R"("worker 1")", "F0", 0, 100) +               // a track of no stream
               Shown(R"("Device 0")", R"("worker 1")", "B0", 200, 100),
           Shown(R"("Server")", R"("Stream 1")", "decode", 0, 100) +  // a stream of no device
               Shown(R"("Server")", R"("Stream 1")", "encode", 200, 100),
       }) {
    const Trace t = ReadShown(events);
    EXPECT_EQ(t.kernels.size() + t.copies.size(), 0u) << events;
    EXPECT_EQ(t.format, "span trace") << events;
  }
}

TEST(NamedGpuWork, MayHaveCopiesOnATrackOfTheirOwn) {
  const Trace t =
      ReadShown(Shown("0", "7", "ampere_sgemm_128x64_nn", 0, 10) +
                Shown("0", "7", "void at::native::vectorized_elementwise_kernel<4>(int)", 20, 10) +
                Shown("0", "12", "Memcpy HtoD", 5, 10) + Shown("3", "4", "step 1", 0, 40));
  EXPECT_EQ(t.kernels.size(), 2u);
  EXPECT_EQ(t.copies.size(), 1u);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 1");
}

}  // namespace
}  // namespace dladvisor
