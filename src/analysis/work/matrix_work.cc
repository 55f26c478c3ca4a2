// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/matrix_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

// Sizes count bytes of packed types: the number of elements along the contiguous dimension is larger.
int64_t ElementsPerSize(const Tensor& tensor) { return tensor.type ? tensor.type->elements : 1; }

// [m, n] of `batch` results; not set where they are of several sizes.
struct Result {
  Count batch = Count::Unknown(), m = Count::Unknown(), n = Count::Unknown();
  bool transposes = false;  // the right matrix, before it multiplies

  Count elements() const { return batch * m * n; }
  Count tiles() const { return batch * Pieces(m, kTile) * Pieces(n, kTile); }
};

// `extra` is read besides the matrices, `out` elements of `out_type` are written.
WorkResult ProductResult(Count multiplications, const Tensor& a, const Tensor& b, Count out,
                         const std::optional<ElementType>& out_type, Count extra = 0) {
  const std::optional<int64_t> flops = (multiplications * 2).value();
  if (!flops) return WorkResult::Unknown(why::kTooLarge);
  WorkResult result;
  Work& work = result.work.emplace();
  work.kind = WorkKind::kMatrixProduct;
  work.flops = work.model_flops = flops;
  if (a.type) work.data_type = a.type->name;
  if (out_type) work.bytes = (a.bytes() + b.bytes() + extra + out * out_type->bytes).value();
  if (!work.bytes) work.bytes_unknown = why::kNoTypes;
  return result;
}

// Whether a matrix is contiguous by rows, by columns, or neither.
enum class Contiguous : uint8_t { kUnknown, kRows, kColumns, kNeither };

Contiguous ContiguousOf(const Tensor& matrix) {
  const size_t rank = matrix.rank();
  if (rank < 2 || matrix.strides.size() != rank) return Contiguous::kUnknown;
  if (matrix.strides[rank - 1] == 1 || matrix.back() == 1) return Contiguous::kRows;
  return matrix.strides[rank - 2] == 1 || matrix.back(1) == 1 ? Contiguous::kColumns : Contiguous::kNeither;
}

Literal MatrixLayout(const Tensor& a, const Tensor& b, bool transposes) {
  const Contiguous of_a = ContiguousOf(a), of_b = ContiguousOf(b);
  if (of_a == Contiguous::kUnknown || of_b == Contiguous::kUnknown) return "";
  if (of_a == Contiguous::kNeither || of_b == Contiguous::kNeither) return "strided";
  const bool plain = (of_b == Contiguous::kRows) != transposes;
  if (of_a == Contiguous::kRows) return plain ? "nn" : "nt";
  return plain ? "tn" : "tt";
}

WorkResult ProductResult(const Result& result, Count inner, const Tensor& a, const Tensor& b,
                         const std::optional<ElementType>& out_type, Count extra = 0) {
  WorkResult of = ProductResult(result.elements() * inner, a, b, result.elements(), out_type, extra);
  if (!of.work) return of;
  of.work->output_tiles = result.tiles().value();
  of.work->inner = inner.value();
  of.work->layout = MatrixLayout(a, b, result.transposes);
  return of;
}

// The bytes of an optional argument.
Count BytesAt(const Arguments& arguments, size_t index) {
  const Tensor* tensor = arguments.TensorAt(index);
  return tensor ? tensor->bytes() : Count(0);
}

// left [.., m, k] times right [.., k, n], of one batch or none; `added` is the position of what is added.
Formula MatrixTimesMatrix(size_t left, std::optional<size_t> added = std::nullopt) {
  return [left, added](const CallOfOperator& call) {
    const Arguments& arguments = call.arguments;
    const Tensor *a = arguments.TensorAt(left), *b = arguments.TensorAt(left + 1);
    if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() != b->rank() || a->rank() < 2 || a->rank() > 3 || a->back() != b->back(1) ||
        (a->rank() == 3 && a->shape[0] != b->shape[0]))
      return WorkResult::Unknown(why::kOtherShapes);
    const Result result{a->rank() == 3 ? a->shape[0] : 1, a->back(1), b->back()};
    return ProductResult(result, a->back(), *a, *b, a->type, added ? BytesAt(arguments, *added) : Count(0));
  };
}

