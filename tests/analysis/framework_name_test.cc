// SPDX-License-Identifier: Apache-2.0
// Which framework a trace is of, by its own word and by names of kernels and ranges.
#include "src/analysis/summary/framework_name.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

using test::TraceBuilder;

std::string NameOf(const std::string& kernel, const std::string& range = "main") {
  TraceBuilder b;
  b.Range(0, 100, range);
  b.Launch(10, 20, 50, kernel);
  return FrameworkName(b.trace, RangeTexts(b.trace)).value_or("unknown");
}

TEST(FrameworkName, FollowsFromKernels) {
  EXPECT_EQ(
      NameOf("void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int)"),
      "PyTorch");
  EXPECT_EQ(NameOf("triton_poi_fused_add_0"), "PyTorch");
  EXPECT_EQ(NameOf("void tensorflow::functor::FillPhiloxRandomKernelLaunch<float>(unsigned long)"),
            "TensorFlow");
  EXPECT_EQ(NameOf("loop_add_fusion_3"), "JAX");
  EXPECT_EQ(
      NameOf(
          "void thrust::cuda_cub::BlockSortAgent<int*, long, cudf::row_lexicographic_comparator<false>>()"),
      "RAPIDS");
  EXPECT_EQ(NameOf("cupy_multiply__float64_float64_float64"), "CuPy");
  EXPECT_EQ(NameOf("cudapy::__main__::matmul$241(Array<double, 2, C, mutable, aligned>)"), "Numba");
  EXPECT_EQ(NameOf("feed_input_23_gpu"), "OpenACC");
  EXPECT_EQ(NameOf("nvkernel_main_F1L23_2"), "OpenMP");
}

TEST(FrameworkName, IsUnknownForPlainCuda) {
  EXPECT_EQ(NameOf("softmax_fused_1sc(const float *, float *, const int *, int)"), "unknown");
  EXPECT_EQ(NameOf("void thrust::cuda_cub::core::_kernel_agent<thrust::transform>(int)"), "unknown");
  EXPECT_EQ(NameOf("ampere_sgemm_128x64_tn"), "unknown");
}

TEST(FrameworkName, FollowsFromRangesAndFromWhatIsStated) {
  EXPECT_EQ(NameOf("ampere_sgemm_128x64_tn", "aten::linear, seq = 7"), "PyTorch");
  TraceBuilder b;
  b.Launch(10, 20, 50, "cupy_multiply__float64_float64_float64");
  b.trace.facts["framework"] = "PyTorch (NGC) 23.04";
  EXPECT_EQ(FrameworkName(b.trace, RangeTexts(b.trace)), "PyTorch");
  b.trace.facts["framework"] = "PyTorch/XLA";
  EXPECT_EQ(FrameworkName(b.trace, RangeTexts(b.trace)), "PyTorch/XLA")
      << "whose programs no torch.compile makes faster";
  b.trace.facts["framework"] = "something of our own 1.0";
  EXPECT_EQ(FrameworkName(b.trace, RangeTexts(b.trace)), "CuPy");
}

}  // namespace
}  // namespace dladvisor
