// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/work.h"

#include <re2/re2.h>

#include "src/analysis/work/attention_work.h"
#include "src/analysis/work/convolution_work.h"
#include "src/analysis/work/kernel_work.h"
#include "src/analysis/work/matrix_work.h"
#include "src/analysis/work/memory_work.h"

namespace dladvisor {

std::string_view NameOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kMatrixProduct:
      return "matrix";
    case WorkKind::kConvolution:
      return "convolution";
    case WorkKind::kAttention:
      return "attention";
    case WorkKind::kMixtureOfExperts:
      return "mixture-of-experts";
    case WorkKind::kNormalization:
      return "normalization";
    case WorkKind::kSoftmax:
      return "softmax";
    case WorkKind::kReduction:
      return "reduction";
    case WorkKind::kElementWise:
      return "element-wise";
    case WorkKind::kCopy:
      return "copy";
    case WorkKind::kPooling:
      return "pooling";
    case WorkKind::kEmbedding:
      return "embedding";
    case WorkKind::kOptimizer:
      return "optimizer";
  }
  return "";
}

bool HasFlops(WorkKind kind) {
  return kind == WorkKind::kMatrixProduct || kind == WorkKind::kConvolution || kind == WorkKind::kAttention ||
         kind == WorkKind::kMixtureOfExperts;
}

std::optional<BatchOfRange> ParseBatch(std::string_view name) {
  if (!name.starts_with("execute_")) return std::nullopt;
  static const RE2 pattern(
      R"(execute_\d+_context_\d+\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)_generation_\d+\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\))");
  BatchOfRange batch;
  BatchLengths &context = batch.context, &generation = batch.generation;
  if (!RE2::FullMatch(re2::StringPiece(name.data(), name.size()), pattern, &context.query, &context.key,
                      &context.query_query, &context.query_key, &generation.query, &generation.key,
                      &generation.query_query, &generation.query_key))
    return std::nullopt;
  return batch;
}

bool NeedsBatch(std::string_view name) { return IsPagedAttention(name); }

bool NeedsOutput(std::string_view name) { return IsForwardConvolution(name); }

WorkResult WorkWithoutTypes(const Formula& formula, Arguments& arguments, const Sizes* output) {
  if (!arguments.HasTensor()) return WorkResult::Unknown(why::kNoShapes);
  const auto compute = [&] { return formula({.arguments = arguments, .output = output}); };
  WorkResult result = compute();
  if (!result.work || result.work->bytes) return result;
  const auto bytes_of = [&](int32_t element) {
    arguments.SetType(ElementType{"", element});
    const WorkResult typed = compute();
    return typed.work ? std::optional<int64_t>(typed.work->bytes) : std::nullopt;
  };
  // What writes bools or indices does not move twice as much of types twice as large.
  const std::optional<int64_t> once = bytes_of(1), twice = bytes_of(2);
  if (once && twice && *twice - *once == *once) result.work->untyped_elements = once;
  return result;
}

Formula FormulaOf(std::string_view name) {
  for (const auto find : {MatrixFormula, ConvolutionFormula, AttentionFormula, MemoryFormula, KernelFormula})
    if (Formula formula = find(name)) return formula;
  return {};
}

Formula BackwardFormulaOf(std::string_view forward) {
  if (Formula formula = ConvolutionBackwardFormula(forward)) return formula;
  return AttentionBackwardFormula(forward);
}

}  // namespace dladvisor
