// SPDX-License-Identifier: Apache-2.0
// The work of a call of an operator: floating-point operations, and the bytes that it must move at least,
// from the shapes and types of its arguments. FLOPs are those of PyTorch's torch/utils/flop_counter.py, a
// multiplication and an addition being two, with these differences: of causal attention only the part below
// the diagonal counts, and the gradient of a grouped convolution's weight counts each group's channels only.
// Operators whose work is the movement of data have no FLOPs. Bytes are compulsory traffic: each input is
// read once and each output written once. What is not recorded makes the work unknown, with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "src/analysis/work/arguments.h"
#include "src/analysis/work/count.h"
#include "src/analysis/work/literal.h"

namespace dladvisor {

enum class WorkKind : uint8_t {
  kMatrixProduct,
  kConvolution,
  kAttention,
  kMixtureOfExperts,
  kNormalization,
  kSoftmax,
  kReduction,
  kElementWise,
  kCopy,
  kPooling,
  kEmbedding,
  kOptimizer,
};
std::string_view NameOf(WorkKind kind);  // "matrix", "convolution", ..., as kernel kinds are called
// Whether it computes more than it moves: products, convolutions, attention.
bool HasFlops(WorkKind kind);

// Rows and columns of the largest tiles that kernels of products commonly compute.
inline constexpr int64_t kTile = 128;

struct Work {
  WorkKind kind = WorkKind::kElementWise;
  OptionalCount flops;        // of kinds that have some
  OptionalCount model_flops;  // without what is computed a second time, as attention's scores are
  OptionalCount bytes;
  // Elements read and written, where only their type is missing, which is one for all: of lists profilers
  // record no types, and exports of none.
  OptionalCount untyped_elements;
  // Of the result, where the operator moves data and has one.
  OptionalCount output_elements, output_bytes;
  // Of products and convolutions: tiles of kTile x kTile elements that the results have together. As many
  // blocks can compute at once, unless they share the sum of one.
  OptionalCount output_tiles;
  OptionalCount inner;  // of matrix products: elements summed for each one of the result
  // Of matrix products "nn", "nt", ..., as BLAS names what is transposed, "strided" where neither rows nor
  // columns of a matrix are contiguous, which BLAS takes only as a copy. Of convolutions and batch
  // normalisations "channels first" or "channels last". "" where strides are not recorded.
  Literal layout;
  std::optional<double> expert_rows;  // of mixtures of experts: rows that an expert gets on average
  Literal data_type;                  // ElementType::name of what is computed on, "" where it is not recorded
  Literal bytes_unknown;              // why they are not known
  Literal assumed;                    // what FLOPs take for granted that is not recorded, "" else
};

struct WorkResult {
  std::optional<Work> work;
  Literal unknown;  // why there is none

  static WorkResult Unknown(Literal why) { return {std::nullopt, why}; }
};

namespace why {
inline constexpr Literal kNoFormula = "no formula for this operator";
inline constexpr Literal kNoShapes = "shapes are not recorded";
inline constexpr Literal kNoTypes = "types are not recorded";
inline constexpr Literal kNoScalars = "values of scalars are not recorded";
inline constexpr Literal kOtherShapes = "shapes do not fit the operator";
inline constexpr Literal kNoLengths = "lengths of sequences are not recorded";
inline constexpr Literal kNoOutput = "the shape of the output does not follow from the inputs";
inline constexpr Literal kTooLarge = "sizes are below 0, or too large to count";
inline constexpr Literal kRouting = "bytes depend on which experts were chosen";
inline constexpr Literal kWindow = "attention within a window";
inline constexpr Literal kNotCausal =
    "whether the attention is causal is not recorded: all scores are counted, twice those of causal "
    "attention";
}  // namespace why

// How the lengths of sequences in a batch of an inference server sum up, as ranges around it say: query and
// key lengths, products of both, and squares of the query lengths.
struct BatchLengths {
  int64_t query = 0, key = 0, query_query = 0, query_key = 0;
};
struct BatchOfRange {
  BatchLengths context, generation;  // prompts, which are causal, and single tokens
};
// Of "execute_2_context_1(sq8sk8sqsq64sqsk64)_generation_1(sq1sk9sqsq1sqsk9)".
std::optional<BatchOfRange> ParseBatch(std::string_view range_name);

// Whether the work of an operator's calls depends on these lengths.
bool NeedsBatch(std::string_view operator_name);

struct CallOfOperator {
  const Arguments& arguments;
  const BatchOfRange* batch = nullptr;  // of the range around it, where one says so
  const Sizes* output = nullptr;        // of the result, where what takes it says so
};

// Computes the work of an operator's calls.
using Formula = std::function<WorkResult(const CallOfOperator& call)>;

// What a formula gives for arguments without types: FLOPs, and the number of elements that are moved where
// all tensors have one type. Leaves them with some type.
WorkResult WorkWithoutTypes(const Formula& formula, Arguments& arguments, const Sizes* output = nullptr);

// The formula of an operator, empty where its work is not known.
Formula FormulaOf(std::string_view operator_name);

// Whether the work of an operator's calls follows from the shape of the result where scalars are not
// recorded.
bool NeedsOutput(std::string_view operator_name);

// The formula of a backward operator that has no shapes of its own, from the arguments of its forward
// operator: "FlashAttnFunc", "ConvolutionBackward0".
Formula BackwardFormulaOf(std::string_view forward_operator_name);

}  // namespace dladvisor
