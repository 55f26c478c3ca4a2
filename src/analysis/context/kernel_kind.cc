// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_kind.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/demangle.h"

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

// A kind, and the pattern of the names that have it.
struct KindOfName {
  std::string_view name;
  const char* pattern;
  // Of what may also stand among the template arguments of a product, an iterator or attention.
  bool of_base = false;
};

// Names of PyTorch, cuDNN, cuBLAS, CUTLASS, Triton (triton_poi, triton_red, triton_per, triton_mm), Apex,
// CuPy, of TensorRT's reformatting, of MIOpen (igemm_fwd_gtcx), AOTriton (attn_fwd) and serving engines
// (rotary_embedding, reshape_and_cache).
constexpr std::array<KindOfName, 12> kKindsOfNames = {{
    {"element-wise",
     R"(rotary|rope_?(kernel|quant|fwd|bwd|forward|apply)|act_and_mul|reshape_and_cache|store_?kv_?cache|catarray|concat_and_cache|subtensorop)",
     true},
    {"attention", R"(flash|fmha|attention|sdpa|mha_(fwd|bwd)|(^|_)attn_(fwd|bwd)|bwd_kernel_d[kq])"},
    {"layout", R"(nchw(to|2)_?nhwc|nhwc(to|2)_?nchw|transpose|permut|converttensor|im2col|col2im|reformat)",
     true},
    {"convolution",
     R"(conv(olv|olution|\dd|_|$)|cudnn.*conv|wgrad|dgrad|fprop|winograd|implicit_|igemm_(fwd|bwd|wrw))"},
    {"matrix", R"(gemm|gemv|gemmk|cutlass|nvjet|matmul|splitk|triton_(tem|mm))"},
    {"optimizer", R"(multi_tensor_apply|multi_?tensor|adam|_sgd|sgd_|lamb_|optimizer)"},
    {"softmax", R"(softmax)"},
    {"normalization",
     R"((layer|batch|group|rms|instance)_?norm|\bbn_(fw|bw)|gammabeta|norm_(fwd|bwd|fw|bw))"},
    {"embedding", R"(embedding|index_?select|gather|scatter|indexing|index_elementwise|index_put)"},
    {"sort", R"(sort|topk|top_k|scan(by|kernel|_)|devicescan)"},
    {"reduction", R"(reduce|triton_(red|per)|_sum_|dot_kernel)"},
    {"element-wise",
     R"(element_?wise|point_?wise|vectorized_|unrolled_|triton_poi|cupy_|dropout|relu|gelu|silu|fill)"},
}};

// All patterns of names, or of names without template arguments, in one automaton: a name is read once.
class KindPatterns {
 public:
  explicit KindPatterns(bool of_base) {
    for (size_t i = 0; i < kKindsOfNames.size(); ++i)
      if (kKindsOfNames[i].of_base == of_base) {
        set_.Add(kKindsOfNames[i].pattern, nullptr);
        kinds_.push_back(i);
      }
    set_.Compile();
  }

  // The kinds, by their place in kKindsOfNames, whose patterns the text holds.
  std::bitset<kKindsOfNames.size()> In(std::string_view text) const {
    std::vector<int> matches;
    set_.Match(re2::StringPiece(text.data(), text.size()), &matches);
    std::bitset<kKindsOfNames.size()> kinds;
    for (const int match : matches) kinds.set(kinds_[static_cast<size_t>(match)]);
    return kinds;
  }

 private:
  static RE2::Options Options() {
    RE2::Options options;
    options.set_case_sensitive(false);
    return options;
  }

  RE2::Set set_{Options(), RE2::UNANCHORED};
  std::vector<size_t> kinds_;
};

}  // namespace

std::string_view KernelKind(std::string_view name, const KernelTraits& traits) {
  if (IsMangled(name))
    if (const std::string readable = Demangled(name); readable != name) return KernelKind(readable, traits);
  static const KindPatterns of_name(false);
  static const KindPatterns of_base(true);
  if (traits.communication) return "communication";
  std::bitset<kKindsOfNames.size()> held = of_name.In(name);
  if (!traits.eligible) held |= of_base.In(WithoutTemplateArguments(name));
  for (size_t i = 0; i < kKindsOfNames.size(); ++i) {
    const std::string_view kind = kKindsOfNames[i].name;
    if (kind == "matrix" && traits.eligible) return kind;
    if (held[i] && !(kind == "layout" && FusesComputation(name))) return kind;
  }
  return "other";
}

}  // namespace dladvisor