// x [.., k] times weight [n, k], transposed; the bias follows the weight where the operator has one.
Formula Linear(size_t x, size_t weight, std::optional<size_t> bias = std::nullopt) {
  return [=](const CallOfOperator& call) {
    const Tensor *a = call.arguments.TensorAt(x), *b = call.arguments.TensorAt(weight);
    if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() < 1 || b->rank() != 2 || a->back() != b->back())
      return WorkResult::Unknown(why::kOtherShapes);
    const Count rows = Product(std::span(a->shape).first(a->rank() - 1));
    return ProductResult({1, rows, b->shape[0], true}, a->back(), *a, *b, a->type,
                         bias ? BytesAt(call.arguments, *bias) : Count(0));
  };
}

// aten::matmul: vectors are matrices of one row or column, and batches repeat where one has none.
WorkResult Matmul(const CallOfOperator& call) {
  const Tensor *a = call.arguments.TensorAt(0), *b = call.arguments.TensorAt(1);
  if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
  if (a->rank() == 0 || b->rank() == 0) return WorkResult::Unknown(why::kOtherShapes);
  const int64_t k = a->back(), m = a->rank() > 1 ? a->back(1) : 1;
  const int64_t n = b->rank() > 1 ? b->back() : 1, rows = b->rank() > 1 ? b->back(1) : b->back();
  if (k != rows) return WorkResult::Unknown(why::kOtherShapes);
  Count batch = 1;
  for (size_t i = 2; i < std::max(a->rank(), b->rank()); ++i) {
    const int64_t of_a = i < a->rank() ? a->back(i) : 1, of_b = i < b->rank() ? b->back(i) : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return WorkResult::Unknown(why::kOtherShapes);
    batch = batch * std::max(of_a, of_b);
  }
  return ProductResult({batch, m, n}, k, *a, *b, a->type);
}

// a [m, k] times x [k]; of aten::addmv after what is added.
Formula MatrixTimesVector(size_t matrix) {
  return [matrix](const CallOfOperator& call) {
    const Tensor *a = call.arguments.TensorAt(matrix), *x = call.arguments.TensorAt(matrix + 1);
    if (!a || !x) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() != 2 || x->rank() != 1 || a->back() != x->back())
      return WorkResult::Unknown(why::kOtherShapes);
    return ProductResult(a->elements(), *a, *x, a->shape[0], a->type,
                         matrix > 0 ? BytesAt(call.arguments, 0) : Count(0));
  };
}

WorkResult Dot(const CallOfOperator& call) {
  const Tensor *a = call.arguments.TensorAt(0), *b = call.arguments.TensorAt(1);
  if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
  if (a->rank() != 1 || a->shape != b->shape) return WorkResult::Unknown(why::kOtherShapes);
  return ProductResult(a->elements(), *a, *b, 1, a->type);
}

// a [m, k] times b [k, n] of narrow types, with scales; the type of the result is an argument of its own, or
// that of the bias.
Formula Scaled(size_t left, std::optional<size_t> out_type, std::optional<size_t> bias,
               std::optional<size_t> out = std::nullopt) {
  return [=](const CallOfOperator& call) {
    const Arguments& arguments = call.arguments;
    const Tensor *a = arguments.TensorAt(left), *b = arguments.TensorAt(left + 1);
    if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() != 2 || b->rank() != 2 || a->back() != b->shape[0])
      return WorkResult::Unknown(why::kOtherShapes);
    std::optional<ElementType> type;
    if (out_type) type = ElementTypeOfNumber(arguments.ValueAt(*out_type));
    if (const Tensor* added = bias ? arguments.TensorAt(*bias) : nullptr; added && !type) type = added->type;
    if (const Tensor* result = out ? arguments.TensorAt(*out) : nullptr; result) type = result->type;
    return ProductResult({1, a->shape[0], b->shape[1]}, Count(a->back()) * ElementsPerSize(*a), *a, *b, type,
                         bias ? BytesAt(arguments, *bias) : Count(0));
  };
}

