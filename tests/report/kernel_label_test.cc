// SPDX-License-Identifier: Apache-2.0
#include "src/render/kernel_label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "src/render/escape.h"

namespace dladvisor {
namespace {

struct Case {
  const char *kernel, *label;
};

class KernelLabelOf : public testing::TestWithParam<Case> {};

TEST_P(KernelLabelOf, SaysWhatTheKernelComputes) {
  EXPECT_EQ(KernelLabel(GetParam().kernel), GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(
    , KernelLabelOf,
    testing::Values(
        Case{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
             "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
             "3ul>)",
             "vectorized_elementwise · CUDAFunctor_add<bf16>"},
        Case{
            "void at::native::elementwise_kernel<128, 2, "
            "at::native::gpu_kernel_impl<at::native::AUnaryFunctor<float, "
            "float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, "
            "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > "
            "const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl<at::native::AUnaryFunctor<float, "
            "float, float, "
            "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, "
            "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > "
            "const&)::{lambda(int)#1})",
            "elementwise · MulFunctor<float>"},
        Case{"void at::native::vectorized_elementwise_kernel<(int)4, void at::native::<unnamed>::"
             "pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase &, T2)::[lambda(float) "
             "(instance "
             "2)], std::array<char *, (unsigned long)2>>(int, T2, T3)",
             "vectorized_elementwise · pow_tensor_scalar(float)"},
        Case{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
             "float, "
             "float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float, "
             "at::native::MeanOps<float, float, "
             "float, float>, unsigned int, float, 4>)",
             "reduce · MeanOps<float>"},
        Case{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x4_nt_align4>(cutlass_80_tensorop_"
             "s1688gemm_128x256_16x4_nt_align4::Params)",
             "cutlass s1688gemm 128x256 nt"},
        Case{"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnn_align8_"
             "warpspecialized_cooperative_epi_tma",
             "cutlass3x s64x128x16gemm bf16 bf16 f32 bf16 bf16 128x128x64 tnn warpspecialized cooperative "
             "epi tma"},
        Case{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, float, "
             "(bool)0>(cublasGemvParamsEx)",
             "gemvx::kernel · int, bf16, float"},
        Case{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
             "AllReduce Sum bf16 RING_LL"},
        Case{"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64_MI16x16x1_SN_LDSB1",
             "Cijk_Alik_Bljk_BBS_BH MT256x48x64"},
        Case{"_ZN2at6native13reduce_kernelILi512EfEEvT0_", "reduce · float"},
        Case{"triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_3"},
        Case{"volta_sgemm_64x64_nn", "volta_sgemm_64x64_nn"},
        Case{"tensor_multiply_3d(float *, float *, float *, int, int, int)", "tensor_multiply_3d"}),
    [](const auto& label) { return "Case" + std::to_string(label.index); });

TEST(KernelLabel, LeavesAloneWhatItDoesNotUnderstand) {
  for (const char* name : {"",           "(",   "<",   ">",        "<>",       "()",          "::",
                           "a<b",        "a>b", "f(",  "f<(",      "{lambda(", "f<{lambda(>", "operator<",
                           "operator()", "_Z",  "_ZN", "f<a, >()", "void ",    "Cijk_",       "ncclKernel_"})
    EXPECT_NO_THROW(KernelLabel(name)) << name;
}

TEST(KernelLabel, EndsOnDeepTemplates) {
  std::string name = "f<";
  for (int i = 0; i < 2000; ++i) name += "g<";
  name += "int" + std::string(2001, '>') + "()";
  EXPECT_THAT(KernelLabel(name), testing::StartsWith("f"));
}

TEST(KernelLabels, OfDifferentKernelsDiffer) {
  std::vector<std::string> kernels;
  for (const char* type : {"float", "double"})
    for (int width = 1; width <= 8; width *= 2)
      kernels.push_back("void at::native::vectorized_elementwise_kernel<" + std::to_string(width) +
                        ", at::native::FillFunctor<" + type + ">, std::array<char*, 1ul> >(int)");
  for (const char letter : {'a', 'b', 'c'}) kernels.push_back("kernel_" + std::string(200, letter) + "_end");
  for (const char tail : {'x', 'y'})
    kernels.push_back("g" + std::string(40, 'a') + tail + std::string(60, 'b'));
  const auto labels = KernelLabels(kernels, 48);
  std::set<std::string> different;
  for (const std::string& kernel : kernels) {
    different.insert(labels.at(kernel));
    EXPECT_LE(Columns(labels.at(kernel)), 48u);
  }
  EXPECT_EQ(different.size(), kernels.size());
  EXPECT_EQ(KernelLabels(std::vector{kernels[0]}, 48).at(kernels[0]),
            "vectorized_elementwise · FillFunctor<float>");
}

}  // namespace
}  // namespace dladvisor
