// SPDX-License-Identifier: Apache-2.0
// Real kernel names and what they show.
#include "src/analysis/context/tensor_core.h"

#include <gtest/gtest.h>

#include <string>

namespace dladvisor {
namespace {

enum class Use { kYes, kNo, kUnknown };

struct Case {
  const char* name;
  Use tensor_core;
  bool eligible;
  Precision precision;
};

const Case kKernels[] = {
    // cuBLAS and CUTLASS.
    {"volta_sgemm_128x64_nn", Use::kNo, true, Precision::kFp32},
    {"ampere_sgemm_32x32_sliced1x4_tn", Use::kNo, true, Precision::kFp32},
    {"volta_cgemm_32x32_tn", Use::kNo, true, Precision::kFp32},
    {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", Use::kYes, true, Precision::kFp16},
    {"volta_h884gemm_256x64_ldg8_nn", Use::kYes, true, Precision::kFp16},
    {"volta_hgemm_128x64_nn", Use::kNo, true, Precision::kFp16},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", Use::kYes, true, Precision::kFp16},
    {"turing_h1688gemm_128x128_ldg8_stages_32x1_tn", Use::kYes, true, Precision::kFp16},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn", Use::kYes, true, Precision::kFp16},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", Use::kYes, true, Precision::kBf16},
    {"ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_stages_32x1_nt", Use::kYes, true, Precision::kBf16},
    {"ampere_s1688gemm_128x128_ldg4_f2f_stages_32x4_tn", Use::kYes, true, Precision::kTf32},
    {"cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4", Use::kYes, true, Precision::kTf32},
    {"void "
     "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_tn_align8>(T1::Params)",
     Use::kYes, true, Precision::kBf16},
    {"void "
     "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nt_align8>(T1::Params)",
     Use::kYes, true, Precision::kBf16},
    {"void cutlass::Kernel<cutlass_75_wmma_tensorop_s161616gemm_f16_16x16_128x1_nn_align1>(T1::Params)",
     Use::kYes, true, Precision::kFp16},
    {"void cutlass::Kernel<cutlass_80_tensorop_d884gemm_32x32_16x5_nn_align1>(T1::Params)", Use::kYes, true,
     Precision::kFp64},
    {"void "
     "cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_128x32_8x5_nn_align1:"
     ":Params)",
     Use::kNo, true, Precision::kFp32},
    {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x1x1_0_tnn_align8_"
     "warpspecialized",
     Use::kYes, true, Precision::kBf16},
    {"trt_ampere_h16816gemm_64x64_ldg8_relu_stages_64x5_tn_v1", Use::kYes, true, Precision::kFp16},
    {"void "
     "cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaPipelined<cutlass::gemm::"
     "GemmShape<(int)128, (int)128, (int)32>>>>",
     Use::kUnknown, true, Precision::kUnknown},
    {"void gemmSN_NN_kernel<float, (int)128, (int)2, (int)4, (int)8, (int)3, "
     "(int)4>(cublasGemmSmallNParams<T8>)",
     Use::kNo, true, Precision::kFp32},
    {"void gemv2T_kernel_val<int, int, float2, float2, float2, (int)128, (int)16, (int)2, (int)2, (bool)0>",
     Use::kNo, false, Precision::kUnknown},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, false, false>",
     Use::kNo, false, Precision::kUnknown},
    {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", Use::kYes, true, Precision::kBf16},
    {"nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", Use::kYes, true, Precision::kFp16},
    {"gemm_fusion_dot_general_32", Use::kYes, true, Precision::kUnknown},
    {"triton_gemm_dot_7", Use::kYes, true, Precision::kUnknown},
    {"nvjet_sss_128x128_32x4_1x1_v_bz_TNN", Use::kUnknown, true, Precision::kUnknown},
    // xmma.
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_"
     "execute_kernel__5x_cublas",
     Use::kNo, true, Precision::kFp32},
    {"sm80_xmma_gemm_f64f64_f64f64_f64_nt_n_tilesize32x64x16_stage4_warpsize2x2x1_tensor8x8x4_kernel",
     Use::kYes, true, Precision::kFp64},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_"
     "warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
     Use::kYes, true, Precision::kTf32},
    {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_"
     "g1_tensor16x8x16_execute_kernel_trt",
     Use::kYes, true, Precision::kFp16},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_"
     "kernel__5x_cublas",
     Use::kYes, true, Precision::kBf16},
    {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_warpgroupsize2x1x1_bias_execute_segment_k_"
     "off_kernel__5x_cublas",
     Use::kYes, true, Precision::kFp8},
    {"sm80_xmma_wgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_stage3_warpsize2x2x1_"
     "g1_tensor16x8x8_execute_kernel__5x_cudnn",
     Use::kYes, true, Precision::kTf32},
    {"sm50_xmma_pooling_coalescedC_NHWC_kMAX_3_False_execute_kernel_trt", Use::kNo, false,
     Precision::kUnknown},
    {"sm50_xmma_pooling_fw_4d_FP16FP32NHWC_Average_FastDiv_CAlign8_execute_kernel_trt", Use::kNo, false,
     Precision::kFp16},
    // cuDNN.
    {"volta_scudnn_128x64_relu_interior_nn_v1", Use::kNo, true, Precision::kFp32},
    {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", Use::kNo, true, Precision::kFp32},
    {"volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_interior_nhwc2nchw_tn_v1", Use::kYes, true,
     Precision::kFp16},
    {"turing_fp16_s1688cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1", Use::kYes, true,
     Precision::kFp16},
    {"cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", Use::kNo, true, Precision::kFp32},
    {"void cudnn::detail::implicit_convolve_sgemm<float, float, (int)1024, (int)5, (int)5, (int)3, (int)3, "
     "(int)3, (int)1, (bool)1, (bool)0, (bool)1>(int)",
     Use::kNo, true, Precision::kFp32},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)", Use::kNo, true,
     Precision::kFp32},
    {"void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int, int)", Use::kNo,
     true, Precision::kFp32},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, "
     "float>(cudnn::winograd_nonfused::WinogradDataParams<T1, T2>)",
     Use::kNo, true, Precision::kFp32},
    {"void im2col4d_kernel<float, int>(im2col4d_params, cudnnConvolutionStruct)", Use::kNo, false,
     Precision::kUnknown},
    {"cudnn::gemm::computeOffsetsKernel(cudnn::gemm::ComputeOffsetsParams)", Use::kNo, false,
     Precision::kUnknown},
    {"compute_gemm_pointers(float2 **, const float2 *, int)", Use::kNo, false, Precision::kUnknown},
    {"void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true, (cudnnKernelDataType_t)0>",
     Use::kNo, false, Precision::kFp16},
    {"void gemmSN_NN_kernel<float, (int)128, (int)2, (int)4, (int)8, (int)3, (int)4, "
     "cublasGemvTensorStridedBatched<const float>, cublasGemvTensorStridedBatched<float>>"
     "(cublasGemmSmallNParams<T8, T9, T1>)",
     Use::kNo, true, Precision::kFp32},
    {"void gemmk1_kernel<float, 256, 5, false, false, false, false, cublasGemvTensorStridedBatched<__half "
     "const>, cublasGemvTensorStridedBatched<__half>, float, true, true>(cublasGemmk1Params<__half>)",
     Use::kNo, true, Precision::kFp16},
    {"void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, int, Tensor)",
     Use::kNo, true, Precision::kFp32},
    {"void sgemm_largek_lds64<true, true, 6, 3, 4, 5, 2, 66>(float*, float const*, float const*, int)",
     Use::kNo, true, Precision::kFp32},
    {"void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float const>>>(int)",
     Use::kNo, false, Precision::kUnknown},
    {"void trsm_right_kernel<float, (int)256, (int)4, (bool)0>(cublasTrsmParams<T1>, T1, const T1 *, int)",
     Use::kNo, false, Precision::kUnknown},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, "
     "__nv_bfloat16, float, false, true, true, false, 7, cublasGemvParams<int>>(int)",
     Use::kNo, false, Precision::kBf16},
    {"nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopB_NNT", Use::kYes, true, Precision::kFp16},
    {"nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNN", Use::kYes, true, Precision::kBf16},
    {"nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT", Use::kYes, true, Precision::kFp8},
    {"nvjet_sm100_ootst_128x128_256x7_4x1_2cta_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT", Use::kYes, true,
     Precision::kFp4},
    {"cutlass3x_sm120_bstensorop_s16864gemm_block_scaled_ue4m3xe2m1_ue4m3xe2m1_f32_bf16_bf16_128x128x256_"
     "1x1x1_"
     "0_tnn_align32_o_vs16_bias_bf16_relu",
     Use::kYes, true, Precision::kFp4},
    {"cutlass3x_sm100_bstensorop_s256x192x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16_256x192x256_0_"
     "tnn_"
     "align32_o_vs16_2sm_bias_f16_relu",
     Use::kYes, true, Precision::kFp4},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
     "cutlass::gemm::collective::CollectiveMma<Sm100Mma, cute::tuple<cutlass::float_e2m1_t, "
     "cutlass::float_ue4m3_t>>>>(T1::Params)",
     Use::kYes, true, Precision::kFp4},
    {"cutlass3x_sm100_bstensorop_gemm_ue8m0xe4m3_ue8m0xe2m1_f32_bf16_bf16_128x128x128_0_tnt", Use::kYes, true,
     Precision::kFp8},
    // TensorRT-LLM's generated kernels.
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_Ab32_Bb32_Cb32_t128x8x512_s6_et128x8_m128x8x32_c1x1x1_rM_TN_transOut_"
     "schedS_"
     "bN_rgTma_clmp_swiGlu_dynB_sm100f",
     Use::kYes, true, Precision::kFp8},
    {"bmm_Bfloat16_E2m1E2m1_Fp32_t128x8x512_s2_et128x8_m128x8x64_c1x1x1_rM_splitK2_TN_transOut_schS_bN_dynB_"
     "sm100f",
     Use::kYes, true, Precision::kFp4},
    {"bmm_Bfloat16_MxInt4Bfloat16_castBfloat16_Fp32_Ab32_t128x16x128_s4_dynB_sm100f", Use::kYes, true,
     Precision::kBf16},
    {"gemm_Bfloat16_E4m3E4m3_Fp32_t128x16x128u2_s6_et64x16_m64x16x32_rM_TN_sm100f", Use::kYes, true,
     Precision::kFp8},
    {"fmhaSm100fKernel_QkvE4m3OBfloat16H128PagedKvCausalVarSeqQ128Kv128PersistentContext", Use::kYes, true,
     Precision::kFp8},
    {"bmm_kernel(float*, float*)", Use::kNo, false, Precision::kUnknown},
    {"nvjet_sss_tf32_128x256_TNT", Use::kYes, true, Precision::kTf32},
    {"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>(T1::Params)",
     Use::kYes, true, Precision::kBf16},
    {"void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4>"
     "(cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4::Params)",
     Use::kYes, true, Precision::kTf32},
    {"void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<"
     "cutlass_cudnn_train::MatrixShape<4, 128>, float>>(int)",
     Use::kNo, false, Precision::kUnknown},
    {"_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_4gemm4warp11MmaTensorOpE",
     Use::kYes, true, Precision::kUnknown},
    {"void silu_and_mul_kernel<cutlass::bfloat16_t>(cutlass::bfloat16_t*, cutlass::bfloat16_t const*, int)",
     Use::kNo, false, Precision::kBf16},
    {"sm90_xmma_gemm_f16f32_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas",
     Use::kYes, true, Precision::kFp16},
    {"sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64_stage4_warpsize2x2x1_tensor16x8x32_kernel",
     Use::kYes, true, Precision::kInt8},
    {"void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(int)", Use::kYes, true,
     Precision::kFp8},
    {"dpsk::grouped_gemm::cuda::utils::fill_tensormaps_kernel(CUtensorMap_st, CUtensorMap_st*, void*, int)",
     Use::kNo, false, Precision::kUnknown},
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", Use::kYes, true, Precision::kBf16},
    // A program's own, whose name tells no type: it may be FP64.
    {"nvkernel_matmult_mkn_offload_F1L85_3", Use::kUnknown, false, Precision::kUnknown},
    {"matmul_tiled(float *, float *, float *, int)", Use::kUnknown, true, Precision::kFp32},
    {"_finalize_matmul_scatter_bf16", Use::kNo, false, Precision::kBf16},
    {"cudapy::__main__::matmul$241(Array<double, 2, C, mutable, aligned>, Array<float, 2, C, mutable, "
     "aligned>)",
     Use::kUnknown, true, Precision::kFp64},
    // cuDNN's helpers.
    {"void cudnn::cnn::reduce_wgrad_nchw_helper<float, float>(void*, void const*, float, int, int)", Use::kNo,
     false, Precision::kUnknown},
    {"cask_cudnn::computeWgradSplitKOffsetsKernel(cask_cudnn::ComputeSplitKOffsetsParams)", Use::kNo, false,
     Precision::kUnknown},
    {"void cudnn::cnn::im2col4d_kernel<float, long>(cudnn::cnn::im2col4d_params, cudnnConvolutionStruct)",
     Use::kNo, false, Precision::kUnknown},
    {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, cudnnTensorStruct)",
     Use::kNo, false, Precision::kUnknown},
    {"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, float, float>(int)",
     Use::kNo, true, Precision::kFp32},
    {"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(int)", Use::kNo,
     true, Precision::kFp32},
    // FBGEMM's embedding kernels are not matrix products.
    {"void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*, int const*, int*)", Use::kNo,
     false, Precision::kUnknown},
    {"void fbgemm_gpu::(anonymous namespace)::_compute_FP8_quantize_cuda_kernel<float>(float const*)",
     Use::kNo, false, Precision::kFp8},
    {"void split_embedding_codegen_forward_unweighted_kernel<c10::Half, c10::Half, float, false, long, 2ul, "
     "32ul>(at::GenericPackedTensorAccessor<c10::Half, 1ul>, fbgemm_gpu::FixedDivisor)",
     Use::kNo, false, Precision::kFp16},
    // Attention.
    {"flash_attention_kernel(__half const*, __half const*, __half const*, __half*, float, unsigned long)",
     Use::kUnknown, true, Precision::kFp16},
    {"void flash_attn_tile<64, 16, 1>(const char*, float*, float)", Use::kNo, true, Precision::kFp32},
    {"void flash_attn_ext_vec<128, 1, (ggml_type)8>(const char*, float*)", Use::kNo, true, Precision::kFp32},
    {"void flash_attn_ext_f16<64, 16, 4>(const char*, const half*, float*)", Use::kYes, true,
     Precision::kFp16},
    {"void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<cute::tuple<cute::C<64>>, "
     "cutlass::bfloat16_t, "
     "float, cutlass::arch::Sm90, true, true>>(int)",
     Use::kNo, false, Precision::kBf16},
    {"void cutlass::device_kernel<flash::FlashAttnBwdPostprocessConvertdQ<cutlass::bfloat16_t, float, "
     "cute::SM90_64x192x16_F32BF16BF16_SS<cute::GMMA::Major::K>>>(int)",
     Use::kNo, false, Precision::kBf16},
    {"void flash::compute_attn_ws<Flash_fwd_kernel_traits<192, 128, 128, 12, 2, false, 1, "
     "cutlass::bfloat16_t>, "
     "true, flash::SingleTileScheduler>(int)",
     Use::kYes, true, Precision::kBf16},
    {"void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 256, 4, cutlass::half_t>>(int)",
     Use::kNo, false, Precision::kFp16},
    {"void flash_attn_combine_results<128>(const float*, const float2*, float*, int)", Use::kNo, false,
     Precision::kUnknown},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<__half>>(int)", Use::kYes,
     true, Precision::kFp16},
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<__half, __half>(int)", Use::kNo, true,
     Precision::kFp16},
    {"attn_fwd", Use::kUnknown, true, Precision::kUnknown},
    {"kernel_unified_attention_2d", Use::kUnknown, true, Precision::kUnknown},
    {"void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>"
     "(__hip_bfloat16 const*)",
     Use::kNo, false, Precision::kBf16},
    // AMD.
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, "
     "(vllm::Fp8KVCacheDataType)0, 1, 128, 256, false, 4, 1, ck_tile::ComposedAttention<0u, false> >(int)",
     Use::kYes, true, Precision::kBf16},
    {"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, false>(int)",
     Use::kNo, false, Precision::kBf16},
    {"Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64_MI16x16x1_SN_LDSB1_AFC1", Use::kYes, true,
     Precision::kBf16},
    {"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN_LDSB1", Use::kYes, true,
     Precision::kFp32},
    {"Cijk_Ailk_Bljk_F8BS_BH_Bias_MT128x128x64_MI16x16x1_SN", Use::kYes, true, Precision::kFp8},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64", Use::kYes,
     true, Precision::kBf16},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28Gridwise"
     "Gemm_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajorES8_S8_",
     Use::kYes, true, Precision::kUnknown},
    {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmhaBatchPrefillPipeline"
     "QRKSVSAsyncINS_36BlockFmhaBatchPrefillPipelineProblemIDF16bDF16bDF16bffDF16bS8_",
     Use::kYes, true, Precision::kBf16},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_"
     "diiiiiiib",
     Use::kNo, false, Precision::kBf16},
    {"_ZN2ck16tensor_operation6device12_GLOBAL__N_137kernel_gemm_xdl_cshuffle_v3IDF16_DF16_DF16_", Use::kYes,
     true, Precision::kFp16},
    {"MIOpenBatchNormFwdTrainSpatial", Use::kNo, false, Precision::kUnknown},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
     "cutlass::bfloat16_t>>(Flash_fwd_params)",
     Use::kYes, true, Precision::kBf16},
    {"void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128, 64, 128, 8, "
     "cutlass::half_t>>(Flash_bwd_params)",
     Use::kNo, false, Precision::kFp16},
    {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::"
     "Params)",
     Use::kYes, true, Precision::kFp16},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
     Use::kYes, true, Precision::kFp32},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
     Use::kNo, true, Precision::kFp32},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
     Use::kYes, true, Precision::kFp16},
    // Others.
    {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0", Use::kYes, true, Precision::kFp16},
    {"Cijk_Alik_Bljk_SB_MT64x64x16_SE_1LDSB0_TT4_4", Use::kNo, true, Precision::kFp32},
    {"void marlin::Marlin<256, 1, 8, 8, 4, 8>(int4 const*, int4 const*, int4*)", Use::kYes, true,
     Precision::kUnknown},
    {"triton_tem_fused_mm_3", Use::kUnknown, true, Precision::kUnknown},
    {"triton_poi_fused_add_mul_0", Use::kNo, false, Precision::kUnknown},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
     "at::detail::Array<char*, 3>>(int)",
     Use::kNo, false, Precision::kFp16},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
     "at::detail::Array<char*, 3>>(int)",
     Use::kNo, false, Precision::kUnknown},
    {"tensor_multiply_3d(float *, float *, float *, int, int, int)", Use::kNo, false, Precision::kUnknown},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Use::kNo, false,
     Precision::kBf16},
};