// Of 8-bit activations [m, k] and weights [n, k]: the type of the result is that of a tensor [m, n] among the
// arguments, where the caller gives one, or `out_type`.
Formula NarrowLinear(const std::optional<ElementType>& out_type = std::nullopt) {
  return [out_type](const CallOfOperator& call) {
    const Tensor *a = call.arguments.TensorAt(0), *b = call.arguments.TensorAt(1);
    if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() != 2 || b->rank() != 2 || a->back() != b->back())
      return WorkResult::Unknown(why::kOtherShapes);
    std::optional<ElementType> type = out_type;
    const Sizes shape = {a->shape[0], b->shape[0]};
    for (const Argument& argument : call.arguments.all())
      for (const Tensor& tensor : argument.tensors)
        if (!type && &tensor != a && &tensor != b && tensor.shape == shape) type = tensor.type;
    return ProductResult({1, shape[0], shape[1], true}, Count(a->back()) * ElementsPerSize(*a), *a, *b, type);
  };
}

// aten::_cudnn_rnn: input [.., size], weights. Each matrix of weights meets every row of the input, `passes`
// times.
Formula Recurrent(int64_t passes) {
  return [passes](const CallOfOperator& call) {
    const std::span<const Argument> all = call.arguments.all();
    const Tensor* input = call.arguments.TensorAt(0);
    if (!input || all.size() < 2 || !all[1].is_list || all[1].tensors.empty())
      return WorkResult::Unknown(why::kNoShapes);
    if (input->rank() < 2) return WorkResult::Unknown(why::kOtherShapes);
    Count weights = 0;
    for (const Tensor& weight : all[1].tensors)
      if (weight.rank() == 2) weights = weights + weight.elements();
    const Count rows = Product(std::span(input->shape).first(input->rank() - 1));
    return ProductResult(rows * weights * passes, *input, *input, 0, std::nullopt);
  };
}

// aten::_int_mm: INT8 in, INT32 out.
WorkResult IntegerProduct(const CallOfOperator& call) {
  const Tensor *a = call.arguments.TensorAt(0), *b = call.arguments.TensorAt(1);
  if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
  if (a->rank() != 2 || b->rank() != 2 || a->back() != b->shape[0])
    return WorkResult::Unknown(why::kOtherShapes);
  return ProductResult({1, a->shape[0], b->shape[1]}, a->back(), *a, *b, ElementType{"int32", 4});
}

// Each row of a [t, k] meets one of the matrices b [g, k, n]; of two matrices the inner dimension is divided
// among groups, and each gives a matrix of its own.
Formula Grouped(std::optional<size_t> out_type, size_t offsets) {
  return [=](const CallOfOperator& call) {
    const Tensor *a = call.arguments.TensorAt(0), *b = call.arguments.TensorAt(1);
    if (!a || !b) return WorkResult::Unknown(why::kNoShapes);
    if (a->rank() < 2 || a->rank() > 3 || b->rank() < 2 || b->rank() > 3)
      return WorkResult::Unknown(why::kOtherShapes);
    std::optional<ElementType> type = a->type;
    if (out_type) type = ElementTypeOfNumber(call.arguments.ValueAt(*out_type));
    const int64_t m = a->back(1), k = a->back(), n = b->back();
    if (k != b->back(1)) return WorkResult::Unknown(why::kOtherShapes);
    Count multiplications = Product({m, k, n}), out = Product({m, n});
    if (a->rank() == 2 && b->rank() == 2) {
      const Tensor* ends = call.arguments.TensorAt(offsets);
      if (!ends || ends->rank() != 1) return WorkResult::Unknown(why::kNoShapes);
      out = out * ends->shape[0];
    } else if (a->rank() == 3 && b->rank() == 3) {
      if (a->shape[0] != b->shape[0]) return WorkResult::Unknown(why::kOtherShapes);
      multiplications = multiplications * a->shape[0];
      out = out * a->shape[0];
    }
    return ProductResult(multiplications * ElementsPerSize(*a), *a, *b, out, type);
  };
}

