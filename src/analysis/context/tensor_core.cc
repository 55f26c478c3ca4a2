// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/tensor_core.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/demangle.h"
#include "src/analysis/context/kernel_kind.h"
#include "src/analysis/context/kernel_words.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// Shapes of matrix instructions: h884, s1688gemm, i8816, bf16 s16816gemm, d884gemm, s161616gemm.
const WordPattern& MmaWord() {
  static const WordPattern pattern(
      "[hsidbcz](?:884|1688|16816|16832|16864|8816|8832|161616|161632|81632)(?:gemm|cudnn|fprop|dgrad|wgrad|"
      "conv)?[a-z0-9]*");
  return pattern;
}

const WordPattern& TensorShapeWord() {
  static const WordPattern pattern("tensor\\d+x\\d+x\\d+");
  return pattern;
}

// AMD's Tensile writes the matrix instruction as MI16x16x16x1.
const WordPattern& MatrixInstructionWord() {
  static const WordPattern pattern("mi\\d+x\\d+(?:x\\d+)*");
  return pattern;
}

// The classic BLAS entry points, whose kernels run on the general pipelines unless an instruction is named.
const WordPattern& PlainGemmWord() {
  static const WordPattern pattern("(?:[sdczh]|gc|cgc)gemm(?:ex|3m)?");
  return pattern;
}

// AMD's composable kernels and MIOpen say xdl, xdlops or gtcx where they use matrix instructions.
bool HasMma(const KernelWords& name) {
  return name.HasWordLike(MmaWord()) || name.HasWordLike(TensorShapeWord()) ||
         name.HasAny({"tensorop", "gmma", "tcgen05", "umma_", "mma_sync", "mfma", "xdl_", "xdlops", "_gtcx",
                      "m16n8k"}) ||
         name.HasAnyWord({"hmma", "imma", "dmma", "qmma", "wmma", "mma"});
}

bool IsCommunication(const KernelWords& name) {
  return name.HasAny({"nccl", "rccl", "nvshmem", "cross_device_reduce", "multimem_all", "one_shot_all_reduce",
                      "two_shot_all_reduce", "deep_ep::", "::ep::internode::", "::ep::intranode::"});
}

bool IsAttention(const KernelWords& name) {
  return name.HasAny({"flash_fwd", "flash_bwd", "flash::", "flashattn", "flash_attn", "fmha", "sdpa",
                      "attention", "mha_fwd", "mha_bwd", "attn_fwd", "attn_bwd", "withkvcache",
                      "withpagedkvcache", "withraggedkvcache"});
}

// Kernels that only prepare or finish matrix work, whatever library type their arguments have.
bool IsAuxiliary(const KernelWords& name) {
  return name.HasAny({"pooling",
                      "splitk_reduce",
                      "splitkreduce",
                      "reducesplitk",
                      "reduce_wgrad",
                      "offsetskernel",
                      "compute_gemm_pointers",
                      "computeoffsets",
                      "generatewinogradtiles",
                      "im2col",
                      "col2im",
                      "nchwtonhwc",
                      "nhwctonchw",
                      "flip_filter",
                      "dot_do_o",
                      "convert_dq",
                      "convert_dkv",
                      "bwdpreprocess",
                      "bwdpostprocess",
                      "splitkv_combine",
                      "fwdcombine",
                      "flash_attn_combine_results",
                      "flash_attn_stream_k_fixup",
                      "flash_attn_mask_to_kv_max",
                      "prepare_varlen",
                      "paged_attention_ll4mi_reduce",
                      "fill_tensormaps",
                      "gemm::cuda::utils",
                      "finalize_matmul",
                      "tensortransform",
                      "mergestate"});
}

// Element-wise work and reductions, which may carry a GEMM's type names; yields to a matrix instruction.
bool IsPointwise(const KernelWords& name) {
  return name.HasAny({"elementwise", "reduce_kernel", "softmax", "layer_norm", "batch_norm", "triton_poi",
                      "triton_red", "triton_per", "triton_for"});
}

// TensorRT-LLM's generated products name output and operands: bmm_MxE4m3_MxE2m1MxE4m3_Fp32_..._sm100f.
bool IsGeneratedGemm(const KernelWords& name) {
  return (name.StartsWith("bmm_") || name.StartsWith("gemm_")) && name.HasWordLike(*[] {
    static const WordPattern chip("sm\\d+[af]?");
    return &chip;
  }());
}

