// SPDX-License-Identifier: Apache-2.0
// What an operator was called with, as PyTorch's profiler records it: shapes, types and strides of tensors,
// and the values of scalars.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/analysis/work/count.h"
#include "src/analysis/work/element_type.h"
#include "src/analysis/work/sizes.h"

namespace dladvisor {

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
  std::span<const Tensor> tensors;
  bool is_list = false;
  std::string_view value;  // of a scalar or a list of them; "" where it is not recorded
};

// The types of all arguments: `["float", "", "Scalar"]`. Most calls share them with others.
struct ArgumentTypes {
  struct Item {
    std::optional<ElementType> type;  // of a tensor, or of the tensors of a list
    bool is_list = false;             // whose sizes are not recorded
  };
  std::vector<Item> items;

  explicit ArgumentTypes(std::string_view json);
};

inline constexpr size_t kNoPosition = std::numeric_limits<size_t>::max();

// The texts must outlive it. Without types every argument with sizes counts as a tensor.
class Arguments {
 public:
  Arguments() = default;
  Arguments(std::string_view shapes, std::string_view types, std::string_view strides,
            std::string_view values);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Those of another call, in the memory of the last one's.
  void Read(std::string_view shapes, const ArgumentTypes& types, std::string_view strides,
            std::string_view values);
  // Gives all tensors this type.
  void SetType(const ElementType& type);

  size_t size() const { return arguments_.size(); }
  std::span<const Argument> all() const { return arguments_; }

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
  class ShapeReader;
  class StrideReader;
  struct Place {
    size_t first = 0, count = 0;  // in tensors_
    bool is_list = false;
  };
  Tensor& AddTensor();

  std::vector<Argument> arguments_;
  std::vector<Place> places_;  // by argument
  std::vector<Tensor> tensors_;
  size_t used_ = 0;  // of those
  std::vector<std::string_view> values_;
};

}  // namespace dladvisor