// tokens [t, h], matrices of the experts [e, 2i or i, h] and [e, h, i], and what was chosen [t, n]: each
// token passes n experts.
WorkResult Experts(const CallOfOperator& call) {
  std::vector<const Tensor*> tensors;
  for (const Argument& argument : call.arguments.all())
    if (!argument.is_list && argument.tensors.size() == 1 && argument.tensors[0].rank() >= 2)
      tensors.push_back(&argument.tensors[0]);
  if (tensors.size() < 4) return WorkResult::Unknown(why::kNoShapes);
  const Tensor &x = *tensors[0], &up = *tensors[1], &down = *tensors[2], &chosen = *tensors[3];
  if (x.rank() != 2 || up.rank() != 3 || down.rank() != 3 || chosen.rank() != 2 ||
      up.shape[0] != down.shape[0] || up.back() != x.back() || down.shape[1] != x.back() ||
      (up.shape[1] != down.back() && up.shape[1] / 2 != down.back()) || chosen.shape[0] != x.shape[0])
    return WorkResult::Unknown(why::kOtherShapes);
  Work work;
  work.kind = WorkKind::kMixtureOfExperts;
  const Count of_token = Product({up.shape[1], up.back()}) + Product({down.shape[1], down.back()});
  work.flops = work.model_flops = (of_token * chosen.shape[0] * chosen.shape[1] * 2).value();
  if (!work.flops) return WorkResult::Unknown(why::kTooLarge);
  if (x.type) work.data_type = x.type->name;
  work.bytes_unknown = why::kRouting;
  if (const auto rows = Product(chosen.shape).value(); rows && up.shape[0] > 0)
    work.expert_rows = static_cast<double>(*rows) / static_cast<double>(up.shape[0]);
  return {work, {}};
}

// [.., m, k] times [.., k, n], or [.., n, k]; neither fits where the ranks or batches differ.
struct Fit {
  bool plain = false, transposed = false;
  int64_t batch = 1;

  Fit(const Tensor& a, const Tensor& b) {
    if (a.rank() != b.rank() || a.rank() > 3 || (a.rank() == 3 && a.shape[0] != b.shape[0])) return;
    if (a.rank() == 3) batch = a.shape[0];
    plain = a.back() == b.back(1);
    transposed = a.back() == b.back();
  }
};

// Products of other programs that give their result: two matrices of two shapes, or square ones. Two of one
// shape are as likely an operand and what it is written to.
WorkResult ByTwoShapes(const Tensor& a, const Tensor& b) {
  const Fit fit(a, b);
  if ((!fit.plain && !fit.transposed) || (!fit.plain && a.shape == b.shape))
    return WorkResult::Unknown(why::kOtherShapes);
  const Result result{fit.batch, a.back(1), fit.plain ? b.back() : b.back(1), !fit.plain};
  // Narrow types give wider ones, which are not recorded.
  const bool wide = a.type && a.type->bytes > 1;
  return ProductResult(result, a.back(), a, b, wide ? a.type : std::nullopt);
}

// Kernels of Inductor's templates and of other programs: a product where three matrices fit together in no
// other way. [m, k] and [k, n], or [n, k], give [m, n].
WorkResult ByShapes(const CallOfOperator& call) {
  std::vector<const Tensor*> tensors;
  for (const Argument& argument : call.arguments.all())
    for (const Tensor& tensor : argument.tensors)
      if (tensor.rank() >= 2) tensors.push_back(&tensor);
  if (tensors.empty()) return WorkResult::Unknown(why::kNoShapes);
  if (tensors.size() == 2) return ByTwoShapes(*tensors[0], *tensors[1]);
  if (tensors.size() != 3) return WorkResult::Unknown(why::kOtherShapes);
  const Tensor &a = *tensors[0], &b = *tensors[1], &out = *tensors[2];
  const Fit fit(a, b);
  if (a.rank() != out.rank() || (out.rank() == 3 && out.shape[0] != fit.batch))
    return WorkResult::Unknown(why::kOtherShapes);
  const bool plain = fit.plain && out.back() == b.back();
  const bool transposed = fit.transposed && out.back() == b.back(1);
  if (out.back(1) != a.back(1) || (!plain && !transposed)) return WorkResult::Unknown(why::kOtherShapes);
  return ProductResult({fit.batch, out.back(1), out.back(), !plain}, a.back(), a, b, out.type);
}

