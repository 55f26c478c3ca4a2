// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/convolution_work.h"

#include <map>
#include <utility>

namespace dladvisor {
namespace {

// ConvolutionPositions of a forward operator's arguments.
struct ConvolutionPositions {
  size_t input, weight, bias, stride, padding, dilation;
  size_t transposed = kNoPosition, output_padding = kNoPosition, groups = kNoPosition;
  bool is_transposed = false;
};

// Output positions times the weights that each meets: those of a transposed convolution are the input's.
Count Multiplications(const Tensor& positions, const Tensor& weight) {
  return Count(positions.shape[0]) * Product(positions.shape, 2) * weight.elements();
}

// A value for each of `rank` dimensions; one may hold for all.
std::optional<Sizes> PerDimension(const Arguments& arguments, size_t position, size_t rank) {
  std::optional<Sizes> sizes = arguments.IntegersAt(position);
  if (!sizes || sizes->empty()) return std::nullopt;
  if (sizes->size() == 1) sizes = Sizes(rank, sizes->front());
  if (sizes->size() != rank) return std::nullopt;
  return sizes;
}

// The shape of the result; nothing where it does not follow from what is recorded.
std::optional<Sizes> OutputShape(const Arguments& arguments, const ConvolutionPositions& at,
                                 bool is_transposed, const Tensor& input, const Tensor& weight) {
  const size_t dimensions = input.rank() - 2;
  const auto stride = PerDimension(arguments, at.stride, dimensions);
  const auto dilation = PerDimension(arguments, at.dilation, dimensions);
  auto padding = PerDimension(arguments, at.padding, dimensions);
  const std::string_view words = arguments.ValueAt(at.padding);
  const bool same = words == "same";
  if (words == "valid") padding = Sizes(dimensions, 0);
  if (!stride || !dilation || (!padding && !same)) return std::nullopt;
  Sizes out = {input.shape[0], weight.shape[0]};
  for (size_t i = 0; i < dimensions; ++i) {
    const int64_t size = input.shape[i + 2], window = weight.shape[i + 2];
    if (same) {
      out.push_back(size);
      continue;
    }
    if (!is_transposed) {
      const auto windows = WindowsAlong(size, window, (*stride)[i], (*padding)[i], (*dilation)[i]).value();
      if (!windows) return std::nullopt;
      out.push_back(*windows);
      continue;
    }
    const auto extra = at.output_padding == kNoPosition
                           ? std::nullopt
                           : PerDimension(arguments, at.output_padding, dimensions);
    if (!extra || size < 1 || window < 1) return std::nullopt;
    const auto length = (Count(size - 1) * (*stride)[i] + Count((*dilation)[i]) * (window - 1) +
                         Count((*extra)[i]) + 1 - Count((*padding)[i]) * 2)
                            .value();
    if (!length) return std::nullopt;
    out.push_back(*length);
  }
  if (is_transposed) {
    // The weight's second dimension are the channels of one group's result.
    const auto groups = at.groups == kNoPosition ? std::nullopt : arguments.IntegerAt(at.groups);
    const auto channels = groups ? (Count(weight.shape[1]) * *groups).value() : std::nullopt;
    if (!channels) return std::nullopt;
    out[1] = *channels;
  }
  return out;
}

WorkResult ConvolutionResult(Count multiplications, Count bytes, Literal bytes_unknown, const Tensor& of) {
  Work work;
  work.kind = WorkKind::kConvolution;
  work.flops = work.model_flops = (multiplications * 2).value();
  if (!work.flops) return WorkResult::Unknown(why::kTooLarge);
  if (of.type) work.data_type = of.type->name;
  work.layout = ChannelLayout(of);
  work.bytes = bytes.value();
  if (!work.bytes) work.bytes_unknown = bytes_unknown;
  return {work, {}};
}

// Of the matrix [positions, channels] that a convolution computes as a product.
Count Tiles(const Sizes& out) {
  return Pieces(Count(out[0]) * Product(out, 2), kTile) * Pieces(out[1], kTile);
}

// Whether the result of a convolution, which is known, shows that it is transposed, where no flag says so:
// by channels, and where these do not tell by whether it is larger. Nothing where it fits neither.
std::optional<bool> TransposedBy(const Sizes& out, const Tensor& input, const Tensor& weight) {
  if (out.size() != input.rank() || out[0] != input.shape[0]) return std::nullopt;
  const bool plain =
      out[1] == weight.shape[0] && weight.shape[1] > 0 && input.shape[1] % weight.shape[1] == 0;
  const bool transposed = input.shape[1] == weight.shape[0];
  if (!plain && !transposed) return std::nullopt;
  if (!plain || !transposed) return transposed;
  bool larger = false;
  for (size_t i = 2; i < out.size(); ++i) larger |= out[i] > input.shape[i];
  return larger;
}

// The forward operator, or both its gradients, which have its FLOPs each.
Formula Convolution(const ConvolutionPositions& at, bool gradients) {
  return [at, gradients](const CallOfOperator& call) {
    const Arguments& arguments = call.arguments;
    const Tensor *input = arguments.TensorAt(at.input), *weight = arguments.TensorAt(at.weight);
    if (!input || !weight) return WorkResult::Unknown(why::kNoShapes);
    if (input->rank() < 3 || input->rank() != weight->rank()) return WorkResult::Unknown(why::kOtherShapes);
    bool is_transposed = at.is_transposed;
    if (at.transposed != kNoPosition) {
      auto flag = arguments.FlagAt(at.transposed);
      if (!flag && call.output) flag = TransposedBy(*call.output, *input, *weight);
      if (!flag) return WorkResult::Unknown(why::kNoScalars);
      is_transposed = *flag;
    }
    auto out = OutputShape(arguments, at, is_transposed, *input, *weight);
    if (!out && call.output && TransposedBy(*call.output, *input, *weight) == is_transposed)
      out = *call.output;
    if (!is_transposed && !out) return WorkResult::Unknown(why::kNoScalars);
    Tensor output;
    if (out) output.shape = *out;
    const Count flops = Multiplications(is_transposed ? *input : output, *weight);
    Count bytes = Count::Unknown();
    if (input->type && weight->type && out) {
      const Count of_output = output.elements() * input->type->bytes;
      const Tensor* bias = arguments.TensorAt(at.bias);
      // Gradients: of the output, input and weight are read, of input and weight written.
      bytes = gradients ? of_output + (input->bytes() + weight->bytes()) * 2
                        : of_output + input->bytes() + weight->bytes() + (bias ? bias->bytes() : Count(0));
    }
    WorkResult result = ConvolutionResult(gradients ? flops * 2 : flops, bytes,
                                          input->type ? why::kNoOutput : why::kNoTypes, *input);
    if (result.work && out && !gradients && !is_transposed) result.work->output_tiles = Tiles(*out).value();
    return result;
  };
}

// aten::convolution_backward: grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed,
// output_padding, groups, output_mask. The order of the first three differs by library.
struct GradientPositions {
  size_t grad_output, input, weight, transposed, mask;
};

Formula Backward(const GradientPositions& at) {
  return [at](const CallOfOperator& call) {
    const Arguments& arguments = call.arguments;
    const Tensor *grad = arguments.TensorAt(at.grad_output), *input = arguments.TensorAt(at.input),
                 *weight = arguments.TensorAt(at.weight);
    if (!grad || !input || !weight) return WorkResult::Unknown(why::kNoShapes);
    if (grad->rank() < 3 || grad->rank() != input->rank() || grad->rank() != weight->rank())
      return WorkResult::Unknown(why::kOtherShapes);
    const auto mask = arguments.FlagsAt(at.mask);
    const auto transposed = at.transposed == kNoPosition ? false : arguments.FlagAt(at.transposed);
    if (!mask || mask->size() < 2 || !transposed) return WorkResult::Unknown(why::kNoScalars);
    const Count one = Multiplications(*transposed ? *input : *grad, *weight);
    Count flops = 0, bytes = grad->bytes();
    if ((*mask)[0]) {
      flops = flops + one;
      bytes = bytes + weight->bytes() + input->bytes();
    }
    if ((*mask)[1]) {
      flops = flops + one;
      bytes = bytes + input->bytes() + weight->bytes();
    }
    return ConvolutionResult(flops, bytes, why::kNoTypes, *grad);
  };
}

// The gradient of the input, where its size is the first argument.
WorkResult BackwardInput(const CallOfOperator& call) {
  const Tensor *grad = call.arguments.TensorAt(1), *weight = call.arguments.TensorAt(2);
  if (!grad || !weight) return WorkResult::Unknown(why::kNoShapes);
  if (grad->rank() < 3 || grad->rank() != weight->rank()) return WorkResult::Unknown(why::kOtherShapes);
  Count bytes = grad->bytes() + weight->bytes();
  const auto size = call.arguments.IntegersAt(0);
  bytes = size && grad->type ? bytes + Product(*size) * grad->type->bytes : Count::Unknown();
  return ConvolutionResult(Multiplications(*grad, *weight), bytes, why::kNoScalars, *grad);
}

// The gradient of the weight, likewise.
WorkResult BackwardWeight(const CallOfOperator& call) {
  const Tensor *grad = call.arguments.TensorAt(1), *input = call.arguments.TensorAt(2);
  if (!grad || !input) return WorkResult::Unknown(why::kNoShapes);
  const auto size = call.arguments.IntegersAt(0);
  if (!size) return WorkResult::Unknown(why::kNoScalars);
  if (grad->rank() < 3 || grad->rank() != input->rank() || size->size() != grad->rank())
    return WorkResult::Unknown(why::kOtherShapes);
  Tensor weight;
  weight.shape = *size;
  const Count written = grad->type ? weight.elements() * grad->type->bytes : Count::Unknown();
  return ConvolutionResult(Multiplications(*grad, weight), grad->bytes() + input->bytes() + written,
                           why::kNoTypes, *grad);
}

// By operator: ATen/native/native_functions.yaml.
const std::map<std::string_view, ConvolutionPositions>& Forward() {
  static const std::map<std::string_view, ConvolutionPositions> forward = [] {
    std::map<std::string_view, ConvolutionPositions> of;
    // input, weight, bias, stride, padding, dilation, transposed, output_padding, groups.
    of["aten::convolution"] = of["aten::_convolution"] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    // input, weight, bias, stride, padding, dilation, groups.
    for (const std::string_view name : {"aten::conv1d", "aten::conv2d", "aten::conv3d",
                                        "aten::cudnn_convolution_relu", "aten::miopen_convolution_relu"})
      of[name] = {0, 1, 2, 3, 4, 5};
    // input, weight, bias, stride, padding, output_padding, groups, dilation.
    for (const std::string_view name :
         {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"})
      of[name] = {0, 1, 2, 3, 4, 7, kNoPosition, 5, 6, true};
    of["aten::cudnn_convolution"] = {0, 1, kNoPosition, 3, 2, 4};
    of["aten::cudnn_convolution_transpose"] = {0, 1, kNoPosition, 4, 2, 5, kNoPosition, 3, 6, true};
    of["aten::miopen_convolution"] = of["aten::miopen_depthwise_convolution"] = {0, 1, 2, 4, 3, 5};
    of["aten::miopen_convolution_transpose"] = {0, 1, 2, 5, 3, 6, kNoPosition, 4, 7, true};
    // input, weight, z, alpha, bias, stride, padding, dilation, groups.
    of["aten::cudnn_convolution_add_relu"] = of["aten::miopen_convolution_add_relu"] = {0, 1, 4, 5, 6, 7};
    // input, weight, kernel_size, bias, stride, padding, dilation.
    for (const std::string_view name : {"aten::_conv_depthwise2d", "aten::conv_depthwise3d",
                                        "aten::slow_conv_dilated2d", "aten::slow_conv_dilated3d"})
      of[name] = {0, 1, 3, 4, 5, 6};
    return of;
  }();
  return forward;
}

}  // namespace

Count WindowsAlong(int64_t size, int64_t window, int64_t stride, int64_t padding, int64_t dilation) {
  if (stride <= 0) return Count::Unknown();
  const Count covered = Count(dilation) * Count(window - 1) + 1;
  return (Count(size) + Count(padding) * 2 - covered) / stride + 1;
}

Literal ChannelLayout(const Tensor& of) {
  if (of.rank() < 3 || of.strides.size() != of.rank() || of.shape[1] == 1 || of.back() == 1) return "";
  if (of.strides[1] == 1) return "channels last";
  if (of.strides[of.rank() - 1] == 1) return "channels first";
  return "";
}

bool IsForwardConvolution(std::string_view name) { return Forward().contains(name); }

Formula ConvolutionFormula(std::string_view name) {
  if (const auto at = Forward().find(name); at != Forward().end()) return Convolution(at->second, false);
  if (name == "aten::convolution_backward") return Backward({0, 1, 2, 7, 10});
  // self, grad_output, weight, padding, stride, dilation, groups, benchmark, deterministic, (allow_tf32,)
  // output_mask.
  if (name == "aten::cudnn_convolution_backward") return Backward({1, 0, 2, kNoPosition, 10});
  if (name == "aten::miopen_convolution_backward" || name == "aten::miopen_depthwise_convolution_backward")
    return Backward({1, 0, 2, kNoPosition, 9});
  for (const std::string_view library : {"aten::cudnn_", "aten::miopen_"}) {
    if (!name.starts_with(library)) continue;
    if (name.ends_with("convolution_backward_input")) return BackwardInput;
    if (name.ends_with("convolution_backward_weight")) return BackwardWeight;
  }
  return {};
}

Formula ConvolutionBackwardFormula(std::string_view forward) {
  const auto at = Forward().find(forward);
  return at == Forward().end() ? Formula() : Convolution(at->second, true);
}

}  // namespace dladvisor