TEST(TensorCore, RealKernelNames) {
  for (const Case& c : kKernels) {
    const KernelTraits traits = ClassifyKernel(c.name);
    const Use use = !traits.tensor_core ? Use::kUnknown : *traits.tensor_core ? Use::kYes : Use::kNo;
    EXPECT_EQ(use, c.tensor_core) << c.name;
    EXPECT_EQ(traits.eligible, c.eligible) << c.name;
    EXPECT_EQ(PrecisionName(traits.precision), PrecisionName(c.precision)) << c.name;
  }
}

TEST(TensorCore, CommunicationIsNoCompute) {
  EXPECT_TRUE(ClassifyKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
                  .communication);
  EXPECT_TRUE(
      ClassifyKernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)")
          .communication);
  EXPECT_TRUE(
      ClassifyKernel("void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*)").communication);
  EXPECT_FALSE(ClassifyKernel("volta_sgemm_128x64_nn").communication);
}

TEST(TensorCore, HostileNamesAreHarmless) {
  for (const std::string& name :
       {std::string(), std::string(100'000, 'a'), std::string("\0\xff gemm", 7), std::string(5000, '<')})
    ClassifyKernel(name);
}

TEST(TensorCore, EligibleOps) {
  for (const char* op :
       {"linear", "addmm", "AddmmBackward0", "mm", "MmBackward0", "bmm", "conv2d", "convolution_backward",
        "ConvolutionBackward0", "cudnn_convolution", "scaled_dot_product_attention",
        "_scaled_dot_product_flash_attention_backward", "LSTM", "matmul", "_flash_attention_forward"})
    EXPECT_TRUE(TensorCoreEligibleOp(op)) << op;
  for (const char* op : {"relu", "add_", "copy_", "embedding", "layer_norm", "step", "save", "softmax", "",
                         "_", "conv2d_bias_grad", "multi_tensor_scale"})
    EXPECT_FALSE(TensorCoreEligibleOp(op)) << op;
}

}  // namespace
}  // namespace dladvisor
