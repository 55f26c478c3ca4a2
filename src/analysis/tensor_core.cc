#include "src/analysis/tensor_core.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dladvisor {
namespace {

// A kernel's name in lower case, as a whole and as the words between its punctuation.
class Name {
 public:
  explicit Name(std::string_view name) {
    text_.reserve(name.size());
    for (const char c : name) text_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view rest = text_;
    for (size_t i = 0; i < rest.size();) {
      size_t end = i;
      while (end < rest.size() && std::isalnum(static_cast<unsigned char>(rest[end]))) ++end;
      if (end > i) words_.push_back(rest.substr(i, end - i));
      i = end + 1;
    }
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;

  bool Has(std::string_view part) const { return text_.find(part) != std::string::npos; }
  bool HasAny(std::initializer_list<std::string_view> parts) const {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view p) { return Has(p); });
  }
  bool HasWord(std::string_view word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }
  bool HasAnyWord(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return HasWord(w); });
  }
  bool HasWordLike(const RE2& pattern) const {
    return std::any_of(words_.begin(), words_.end(), [&](std::string_view w) {
      return RE2::FullMatch(re2::StringPiece(w.data(), w.size()), pattern);
    });
  }
  const std::vector<std::string_view>& words() const { return words_; }

 private:
  std::string text_;
  std::vector<std::string_view> words_;
};

// Shapes of matrix instructions: h884, s1688gemm, i8816, bf16 s16816gemm, d884gemm, s161616gemm.
const RE2& MmaWord() {
  static const RE2 pattern(
      "[hsidbz](?:884|1688|16816|16832|16864|8816|8832|161616|161632|81632)(?:gemm|cudnn|fprop|dgrad|wgrad|"
      "conv)?[a-z0-9]*");
  return pattern;
}

const RE2& TensorShapeWord() {
  static const RE2 pattern("tensor\\d+x\\d+x\\d+");
  return pattern;
}

// AMD's Tensile writes the matrix instruction as MI16x16x16x1.
const RE2& MatrixInstructionWord() {
  static const RE2 pattern("mi\\d+x\\d+(?:x\\d+)*");
  return pattern;
}

bool HasMma(const Name& name) {
  return name.HasWordLike(MmaWord()) || name.HasWordLike(TensorShapeWord()) ||
         name.HasAny({"tensorop", "gmma", "tcgen05", "umma_", "mma_sync"}) ||
         name.HasAnyWord({"hmma", "imma", "dmma", "qmma", "wmma", "mma"});
}

bool IsCommunication(const Name& name) {
  return name.HasAny({"nccl", "rccl", "nvshmem", "cross_device_reduce", "multimem_all", "one_shot_all_reduce",
                      "two_shot_all_reduce"});
}

bool IsAttention(const Name& name) {
  return name.HasAny({"flash_fwd", "flash_bwd", "flash::", "flashattn", "flash_attn", "fmha", "sdpa",
                      "attention_kernel", "mha_fwd", "mha_bwd", "flash_attention"});
}

// Kernels beside a GEMM or convolution that only prepare or finish it.
bool IsAuxiliary(const Name& name) {
  return name.HasAny({"pooling",        "splitk_reduce",
                      "splitkreduce",   "compute_gemm_pointers",
                      "computeoffsets", "generatewinogradtiles",
                      "im2col",         "col2im",
                      "nchwtonhwc",     "nhwctonchw",
                      "elementwise",    "reduce_kernel",
                      "softmax",        "layer_norm",
                      "batch_norm",     "flip_filter",
                      "dot_do_o",       "convert_dq",
                      "convert_dkv",    "splitkv_combine",
                      "tensortransform"});
}

bool IsGemm(const Name& name) {
  return name.HasAny({"gemm", "matmul", "cijk_", "nvjet", "cutlass", "marlin", "triton_mm", "triton_tem"}) &&
         !name.Has("gemv");
}

bool IsConvolution(const Name& name) {
  return name.HasAny({"convolve", "conv2d", "conv3d", "conv1d", "fprop", "dgrad", "wgrad", "winograd",
                      "scudnn", "884cudnn", "1688cudnn", "16816cudnn", "depthwise_conv"});
}