// Products that XLA compiles by Triton, whose types the name does not tell: of all that it takes, FP32 at the
// precision that is the default included, tensor cores multiply.
bool IsXlaGemm(const KernelWords& name) {
  return name.StartsWith("gemm_fusion") || name.StartsWith("triton_gemm");
}

// Products of libraries and compilers.
bool IsLibraryGemm(const KernelWords& name) {
  if (IsGeneratedGemm(name) || IsXlaGemm(name)) return true;
  return name.HasAny({"cijk_", "nvjet", "cutlass_", "cutlass3x", "cutlass::kernel", "cutlass::device_kernel",
                      "marlin", "machete", "triton_mm", "triton_tem"}) &&
         !name.Has("gemv");
}

// Also what only calls itself a product, as programs call their own kernels.
bool IsGemm(const KernelWords& name) {
  return IsLibraryGemm(name) || (name.HasAny({"gemm", "matmul"}) && !name.Has("gemv"));
}

bool IsConvolution(const KernelWords& name) {
  return name.HasAny({"convolve", "conv2d", "conv3d", "conv1d", "fprop", "dgrad", "wgrad", "winograd",
                      "scudnn", "icudnn", "884cudnn", "1688cudnn", "16816cudnn", "depthwise_conv",
                      "conv_depthwise", "naive_conv", "grouped_conv", "convolution"});
}

// Types of Tensile's operands follow its index order: Cijk_Alik_Bljk_HHS_BH_..., ..._B_BS_BH_...,
// ..._S_B_....
Precision TensilePrecision(const KernelWords& name) {
  const std::string_view types = name.WordAfter("cijk", 3);
  if (types.starts_with("f8") || types.starts_with("b8")) return Precision::kFp8;
  if (types.starts_with("i8") || types.starts_with("4xi8")) return Precision::kInt8;
  switch (types.empty() ? '\0' : types.front()) {
    case 'h':
      return Precision::kFp16;
    case 'b':
      return Precision::kBf16;
    case 's':
    case 'c':
      return Precision::kFp32;
    case 'd':
    case 'z':
      return Precision::kFp64;
    default:
      return Precision::kUnknown;
  }
}

// cuBLAS's nvjet kernels name their input type by a letter: nvjet_tst_..., nvjet_sm90_hsh_...,
// nvjet_qqtst_...
Precision NvjetPrecision(const KernelWords& name) {
  std::string_view types = name.WordAfter("nvjet");
  if (types.starts_with("sm")) types = name.WordAfter("nvjet", 2);
  if (name.HasWord("tf32")) return Precision::kTf32;
  switch (types.size() < 3 || types.find_first_of("0123456789") != std::string_view::npos ? '\0'
                                                                                          : types.front()) {
    case 't':
      return Precision::kBf16;
    case 'h':
      return Precision::kFp16;
    case 'q':
      return Precision::kFp8;
    case 'o':
      return Precision::kFp4;
    case 'd':
      return Precision::kFp64;
    default:
      return Precision::kUnknown;
  }
}

// Block-scaled products of two FP4 operands, whose scales are FP8: "..._ue4m3xe2m1_ue4m3xe2m1_f32_...",
// "...<cutlass::float_e2m1_t, cutlass::float_ue4m3_t>...". With one operand of FP8 they are products of FP8.
bool IsFp4Product(const KernelWords& name) {
  static const WordPattern fp4("ue(?:4m3|8m0)x(?:e2m1|f4)"), wider("ue8m0x(?:e4m3|e5m2|e2m3|e3m2|f8|f6)");
  if (name.HasWordLike(fp4)) return !name.HasWordLike(wider);
  return name.HasWord("e2m1") && !name.HasAnyWord({"e4m3", "e5m2"});
}

// The wider of two operands is what a product computes in.
Precision GeneratedPrecision(const KernelWords& name) {
  const std::string_view operands = name.WordAfter(name.StartsWith("bmm_") ? "bmm" : "gemm", 2);
  const auto has = [&](std::string_view type) { return operands.find(type) != std::string_view::npos; };
  if (has("bfloat16")) return Precision::kBf16;
  if (has("fp16")) return Precision::kFp16;
  if (has("e4m3") || has("e5m2")) return Precision::kFp8;
  return has("e2m1") ? Precision::kFp4 : Precision::kUnknown;
}