// Of other programs' operators: what stands before the name is whose they are, and most of FBGEMM's are no
// products.
bool IsNamedAsProduct(std::string_view name) {
  if (name.starts_with("aten::") || name.find('<') != std::string_view::npos) return false;
  if (const size_t scope = name.rfind("::"); scope != std::string_view::npos) name.remove_prefix(scope + 2);
  if (name == "mm" || name == "bmm") return true;
  return std::ranges::any_of(std::array{"gemm", "matmul", "scaled_mm"},
                             [&](const char* part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

Formula MatrixFormula(std::string_view name) {
  static const std::optional<ElementType> bf16 = ElementTypeOfName("bf16");
  static const std::map<std::string_view, Formula> formulas = {
      {"aten::mm", MatrixTimesMatrix(0)},
      {"aten::bmm", MatrixTimesMatrix(0)},
      {"aten::addmm", MatrixTimesMatrix(1, 0)},
      {"aten::addmm_", MatrixTimesMatrix(1, 0)},
      {"aten::baddbmm", MatrixTimesMatrix(1, 0)},
      {"aten::baddbmm_", MatrixTimesMatrix(1, 0)},
      {"aten::_addmm_activation", MatrixTimesMatrix(1, 0)},
      {"aten::linear", Linear(0, 1, 2)},
      {"aten::matmul", Matmul},
      {"aten::mv", MatrixTimesVector(0)},
      {"aten::addmv", MatrixTimesVector(1)},
      {"aten::addmv_", MatrixTimesVector(1)},
      {"aten::dot", Dot},
      {"aten::_int_mm", IntegerProduct},
      // self, mat2, scale_a, scale_b, bias, scale_result, out_dtype.
      {"aten::_scaled_mm", Scaled(0, 6, 4)},
      // self, mat2, offs, bias, out_dtype; self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype.
      {"aten::_grouped_mm", Grouped(std::nullopt, 2)},
      {"aten::_scaled_grouped_mm", Grouped(7, 4)},
      {"aten::_weight_int8pack_mm", Linear(0, 1)},
      {"aiter::gemm_a16w16", Linear(0, 1)},
      {"vllm::rocm_unquantized_gemm", Linear(0, 1, 2)},
      {"aiter::gemm_a8w8", NarrowLinear()},
      {"aiter::gemm_a8w8_bpreshuffle", NarrowLinear()},
      {"aiter::gemm_a8w8_blockscale", NarrowLinear()},
      {"fbgemm::f8f8bf16", NarrowLinear(bf16)},
      {"fbgemm::f8f8bf16_rowwise", NarrowLinear(bf16)},
      {"fbgemm::f8f8bf16_blockwise", NarrowLinear(bf16)},
      {"aten::_cudnn_rnn", Recurrent(1)},
      {"aten::_cudnn_rnn_backward", Recurrent(2)},
      {"aten::miopen_rnn", Recurrent(1)},
      {"aten::miopen_rnn_backward", Recurrent(2)},
      // out, a, b, scales, bias.
      {"_C::cutlass_scaled_mm", Scaled(1, std::nullopt, 5, 0)},
      {"sgl_kernel::fp8_scaled_mm", Scaled(0, std::nullopt, 5)},
      // a, b, scales, number of the result's type.
      {"sgl_kernel::fp8_blockwise_scaled_mm", Scaled(0, 4, std::nullopt)},
      {"sgl_kernel::int8_scaled_mm", Scaled(0, std::nullopt, 5)},
  };
  if (const auto known = formulas.find(name); known != formulas.end()) return known->second;
  if (name.ends_with("fused_moe") || name.ends_with("fused_experts") || name.ends_with("fused_experts_impl"))
    return Experts;
  if (name.starts_with("triton_tem_fused_") &&
      (name.find("mm") != std::string_view::npos || name.find("bmm") != std::string_view::npos))
    return ByShapes;
  return IsNamedAsProduct(name) ? ByShapes : Formula();
}

}  // namespace dladvisor
