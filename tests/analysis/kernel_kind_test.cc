// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(KernelKind, RealNames) {
  const std::pair<const char*, const char*> names[] = {
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)", "attention"},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80", "attention"},
      {"void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false>(int)", "layout"},
      {"void at::native::batch_transpose<float>(int)", "layout"},
      {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", "convolution"},
      {"void cudnn::winograd_nonfused::winogradForwardFilter4x4<float>(int)", "convolution"},
      {"ampere_sgemm_128x64_tn", "matrix"},
      {"void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::layout::Transposed>>(int)",
       "matrix"},
      {"void thrust::cuda_cub::core::_kernel_agent<thrust::permutation_iterator<int>>(int)", "other"},
      {"nvjet_hsh_192x192_64x4_2x1_v_bz_TNT", "matrix"},
      {"void gemv2T_kernel_val<int, float, 128>(int)", "matrix"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
       "optimizer"},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false>", "softmax"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", "normalization"},
      {"void at::native::indexSelectLargeIndex<float>", "embedding"},
      {"void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<int>", "sort"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"},
      {"triton_red_fused_add_mean_1", "reduction"},
      {"triton_poi_fused_relu_0", "element-wise"},
      {"triton_poi_fused_clone_transpose_view_3", "layout"},
      {"triton_poi_fused__unsafe_view_addmm_gelu_transpose_view_34", "element-wise"},
      {"triton_red_fused_abs_amax_transpose_view_32", "reduction"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
       "element-wise"},
      {"cupy_subtract__float64_float64_float64", "element-wise"},
      {"attn_fwd", "attention"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", "matrix"},
      {"bmm_E2m1_E2m1E2m1_Fp32_t128x8x512_s2_et128x8_m128x8x64_c1x1x1_rM_TN_sm100f", "matrix"},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN", "matrix"},
      {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32_wt32x32x8", "convolution"},
      {"batched_transpose_32x32_half", "layout"},
      {"SubTensorOpWithScalar1d", "element-wise"},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "element-wise"},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)", "element-wise"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>(float*)",
       "element-wise"},
      {"par_ranged2d_kernel", "other"},
      // As the linker has them, in traces of some systems.
      {"_ZN5cudnn26bn_fw_inf_1C11_kernel_NCHWIffLb1ELi1EEEvT0_S1_17cudnnTensorStructPKT_S2_PS3_S2_PKS1_S8_S8_"
       "S8_S1_",
       "normalization"},
      {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_",
       "reduction"},
      {"_Znot_a_name_softmax", "softmax"},
  };
  for (const auto& [name, kind] : names) {
    TraceBuilder b;
    b.Kernel(0, 10, name, 0);
    const Context context = test::ContextOf(b.trace);
    EXPECT_EQ(KernelKind(name, context.kernels[b.trace.kernels.name[0]]), kind) << name;
  }
}

}  // namespace
}  // namespace dladvisor