Precision PrecisionOf(const KernelWords& name, bool matrix_work) {
  if (name.Has("cijk_")) return TensilePrecision(name);
  if (IsGeneratedGemm(name)) return GeneratedPrecision(name);
  if (matrix_work && IsFp4Product(name)) return Precision::kFp4;
  if (matrix_work && name.Has("nvjet") && NvjetPrecision(name) == Precision::kFp4) return Precision::kFp4;
  if (name.HasAny({"e4m3", "e5m2", "fp8", "float8"})) return Precision::kFp8;
  if (name.HasAny({"bfloat16", "bf16"})) return Precision::kBf16;
  static const WordPattern half_word(
      "half2?|f16|hgemm|f16f(?:16|32)|h(?:884|1688|16816)[a-z0-9]*|s884[a-z0-9]*");
  if (name.HasAny({"fp16", "_f16_", "float16"}) || name.HasWordLike(half_word)) return Precision::kFp16;
  if (name.mangled())
    return name.Has("df16b")                   ? Precision::kBf16
           : name.HasAny({"df16_", "6__half"}) ? Precision::kFp16
                                               : Precision::kUnknown;
  if (!matrix_work) return Precision::kUnknown;
  if (name.Has("nvjet")) return NvjetPrecision(name);
  static const WordPattern integer_mma("i(?:8816|16816|16832|8832|16864)[a-z0-9]*");
  if (name.HasAny({"int8", "s8s8", "_i8i8"}) || name.HasAnyWord({"imma", "s8"}) ||
      name.HasWordLike(integer_mma))
    return Precision::kInt8;
  static const WordPattern double_word("[dz]gemm(?:ex)?|[dz]884[a-z0-9]*|dfma|dmma|double2?");
  if (name.Has("f64f64") || name.HasWordLike(double_word)) return Precision::kFp64;
  // s1688 without a 16-bit type takes TF32 inputs.
  static const WordPattern tf32_mma("[sc]1688[a-z0-9]*");
  if (name.Has("tf32") || name.HasWordLike(tf32_mma)) return Precision::kTf32;
  static const WordPattern single_word("(?:[sc]|gc|cgc)gemm(?:ex|3m)?|ffma|float2?|f32|fp32");
  if (name.HasAny({"f32f32", "scudnn"}) || name.HasWordLike(single_word)) return Precision::kFp32;
  return Precision::kUnknown;
}

std::optional<bool> AttentionUsesTensorCores(const KernelWords& name) {
  // CUTLASS's memory-efficient kernels name type and chip: FP32 inputs need an Ampere or later for TF32.
  if (name.Has("fmha_cutlass") && name.Has("_f32_")) return name.Has("sm80");
  // FlashInfer and vLLM decode with vector instructions, a query being a single row.
  if (name.HasAny({"decodewith", "paged_attention_v1", "paged_attention_v2"})) return false;
  if (name.HasAny({"flash_attn_tile", "flash_attn_vec", "flash_attn_ext_vec"}))
    return false;  // llama.cpp's with vector instructions
  if (name.HasAny({"flash_fwd", "flash_bwd", "flash::", "flash_attn_ext", "fmha", "sdpa", "prefillwith"}))
    return true;
  return std::nullopt;  // Triton's and home-made ones, which are called flash attention, too
}

std::optional<bool> UsesTensorCores(const KernelWords& name, const KernelTraits& traits) {
  // FP32 and packed-FP16 pipelines, and chips from before tensor cores, whatever else the name says.
  if (name.HasAny({"ffma", "dfma", "hfma2", "simt"}) ||
      name.HasAnyWord({"sm50", "sm52", "sm60", "sm61", "maxwell"}))
    return false;
  if (!traits.eligible) return false;
  if (HasMma(name)) return true;
  const bool narrow = IsHalf(traits.precision) || traits.precision == Precision::kTf32;
  if (name.Has("xmma")) return narrow;
  if (name.HasWordLike(PlainGemmWord()) ||
      name.HasAny({"scudnn", "icudnn", "gemmsn", "gemmk1", "winograd", "convolve", "alg0_engine",
                   "alg1_engine", "dgrad_engine", "wgrad_engine", "dgrad2d_alg", "grouped_direct",
                   "depthwise", "naive_conv", "gemm_half_q_half"}))
    return false;
  if (IsAttention(name)) return AttentionUsesTensorCores(name);
  if (name.Has("cijk_")) return name.HasWordLike(MatrixInstructionWord());
  if (IsGeneratedGemm(name)) return true;
  if (name.HasAny({"nvjet", "matmul_ogs"}) && narrow) return true;
  if (IsXlaGemm(name)) return true;
  if (name.HasAny({"marlin", "machete", "deep_gemm"}) || traits.precision == Precision::kFp8 ||
      traits.precision == Precision::kFp4)
    return true;
  return std::nullopt;
}

}  // namespace

