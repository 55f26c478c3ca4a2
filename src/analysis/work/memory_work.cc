// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/memory_work.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "src/analysis/work/convolution_work.h"
#include "src/analysis/work/moved_bytes.h"

namespace dladvisor {
namespace {

constexpr ElementType kByte{"bool", 1}, kIndex{"int64", 8};

// The shape of what tensors of these shapes give together; nothing where they do not fit.
std::optional<Sizes> Broadcast(const std::vector<const Tensor*>& tensors) {
  Sizes shape;
  for (const Tensor* tensor : tensors) {
    if (tensor->rank() > shape.size()) {
      Sizes wider(tensor->rank() - shape.size(), 1);
      for (const int64_t size : shape) wider.push_back(size);
      shape = wider;
    }
    for (size_t i = 0; i < tensor->rank(); ++i) {
      int64_t& size = shape[shape.size() - 1 - i];
      const int64_t other = tensor->back(i);
      if (size != other && size != 1 && other != 1) return std::nullopt;
      if (size == 1) size = other;
    }
  }
  return shape;
}

// Reads all tensors and writes one of the shape that they have together: of their common type, or of bools.
// Tensors after the first `inputs` are results that the caller gives; the one at `mask` holds bools.
Formula ElementWise(bool gives_bools = false, size_t inputs = kNoPosition, size_t mask = kNoPosition) {
  return [=](const CallOfOperator& call) {
    const WorkKind kind = WorkKind::kElementWise;
    std::vector<const Tensor*> tensors = TensorsOf(call.arguments);
    if (tensors.empty()) return WorkResult::Unknown(why::kNoShapes);
    if (tensors.size() > inputs) tensors.resize(inputs);
    std::optional<Tensor> bools;
    if (mask < tensors.size()) {
      bools = *tensors[mask];
      bools->type = kByte;
      tensors[mask] = &*bools;
    }
    const std::optional<Sizes> shape = Broadcast(tensors);
    if (!shape) return WorkResult::Unknown(why::kOtherShapes);
    // Tensors without dimensions do not widen others, as scalars do not.
    std::optional<ElementType> type;
    for (const bool with_dimensions : {true, false})
      for (const Tensor* tensor : tensors)
        if (tensor->type && (tensor->rank() > 0) == with_dimensions && (with_dimensions || !type))
          type = type ? Promote(*type, *tensor->type) : *tensor->type;
    const Count elements = Product(*shape);
    if (!type) return MovedInto(kind, Count::Unknown(), "", elements, 0);
    const ElementType out = gives_bools ? kByte : *type;
    return MovedInto(kind, BytesOf(tensors) + elements * out.bytes, type->name, elements, out.bytes);
  };
}

// Writes the first argument, without reading it.
WorkResult Fill(const CallOfOperator& call) {
  const Tensor* out = call.arguments.TensorAt(0);
  if (!out) return WorkResult::Unknown(why::kNoShapes);
  return Moved(WorkKind::kElementWise, out->bytes(), TypeName(*out));
}

// aten::copy_: destination, source.
WorkResult CopyTo(const CallOfOperator& call) {
  const Tensor *to = call.arguments.TensorAt(0), *from = call.arguments.TensorAt(1);
  if (!to || !from) return WorkResult::Unknown(why::kNoShapes);
  return MovedInto(WorkKind::kCopy, to->bytes() + from->bytes(), TypeName(*to), to->elements(),
                   to->type ? to->type->bytes : 0);
}

// Number of elements of what a reduction gives; `dimensions` is the position of those that it reduces.
Formula Reduction(std::optional<size_t> dimensions, const std::optional<ElementType>& out_type = std::nullopt,
                  bool gives_indices = false) {
  return [=](const CallOfOperator& call) {
    const Tensor* in = call.arguments.TensorAt(0);
    if (!in) return WorkResult::Unknown(why::kNoShapes);
    if (!in->type) return Moved(WorkKind::kReduction, Count::Unknown(), "");
    Count out = 1;
    int64_t indices = 0;
    if (dimensions && call.arguments.size() > *dimensions) {
      const std::optional<Sizes> reduced = call.arguments.IntegersAt(*dimensions);
      const bool is_recorded = reduced || call.arguments.ValueAt(*dimensions).empty();
      if (!is_recorded) return WorkResult::Unknown(why::kNoScalars);
      if (reduced && !reduced->empty()) {
        Sizes kept = in->shape;
        for (int64_t dimension : *reduced) {
          if (dimension < 0) dimension += static_cast<int64_t>(kept.size());
          if (dimension < 0 || dimension >= static_cast<int64_t>(kept.size()))
            return WorkResult::Unknown(why::kOtherShapes);
          kept[static_cast<size_t>(dimension)] = 1;
        }
        out = Product(kept);
        indices = gives_indices ? kIndex.bytes : 0;
      }
    }
    const int64_t bytes = (out_type ? out_type->bytes : in->type->bytes) + indices;
    return MovedInto(WorkKind::kReduction, in->bytes() + out * bytes, in->type->name, out, bytes);
  };
}

// Its kernels differ by the layout of what it normalises, the argument at `like`.
Formula BatchNorm(size_t like) {
  return [formula = Like(WorkKind::kNormalization, like), like](const CallOfOperator& call) {
    WorkResult result = formula(call);
    if (result.work) result.work->layout = ChannelLayout(*call.arguments.TensorAt(like));
    return result;
  };
}

// aten::native_dropout: input, p, train. Gives the result and a mask.
WorkResult Dropout(const CallOfOperator& call) {
  const Tensor* in = call.arguments.TensorAt(0);
  if (!in) return WorkResult::Unknown(why::kNoShapes);
  if (!in->type) return Moved(WorkKind::kElementWise, Count::Unknown(), "");
  return MovedInto(WorkKind::kElementWise, in->bytes() + in->elements() * (in->type->bytes + kByte.bytes),
                   in->type->name, in->elements(), in->type->bytes);
}

// Reads a row of `table` for each index and writes it.
Formula Lookup(size_t table, size_t indices) {
  return [=](const CallOfOperator& call) {
    const Tensor *rows = call.arguments.TensorAt(table), *of = call.arguments.TensorAt(indices);
    if (!rows || !of) return WorkResult::Unknown(why::kNoShapes);
    if (rows->rank() == 0) return WorkResult::Unknown(why::kOtherShapes);
    if (!rows->type) return Moved(WorkKind::kEmbedding, Count::Unknown(), "");
    const Count row = Product(rows->shape, 1) * rows->type->bytes;
    return Moved(WorkKind::kEmbedding, of->bytes() + of->elements() * row * 2, rows->type->name);
  };
}

// aten::embedding_dense_backward: grad_output, indices, num_weights. Writes a gradient for every row.
WorkResult EmbeddingBackward(const CallOfOperator& call) {
  const Tensor *grad = call.arguments.TensorAt(0), *indices = call.arguments.TensorAt(1);
  const auto rows = call.arguments.IntegerAt(2);
  if (!grad || !indices) return WorkResult::Unknown(why::kNoShapes);
  if (!rows) return WorkResult::Unknown(why::kNoScalars);
  if (grad->rank() == 0) return WorkResult::Unknown(why::kOtherShapes);
  if (!grad->type) return Moved(WorkKind::kEmbedding, Count::Unknown(), "");
  return Moved(WorkKind::kEmbedding,
               grad->bytes() + indices->bytes() + Count(*rows) * grad->back() * grad->type->bytes,
               grad->type->name);
}

// aten::index_select: self, dim, index.
WorkResult IndexSelect(const CallOfOperator& call) {
  const Tensor *from = call.arguments.TensorAt(0), *index = call.arguments.TensorAt(2);
  auto dimension = call.arguments.IntegerAt(1);
  if (!from || !index) return WorkResult::Unknown(why::kNoShapes);
  if (from->rank() == 1) dimension = 0;
  if (!dimension) return WorkResult::Unknown(why::kNoScalars);
  if (*dimension < 0) *dimension += static_cast<int64_t>(from->rank());
  if (*dimension < 0 || *dimension >= static_cast<int64_t>(from->rank()))
    return WorkResult::Unknown(why::kOtherShapes);
  if (!from->type) return Moved(WorkKind::kEmbedding, Count::Unknown(), "");
  Sizes out = from->shape;
  out[static_cast<size_t>(*dimension)] = 1;
  return Moved(WorkKind::kEmbedding,
               index->bytes() + Product(out) * index->elements() * from->type->bytes * 2, from->type->name);
}

// aten::gather: self, dim, index.
WorkResult Gather(const CallOfOperator& call) {
  const Tensor *from = call.arguments.TensorAt(0), *index = call.arguments.TensorAt(2);
  if (!from || !index) return WorkResult::Unknown(why::kNoShapes);
  if (!from->type) return Moved(WorkKind::kEmbedding, Count::Unknown(), "");
  return Moved(WorkKind::kEmbedding, index->bytes() + index->elements() * from->type->bytes * 2,
               from->type->name);
}

// Two-dimensional pooling: input, kernel, stride, padding, and after them `dilation` where it is one's
// position. Maxima are given with their indices.
Formula Pooling(std::optional<size_t> dilation, bool with_indices) {
  return [=](const CallOfOperator& call) {
    const Arguments& arguments = call.arguments;
    const Tensor* in = arguments.TensorAt(0);
    if (!in) return WorkResult::Unknown(why::kNoShapes);
    const auto kernel = arguments.IntegersAt(1);
    auto stride = arguments.IntegersAt(2);
    const auto padding = arguments.IntegersAt(3);
    const auto dilations = dilation ? arguments.IntegersAt(*dilation) : Sizes{1};
    const auto rounds_up = arguments.FlagAt(dilation ? *dilation + 1 : 4);
    if (!kernel || !padding || !dilations || !rounds_up) return WorkResult::Unknown(why::kNoScalars);
    if (!stride || stride->empty()) stride = kernel;
    if (in->rank() < 3 || *rounds_up) return WorkResult::Unknown(why::kNoOutput);
    if (!in->type) return Moved(WorkKind::kPooling, Count::Unknown(), "");
    Count out = Product(std::span(in->shape).first(in->rank() - 2));
    for (size_t i = 0; i < 2; ++i) {
      const auto at = [i](const Sizes& sizes) {
        return sizes.empty() ? -1 : sizes[std::min(i, sizes.size() - 1)];
      };
      out = out * WindowsAlong(in->back(1 - i), at(*kernel), at(*stride), at(*padding), at(*dilations));
    }
    if (!out.value()) return WorkResult::Unknown(why::kOtherShapes);
    return Moved(WorkKind::kPooling,
                 in->bytes() + out * (in->type->bytes + (with_indices ? kIndex.bytes : 0)), in->type->name);
  };
}

// Writes the last dimensions anew: aten::upsample_nearest2d has their sizes, pads what is added before and
// behind each, the last dimension's first.
Formula Resized(bool pads) {
  return [pads](const CallOfOperator& call) {
    const Tensor* in = call.arguments.TensorAt(0);
    const auto sizes = call.arguments.IntegersAt(1);
    if (!in) return WorkResult::Unknown(why::kNoShapes);
    if (!sizes) return WorkResult::Unknown(why::kNoScalars);
    const size_t resized = pads ? sizes->size() / 2 : sizes->size();
    if (resized > in->rank()) return WorkResult::Unknown(why::kOtherShapes);
    if (!in->type) return Moved(WorkKind::kElementWise, Count::Unknown(), "");
    Count out = Product(std::span(in->shape).first(in->rank() - resized));
    for (size_t i = 0; i < resized; ++i)
      out = out * (pads ? Count(in->back(i)) + (*sizes)[2 * i] + (*sizes)[2 * i + 1] : Count((*sizes)[i]));
    if (!out.value()) return WorkResult::Unknown(why::kNoOutput);
    return MovedInto(WorkKind::kElementWise, in->bytes() + out * in->type->bytes, in->type->name, out,
                     in->type->bytes);
  };
}

// Reads all tensors of the first argument, a list, and writes them as one. emit_nvtx, which records no types,
// writes the sizes of a list's tensors as those of so many arguments.
WorkResult Join(const CallOfOperator& call) {
  const std::span<const Argument> all = call.arguments.all();
  if (all.empty()) return WorkResult::Unknown(why::kNoShapes);
  Count elements = 0;
  bool has_tensor = false;
  for (const Argument& argument : all[0].is_list ? all.first(1) : all)
    for (const Tensor& tensor : argument.tensors) {
      if (tensor.type) return WorkResult::Unknown(why::kNoShapes);
      elements = elements + tensor.elements();
      has_tensor = true;
    }
  if (!has_tensor) return WorkResult::Unknown(why::kNoShapes);
  WorkResult result = Moved(WorkKind::kCopy, Count::Unknown(), "");
  result.work->untyped_elements = (elements * 2).value();
  return result;
}

// Lists of tensors: those at `read` are read and those at `written` written. Their type is not recorded.
// Where the first is, an empty one has no tensors.
Formula Lists(WorkKind kind, std::vector<size_t> read, std::vector<size_t> written) {
  return [=](const CallOfOperator& call) {
    const std::span<const Argument> all = call.arguments.all();
    if (all.empty() || !all[0].is_list || all[0].tensors.empty()) return WorkResult::Unknown(why::kNoShapes);
    Count elements = 0;
    for (const std::vector<size_t>* positions : {&read, &written})
      for (const size_t position : *positions)
        if (position < all.size() && all[position].is_list)
          for (const Tensor& tensor : all[position].tensors) elements = elements + tensor.elements();
    WorkResult result = Moved(kind, Count::Unknown(), "");
    result.work->untyped_elements = elements.value();
    return result;
  };
}

// Operators that write where they read: what one of these reads is not their first argument.
bool OnlyWrites(std::string_view name) {
  static const std::set<std::string_view> names = {"fill_",   "zero_",      "normal_",      "uniform_",
                                                   "random_", "bernoulli_", "exponential_", "log_normal_"};
  return names.contains(name);
}

using Names = std::initializer_list<std::string_view>;

std::map<std::string_view, Formula> AtenFormulas() {
  std::map<std::string_view, Formula> of;
  const auto add = [&](const Formula& formula, Names names) {
    for (const std::string_view name : names) of[name] = formula;
  };
  add(ElementWise(false, 1),
      {"abs",   "acos",        "asin",      "atan",       "ceil",       "celu",  "cos",
       "cosh",  "elu",         "erf",       "exp",        "exp2",       "expm1", "floor",
       "gelu",  "hardsigmoid", "hardswish", "hardtanh",   "leaky_relu", "log",   "log10",
       "log1p", "log2",        "logit",     "mish",       "nan_to_num", "neg",   "reciprocal",
       "relu",  "round",       "rsqrt",     "sigmoid",    "sign",       "silu",  "sin",
       "sinh",  "softplus",    "sqrt",      "square",     "tan",        "tanh",  "threshold",
       "tril",  "triu",        "trunc",     "bitwise_not"});
  add(ElementWise(false, 2), {"add",
                              "sub",
                              "rsub",
                              "mul",
                              "div",
                              "pow",
                              "fmod",
                              "remainder",
                              "floor_divide",
                              "maximum",
                              "minimum",
                              "bitwise_and",
                              "bitwise_or",
                              "sigmoid_backward",
                              "tanh_backward",
                              "threshold_backward",
                              "gelu_backward",
                              "silu_backward",
                              "elu_backward",
                              "hardtanh_backward",
                              "hardswish_backward",
                              "leaky_relu_backward",
                              "native_dropout_backward",

                              "clamp_min",
                              "clamp_max"});
  add(ElementWise(), {"addcdiv", "addcmul", "clamp", "lerp", "mse_loss_backward", "smooth_l1_loss_backward"});
  add(ElementWise(false, 3, 0), {"where", "_s_where"});
  add(ElementWise(false, 2, 1), {"masked_fill"});
  add(ElementWise(true, 2), {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"});
  add(ElementWise(true, 1), {"logical_not", "isnan", "isinf", "isfinite"});
  add(Fill, {"fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_"});
  add(Resized(false), {"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d",
                       "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"});
  add(Resized(true), {"constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad1d",
                      "replication_pad2d", "replication_pad3d"});
  of["copy_"] = CopyTo;
  of["native_dropout"] = Dropout;
  add(Like(WorkKind::kSoftmax, 0), {"softmax", "_softmax", "log_softmax", "_log_softmax",
                                    "_softmax_backward_data", "_log_softmax_backward_data", "_safe_softmax"});
  add(BatchNorm(0), {"batch_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"});
  add(BatchNorm(1),
      {"native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward"});
  add(Like(WorkKind::kNormalization, 0),
      {"layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "instance_norm", "rms_norm",
       "_fused_rms_norm"});
  add(Like(WorkKind::kNormalization, 1),
      {"native_layer_norm_backward", "native_group_norm_backward", "_fused_rms_norm_backward"});
  add(Like(WorkKind::kReduction, 0), {"cumsum", "cumprod", "flip", "roll"});
  add(Reduction(1), {"sum", "mean", "amax", "amin", "prod", "logsumexp"});
  add(Reduction(1, std::nullopt, true), {"max", "min"});
  add(Reduction(1, kByte), {"any", "all"});
  add(Reduction(1, kIndex), {"argmax", "argmin"});
  add(Reduction(2), {"norm", "linalg_vector_norm"});
  of["embedding"] = Lookup(0, 1);
  of["embedding_dense_backward"] = EmbeddingBackward;
  of["index_select"] = IndexSelect;
  of["gather"] = Gather;
  of["max_pool2d_with_indices"] = Pooling(4, true);
  of["avg_pool2d"] = Pooling(std::nullopt, false);
  add(Like(WorkKind::kPooling, 1), {"max_pool2d_with_indices_backward", "avg_pool2d_backward"});
  add(Join, {"cat", "stack"});
  const auto lists = [&](std::vector<size_t> read, std::vector<size_t> written, Names names) {
    add(Lists(WorkKind::kOptimizer, std::move(read), std::move(written)), names);
  };
  lists({0}, {0},
        {"_foreach_neg_", "_foreach_sqrt", "_foreach_sqrt_", "_foreach_sign", "_foreach_reciprocal_"});
  lists({0, 1}, {0},
        {"_foreach_add_", "_foreach_sub_", "_foreach_mul_", "_foreach_div_", "_foreach_add", "_foreach_sub",
         "_foreach_mul", "_foreach_div", "_foreach_lerp_", "_foreach_lerp", "_foreach_maximum_",
         "_foreach_clamp_min_", "_foreach_pow"});
  lists({0, 1, 2}, {0}, {"_foreach_addcmul_", "_foreach_addcdiv_", "_foreach_addcmul", "_foreach_addcdiv"});
  lists({1}, {0}, {"_foreach_copy_"});
  lists({}, {0}, {"_foreach_zero_"});
  lists({0}, {}, {"_foreach_norm"});
  // Parameters, gradients, first and second moments, maxima of the second.
  lists({0, 1, 2, 3, 4}, {0, 2, 3, 4}, {"_fused_adam_", "_fused_adamw_"});
  // Parameters, gradients, momenta.
  lists({0, 1, 2}, {0, 2}, {"_fused_sgd_"});
  return of;
}

}  // namespace

Formula MemoryFormula(std::string_view name) {
  static const std::map<std::string_view, Formula> aten = AtenFormulas();
  if (name.starts_with("aten::")) {
    const std::string_view plain = name.substr(std::string_view("aten::").size());
    if (const auto known = aten.find(plain); known != aten.end()) return known->second;
    if (!plain.ends_with('_') || OnlyWrites(plain)) return {};
    const auto known = aten.find(plain.substr(0, plain.size() - 1));
    return known == aten.end() ? Formula() : known->second;
  }
  return {};
}

}  // namespace dladvisor