Precision PrecisionOf(const Name& name, bool matrix_work) {
  if (name.HasAny({"e4m3", "e5m2", "fp8", "float8"})) return Precision::kFp8;
  if (name.HasAny({"bfloat16", "bf16"})) return Precision::kBf16;
  if (name.HasAny({"fp16", "f16f16", "_f16_", "float16"}) ||
      name.HasAnyWord({"half", "half2", "f16", "hgemm"}))
    return Precision::kFp16;
  static const RE2 half_mma("h(?:884|1688|16816)[a-z0-9]*|s884[a-z0-9]*");
  if (name.HasWordLike(half_mma)) return Precision::kFp16;
  if (!matrix_work) return Precision::kUnknown;
  for (const std::string_view word : name.words()) {
    // cuBLAS's nvjet kernels name their input type by a letter: nvjet_tst_..., nvjet_hsh_...
    if (word.size() == 3 && name.Has("nvjet_" + std::string(word))) {
      if (word[0] == 't') return Precision::kBf16;
      if (word[0] == 'h') return Precision::kFp16;
      if (word[0] == 'q') return Precision::kFp8;
      if (word[0] == 'd') return Precision::kFp64;
    }
  }
  if (name.Has("cijk_")) {  // Tensile: types after the index order, e.g. _HHS_, _BBS_, _SB_, _DB_
    if (name.HasAny({"_hhs_", "_hh_", "_hb_", "_hsh_"})) return Precision::kFp16;
    if (name.HasAny({"_bbs_", "_bb_", "_bsb_", "_bss_"})) return Precision::kBf16;
    if (name.HasAny({"_db_", "_dd_"})) return Precision::kFp64;
    if (name.HasAny({"_sb_", "_ss_"})) return Precision::kFp32;
    return Precision::kUnknown;
  }
  static const RE2 integer_mma("i(?:8816|16816|16832|8832|16864)[a-z0-9]*");
  if (name.HasAny({"int8", "s8s8", "_i8i8"}) || name.HasAnyWord({"imma", "s8"}) ||
      name.HasWordLike(integer_mma))
    return Precision::kInt8;
  static const RE2 double_mma("d884[a-z0-9]*");
  if (name.HasAny({"f64f64"}) || name.HasAnyWord({"dgemm", "zgemm", "dfma", "dmma", "double"}) ||
      name.HasWordLike(double_mma))
    return Precision::kFp64;
  // s1688 without a 16-bit type takes TF32 inputs.
  static const RE2 tf32_mma("s1688[a-z0-9]*");
  if (name.Has("tf32") || name.HasWordLike(tf32_mma)) return Precision::kTf32;
  if (name.HasAny({"f32f32", "scudnn"}) ||
      name.HasAnyWord({"sgemm", "cgemm", "gcgemm", "ffma", "float", "f32", "float2"}))
    return Precision::kFp32;
  return Precision::kUnknown;
}

std::optional<bool> UsesTensorCores(const Name& name, const KernelTraits& traits) {
  const bool mma = HasMma(name);
  // FP32 and packed-FP16 pipelines, and chips from before tensor cores, whatever else the name says.
  if (name.HasAny({"ffma", "dfma", "hfma2", "simt"}) ||
      name.HasAnyWord({"sm50", "sm52", "sm60", "sm61", "maxwell"}))
    return false;
  if (!traits.eligible) return false;
  if (mma) return true;
  if (name.HasAnyWord({"sgemm", "dgemm", "cgemm", "zgemm", "gcgemm", "hgemm"}) ||
      name.HasAny({"scudnn", "gemmsn", "gemmk1", "winograd", "convolve", "alg0_engine", "alg1_engine",
                   "dgrad_engine", "wgrad_engine", "depthwise"}))
    return false;
  const bool narrow = IsHalf(traits.precision) || traits.precision == Precision::kTf32;
  if (IsAttention(name)) {
    // CUTLASS's memory-efficient kernels name type and chip: FP32 inputs need an Ampere or later for TF32.
    if (name.Has("fmha_cutlass") && name.Has("_f32_")) return name.Has("sm80");
    return true;
  }
  if (name.Has("xmma")) return narrow;
  if (name.Has("cijk_")) return name.HasWordLike(MatrixInstructionWord());
  if (name.Has("nvjet") && narrow) return true;
  if (name.Has("marlin") || traits.precision == Precision::kFp8) return true;
  return std::nullopt;
}

}  // namespace

bool IsHalf(Precision p) {
  return p == Precision::kFp16 || p == Precision::kBf16 || p == Precision::kFp8 || p == Precision::kInt8;
}

std::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return "fp64";
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kFp16:
      return "fp16";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp8:
      return "fp8";
    case Precision::kInt8:
      return "int8";
    case Precision::kUnknown:
      break;
  }
  return "";
}

KernelTraits ClassifyKernel(std::string_view demangled_name) {
  const Name name(demangled_name);
  KernelTraits traits;
  traits.communication = IsCommunication(name);
  const bool pointwise_triton = name.HasAny({"triton_poi", "triton_red", "triton_per", "triton_for"});
  const bool auxiliary = IsAuxiliary(name) || traits.communication || pointwise_triton;
  traits.eligible = !auxiliary && (IsAttention(name) || IsGemm(name) || IsConvolution(name) ||
                                   name.HasWordLike(MmaWord()) || name.HasWordLike(TensorShapeWord()));
  traits.precision = PrecisionOf(name, traits.eligible);
  traits.tensor_core = UsesTensorCores(name, traits);
  return traits;
}

KernelTraitsByName ClassifyKernels(const Trace& trace) {
  KernelTraitsByName traits(trace.names.size());
  std::vector<uint8_t> known(trace.names.size(), 0);
  for (const NameId name : trace.kernels.name)
    if (!known[name]) {
      known[name] = 1;
      traits[name] = ClassifyKernel(trace.names.View(name));
    }
  return traits;
}

bool TensorCoreEligibleOp(std::string_view op_type) {
  std::string type;
  for (const char c : op_type) type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // "AddmmBackward0" and "_scaled_dot_product_flash_attention_backward" count as their forward op.
  static const RE2 backward("_?backward\\d*$");
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