bool IsHalf(Precision p) {
  return p != Precision::kUnknown && p != Precision::kFp64 && p != Precision::kFp32 && p != Precision::kTf32;
}

KernelTraits ClassifyKernel(std::string_view text) {
  if (IsMangled(text))
    if (const std::string readable = Demangled(text); readable != text) return ClassifyKernel(readable);
  const KernelWords name(text);
  KernelTraits traits;
  traits.communication = IsCommunication(name);
  const bool auxiliary = traits.communication || IsAuxiliary(name) || (IsPointwise(name) && !HasMma(name));
  traits.eligible = !auxiliary && (IsAttention(name) || IsGemm(name) || IsConvolution(name) ||
                                   name.HasWordLike(MmaWord()) || name.HasWordLike(TensorShapeWord()));
  traits.precision = PrecisionOf(name, traits.eligible);
  traits.tensor_core = UsesTensorCores(name, traits);
  // A kernel of the program's own whose name tells no type may compute in FP64: nothing says that tensor
  // cores could do its work.
  if (traits.precision == Precision::kUnknown && !traits.tensor_core && !IsLibraryGemm(name) &&
      !IsAttention(name) && !IsConvolution(name))
    traits.eligible = false;
  return traits;
}

KernelTraitsByName ClassifyKernels(const Trace& trace) {
  const std::vector<NameId>& names = trace.kernels.name;
  const size_t count = names.empty() ? 0 : *std::max_element(names.begin(), names.end()) + size_t{1};
  KernelTraitsByName traits(count);
  std::vector<uint8_t> is_kernel(count, 0);
  for (const NameId name : names) is_kernel[name] = 1;
  constexpr size_t kNamesAtOnce = 512;
  ParallelFor((count + kNamesAtOnce - 1) / kNamesAtOnce, [&](size_t part) {
    for (size_t i = part * kNamesAtOnce; i < std::min(count, (part + 1) * kNamesAtOnce); ++i) {
      if (!is_kernel[i]) continue;
      const std::string_view name = trace.names.View(static_cast<NameId>(i));
      traits[i] = ClassifyKernel(name);
      traits[i].kind = KernelKind(name, traits[i]);
    }
  });
  return traits;
}

bool TensorCoreEligibleOp(std::string_view op_type) {
  std::string type;
  for (const char c : op_type) type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // "AddmmBackward0" and "_scaled_dot_product_flash_attention_backward" count as their forward op.
  // So do the two halves of "cudnn_convolution_backward_input" and "..._weight".
  static const RE2 backward("_?backward(_input|_weight)?\\d*$");
  RE2::Replace(&type, backward, "");
  type.erase(0, std::min(type.find_first_not_of('_'), type.size()));
  while (!type.empty() && type.back() == '_') type.pop_back();
  static const std::set<std::string, std::less<>> kTypes = {"conv1d",
                                                            "conv2d",
                                                            "conv3d",
                                                            "conv_transpose1d",
                                                            "conv_transpose2d",
                                                            "conv_transpose3d",
                                                            "convolution",
                                                            "cudnn_convolution",
                                                            "cudnn_convolution_transpose",
                                                            "cudnn_convolution_relu",
                                                            "cudnn_convolution_add_relu",
                                                            "miopen_convolution",
                                                            "slow_conv2d_forward",
                                                            "conv_tbc",
                                                            "linear",
                                                            "addmm",
                                                            "addmm_activation",
                                                            "mm",
                                                            "bmm",
                                                            "baddbmm",
                                                            "addbmm",
                                                            "matmul",
                                                            "chain_matmul",
                                                            "linalg_multi_dot",
                                                            "multi_dot",
                                                            "bilinear",
                                                            "scaled_mm",
                                                            "grouped_mm",
                                                            "einsum",
                                                            "multi_head_attention_forward",
                                                            "lstm",
                                                            "gru",
                                                            "rnn",
                                                            "rnn_tanh",
                                                            "rnn_relu",
                                                            "lstmcell",
                                                            "grucell",
                                                            "rnncell",
                                                            "lstm_cell",
                                                            "gru_cell",
                                                            "rnn_tanh_cell",
                                                            "rnn_relu_cell",
                                                            "cudnn_rnn",
                                                            "cudnn_rnn_backward",
                                                            "int_mm",
                                                            "conv_depthwise2d"};
  return kTypes.contains(type) || type.starts_with("scaled_dot_product") || type.starts_with("flash_attn") ||
         type.starts_with("flash_attention") || type.starts_with("flashattn") ||
         type.starts_with("efficient_attention");
}

}  // namespace dladvisor
