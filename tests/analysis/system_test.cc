// SPDX-License-Identifier: Apache-2.0
// What is said of the profiled system.
#include "src/analysis/summary/system.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::string VendorOf(const std::string& gpu, const std::string& call = "") {
  TraceBuilder b;
  b.trace.devices[0].name = gpu;
  if (!call.empty()) b.Api(0, 1, call, 0);
  return ComputeSystem(test::ContextOf(b.trace)).vendor.value_or("unknown");
}

TEST(System, TheRuntimeOrTheNameShowsTheVendor) {
  EXPECT_EQ(VendorOf("", "hipLaunchKernel"), "AMD");
  EXPECT_EQ(VendorOf("", "cudaLaunchKernel"), "NVIDIA");
  EXPECT_EQ(VendorOf("", "cuMemAlloc_v2"), "NVIDIA");
  EXPECT_EQ(VendorOf("AMD Instinct MI300X VF"), "AMD");
  EXPECT_EQ(VendorOf("AMD Radeon Graphics"), "AMD");
  EXPECT_EQ(VendorOf("NVIDIA H100 80GB HBM3"), "NVIDIA");
  EXPECT_EQ(VendorOf("Tesla V100-SXM2-32GB"), "NVIDIA");
  EXPECT_EQ(VendorOf("A100-SXM4-80GB"), "NVIDIA");
  EXPECT_EQ(VendorOf(""), "unknown");
  EXPECT_EQ(VendorOf("GPU 0"), "unknown");
}

TEST(System, KernelsThatRunOnNoOtherShowTheVendor) {
  for (const auto* const kernel : {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x64", "igemm_fwd_gtcx_nhwc_fp32_bx0",
                                   "attn_fwd.kd", "miopenSp3AsmConv"}) {
    TraceBuilder b;
    b.trace.devices[0].name = "";
    b.Launch(0, 10, 20, kernel);  // by a call of CUDA, as tools that convert traces write
    EXPECT_EQ(ComputeSystem(test::ContextOf(b.trace)).vendor, "AMD") << kernel;
  }
  TraceBuilder b;
  b.trace.devices[0].name = "";
  b.Launch(0, 10, 20, "igemm_of_a_program");
  EXPECT_EQ(ComputeSystem(test::ContextOf(b.trace)).vendor, "NVIDIA");
}

}  // namespace
}  // namespace dladvisor
