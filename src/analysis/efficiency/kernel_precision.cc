// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/kernel_precision.h"

#include <re2/re2.h>

#include <string>

#include "src/analysis/work/element_type.h"

namespace dladvisor {
namespace {

int64_t BytesOfElement(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return 8;
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    default:
      return 0;
  }
}

// Of PyTorch's kernels: "CatArrayBatchedCopy<...OpaqueType<2u>", "BinaryOpScalarFunctor<float, 2", or the one
// floating-point type among the template's arguments; 0 where there are several.
int64_t BytesInTemplate(std::string_view name) {
  static const RE2 opaque(R"(OpaqueType<(\d+)u?>)"), functor(R"(Functor<\s*((?:c10::)?\w+)\s*,\s*\d)");
  static const RE2 floating(R"(\b(double|float|c10::Half|c10::BFloat16)[24]?\b)");
  re2::StringPiece text(name.data(), name.size());
  std::string type, other;
  int64_t bytes = 0;
  if (RE2::PartialMatch(text, opaque, &bytes)) return bytes;
  if (!RE2::PartialMatch(text, functor, &type))
    while (RE2::FindAndConsume(&text, floating, &other)) {
      if (!type.empty() && type != other) return 0;
      type = other;
    }
  return ParseElementType(type).value_or(ElementType{}).bytes;
}

// Names of BLAS' kernels have what is transposed of matrices that are contiguous by columns: rows are those
// of the transposed product, whose operands change places. "..gemm_128x64_tn" is of the left matrix by rows
// and the right one by columns. Tensile writes "Ailk" for A as it is, and "Alik" for A transposed.
std::string_view LayoutInName(std::string_view name) {
  static const RE2 gemm(R"(gemm.*_([nt])([nt])(?:_|$))"), nvjet(R"(^nvjet.*_([NT])([NT])[NT](?:_|$))"),
      tensile(R"(_A(il|li)k_B(lj|jl)k_)");
  const re2::StringPiece text(name.data(), name.size());
  std::string a, b;
  if (!RE2::PartialMatch(text, gemm, &a, &b) && !RE2::PartialMatch(text, nvjet, &a, &b) &&
      !RE2::PartialMatch(text, tensile, &a, &b))
    return "";
  const bool left = b == "t" || b == "T" || b == "jl", right = a == "t" || a == "T" || a == "li";
  return left ? (right ? "tt" : "tn") : (right ? "nt" : "nn");
}

}  // namespace

KernelNote NoteOf(std::string_view name, const KernelTraits& traits) {
  KernelNote note;
  note.is_known = true;
  note.vector =
      name.find("gemv") != std::string_view::npos || name.find("dot_kernel") != std::string_view::npos;
  note.element_bytes = traits.eligible ? BytesOfElement(traits.precision) : BytesInTemplate(name);
  if (traits.eligible) note.layout = LayoutInName(name);
  return note;
}

Precision PrecisionOf(std::optional<Precision> recorded, const KernelTraits& kernel, const KernelNote& note) {
  if (!recorded) return kernel.precision;
  if (*recorded != Precision::kFp32) return *recorded;
  if (kernel.precision == Precision::kTf32 || kernel.precision == Precision::kFp32) return kernel.precision;
  if (note.vector) return Precision::kFp32;
  if (!kernel.eligible || !kernel.tensor_core) return Precision::kUnknown;
  return *kernel.tensor_core ? Precision::kTf32 : Precision::kFp32;
}

}  // namespace dladvisor
