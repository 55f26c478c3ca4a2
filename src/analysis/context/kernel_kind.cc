// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_kind.h"

#include <re2/re2.h>

#include <array>
#include <string>
#include <utility>

namespace dladvisor {
namespace {

// "void thrust::transform<permutation_iterator<int>>(int)" -> "void thrust::transform".
std::string WithoutTemplateArguments(std::string_view name) {
  std::string base;
  int depth = 0;
  for (const char c : name) {
    if (c == '(' && depth == 0 && !base.empty() && base.back() != ':' && base.back() != ' ') break;
    depth += c == '<';
    if (depth == 0) base += c;
    if (c == '>' && depth > 0) --depth;
  }
  return base;
}

// Inductor names a kernel by the operators that it fuses. One that also computes moves its data anyway.
bool FusesComputation(std::string_view name) {
  static const RE2 fused(R"(^triton_(poi|red|per)_fused_(.*))");
  static const RE2 moves(
      R"(^(_?(unsafe_)?(clone|copy|to_copy|contiguous|transpose|permute|t|view|reshape|slice|select|split|expand|unbind|)"
      R"((un)?squeeze|(as_)?strided|convert_element_type|empty_like)_)*\d*$)");
  const re2::StringPiece text(name.data(), name.size());
  std::string operators;
  return RE2::PartialMatch(text, fused, nullptr, &operators) && !RE2::FullMatch(operators, moves);
}

}  // namespace

std::string_view KernelKind(std::string_view name, const KernelTraits& traits) {
  struct Rule {
    std::string_view kind;
    RE2 pattern;
    // Of what may also stand among the template arguments of a product, an iterator or attention.
    bool of_base = false;
  };
  // Names of PyTorch, cuDNN, cuBLAS, CUTLASS, Triton (triton_poi, triton_red, triton_per, triton_mm), Apex,
  // CuPy, of TensorRT's reformatting, of MIOpen (igemm_fwd_gtcx), AOTriton (attn_fwd) and serving engines
  // (rotary_embedding, reshape_and_cache).
  static const std::array<Rule, 12> rules = {{
      {"element-wise",
       RE2(R"((?i)rotary|rope_?(kernel|quant|fwd|bwd|forward|apply)|act_and_mul|reshape_and_cache|store_?kv_?cache|catarray|concat_and_cache|subtensorop)"),
       true},
      {"attention",
       RE2(R"((?i)flash|fmha|attention|sdpa|mha_(fwd|bwd)|(^|_)attn_(fwd|bwd)|bwd_kernel_d[kq])")},
      {"layout",
       RE2(R"((?i)nchw(to|2)_?nhwc|nhwc(to|2)_?nchw|transpose|permut|converttensor|im2col|col2im|reformat)"),
       true},
      {"convolution",
       RE2(R"((?i)conv(olv|olution|\dd|_|$)|cudnn.*conv|wgrad|dgrad|fprop|winograd|implicit_|igemm_(fwd|bwd|wrw))")},
      {"matrix", RE2(R"((?i)gemm|gemv|gemmk|cutlass|nvjet|matmul|splitk|triton_(tem|mm))")},
      {"optimizer", RE2(R"((?i)multi_tensor_apply|multi_?tensor|adam|_sgd|sgd_|lamb_|optimizer)")},
      {"softmax", RE2(R"((?i)softmax)")},
      {"normalization",
       RE2(R"((?i)(layer|batch|group|rms|instance)_?norm|\bbn_(fw|bw)|gammabeta|norm_(fwd|bwd|fw|bw))")},
      {"embedding",
       RE2(R"((?i)embedding|index_?select|gather|scatter|indexing|index_elementwise|index_put)")},
      {"sort", RE2(R"((?i)sort|topk|top_k|scan(by|kernel|_)|devicescan)")},
      {"reduction", RE2(R"((?i)reduce|triton_(red|per)|_sum_|dot_kernel)")},
      {"element-wise",
       RE2(R"((?i)element_?wise|point_?wise|vectorized_|unrolled_|triton_poi|cupy_|dropout|relu|gelu|silu|fill)")},
  }};
  if (traits.communication) return "communication";
  const std::string base = WithoutTemplateArguments(name);
  for (const Rule& rule : rules) {
    if (rule.of_base && traits.eligible) continue;
    if (rule.kind == "matrix" && traits.eligible) return "matrix";
    if (rule.kind == "layout" && FusesComputation(name)) continue;
    const std::string_view text = rule.of_base ? std::string_view(base) : name;
    if (RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), rule.pattern)) return rule.kind;
  }
  return "other";
}

}  // namespace dladvisor
