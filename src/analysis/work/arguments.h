// SPDX-License-Identifier: Apache-2.0
// What an operator was called with, as PyTorch's profiler records it: shapes, types and strides of tensors,
// and the values of scalars.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/work/count.h"
#include "src/analysis/work/element_type.h"

namespace dladvisor {

using Sizes = std::vector<int64_t>;

// "[[4096], [16, 32], [[2, 3]], []]" as sizes, one for each argument; lists of tensors are empty.
std::vector<Sizes> ParseShapes(std::string_view json);

// The same with the sizes of each tensor of a list; of other arguments one.
struct ShapesOfArgument {
  bool is_list = false;
  std::vector<Sizes> shapes;
};
std::vector<ShapesOfArgument> ParseShapesOfArguments(std::string_view json);

// The i-th string of `["float", "", "Scalar"]`; "" where there is none.
std::string_view ListItem(std::string_view json, size_t index);

struct Tensor {
  Sizes shape, strides;  // strides empty where they are not recorded
  std::optional<ElementType> type;

  size_t rank() const { return shape.size(); }
  int64_t back(size_t from_end = 0) const { return shape[shape.size() - 1 - from_end]; }
  Count elements() const { return Product(shape); }
  // That memory holds: a dimension of stride 0 repeats the same elements.
  Count stored_elements() const;
  Count bytes() const;  // of these; unknown where the type is
};

// One argument: a tensor, a list of tensors, a scalar or a list of scalars, or none.
struct Argument {
  std::vector<Tensor> tensors;
  bool is_list = false;
  std::string_view value;  // of a scalar or a list of them; "" where it is not recorded
};

// The position of what an operator does not take; no argument stands there.
inline constexpr size_t kNoPosition = std::numeric_limits<size_t>::max();

class Arguments {
 public:
  // The texts must outlive this. Without types every argument with sizes counts as a tensor, of the type
  // `untyped`.
  Arguments(std::string_view shapes, std::string_view types, std::string_view strides,
            std::string_view values, const std::optional<ElementType>& untyped = std::nullopt);

  size_t size() const { return arguments_.size(); }
  const std::vector<Argument>& all() const { return arguments_; }

  // Null where the argument is not one tensor.
  const Tensor* TensorAt(size_t index) const;
  // "" where there is none.
  std::string_view ValueAt(size_t index) const;
  std::optional<int64_t> IntegerAt(size_t index) const;
  std::optional<bool> FlagAt(size_t index) const;
  // "[1, 2]", "[True, False]"; nothing where it is not recorded.
  std::optional<Sizes> IntegersAt(size_t index) const;
  std::optional<std::vector<bool>> FlagsAt(size_t index) const;

  bool HasTensor() const;

 private:
  std::vector<Argument> arguments_;
};

}  // namespace dladvisor
