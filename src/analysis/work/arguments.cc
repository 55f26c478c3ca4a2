// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dladvisor {
namespace {

// The strings of a list, each once: `["float", "", "Scalar"]`.
std::vector<std::string_view> ListItems(std::string_view json) {
  std::vector<std::string_view> items;
  for (size_t i = json.find('"'); i != std::string_view::npos; i = json.find('"', i)) {
    const size_t end = json.find('"', i + 1);
    if (end == std::string_view::npos) break;
    items.push_back(json.substr(i + 1, end - i - 1));
    i = end + 1;
  }
  return items;
}

std::optional<int64_t> Integer(std::string_view text) {
  int64_t number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<bool> Flag(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

// The items of "[1, 2]", and "1" as one item.
std::vector<std::string_view> ValueItems(std::string_view text) {
  if (text.starts_with('[') || text.starts_with('(')) text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.push_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

}  // namespace

std::vector<ShapesOfArgument> ParseShapesOfArguments(std::string_view json) {
  std::vector<ShapesOfArgument> arguments;
  int depth = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '[' || c == '(') {
      ++depth;
      if (depth == 2) arguments.push_back({false, {Sizes()}});
      if (depth == 3) {
        ShapesOfArgument& list = arguments.back();
        if (!list.is_list) list = {true, {}};
        list.shapes.emplace_back();
      }
    } else if (c == ']' || c == ')') {
      --depth;
    } else if ((depth == 2 || depth == 3) && (c == '-' || (c >= '0' && c <= '9'))) {
      int64_t number = 0;
      const char* end = json.data() + json.size();
      const auto [stop, failed] = std::from_chars(&json[i], end, number);
      ShapesOfArgument& argument = arguments.back();
      if (failed == std::errc() && !argument.shapes.empty()) argument.shapes.back().push_back(number);
      i = static_cast<size_t>(std::max(stop, &json[i] + 1) - json.data()) - 1;
    }
  }
  return arguments;
}

std::vector<Sizes> ParseShapes(std::string_view json) {
  std::vector<Sizes> shapes;
  for (ShapesOfArgument& argument : ParseShapesOfArguments(json))
    shapes.push_back(argument.is_list ? Sizes() : std::move(argument.shapes.front()));
  return shapes;
}

std::string_view ListItem(std::string_view json, size_t index) {
  const std::vector<std::string_view> items = ListItems(json);
  return index < items.size() ? items[index] : std::string_view();
}

Count Tensor::stored_elements() const {
  if (strides.size() != shape.size()) return elements();
  Count stored = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (strides[i] != 0 || shape[i] == 0) stored = stored * shape[i];
  return stored;
}

Count Tensor::bytes() const { return type ? stored_elements() * type->bytes : Count::Unknown(); }

Arguments::Arguments(std::string_view shapes, std::string_view types, std::string_view strides,
                     std::string_view values, const std::optional<ElementType>& untyped) {
  const std::vector<std::string_view> type_items = ListItems(types), value_items = ListItems(values);
  std::vector<ShapesOfArgument> stride_items = ParseShapesOfArguments(strides);
  std::vector<ShapesOfArgument> shape_items = ParseShapesOfArguments(shapes);
  // Scalars after the last tensor may have no sizes.
  shape_items.resize(std::max(shape_items.size(), value_items.size()), {false, {Sizes()}});
  size_t index = 0;
  for (ShapesOfArgument& of : shape_items) {
    Argument argument;
    argument.is_list = of.is_list;
    if (index < value_items.size()) argument.value = value_items[index];
    const std::string_view type_name = index < type_items.size() ? type_items[index] : std::string_view();
    const std::optional<ElementType> type = type_items.empty() ? untyped : ParseElementType(type_name);
    // A tensor of no dimensions has no sizes; scalars may be written as a type without any, too.
    const bool is_tensor = type_items.empty() ? !of.shapes.empty() && !of.shapes.front().empty()
                                              : type && argument.value.empty();
    if (of.is_list || is_tensor) {
      for (size_t i = 0; i < of.shapes.size(); ++i) {
        Tensor tensor;
        tensor.shape = std::move(of.shapes[i]);
        tensor.type = type;
        if (index < stride_items.size() && i < stride_items[index].shapes.size())
          tensor.strides = std::move(stride_items[index].shapes[i]);
        argument.tensors.push_back(std::move(tensor));
      }
    } else if (type_name == "TensorList") {
      argument.is_list = true;  // whose sizes are not recorded
    } else if (!type_items.empty() && !type && !of.shapes.front().empty()) {
      // Of a type that is not known.
      argument.tensors.push_back({std::move(of.shapes.front()), {}, std::nullopt});
    }
    arguments_.push_back(std::move(argument));
    ++index;
  }
}

const Tensor* Arguments::TensorAt(size_t index) const {
  if (index >= arguments_.size()) return nullptr;
  const Argument& argument = arguments_[index];
  return argument.is_list || argument.tensors.size() != 1 ? nullptr : &argument.tensors.front();
}

std::string_view Arguments::ValueAt(size_t index) const {
  return index < arguments_.size() ? arguments_[index].value : std::string_view();
}

std::optional<int64_t> Arguments::IntegerAt(size_t index) const { return Integer(ValueAt(index)); }

std::optional<bool> Arguments::FlagAt(size_t index) const { return Flag(ValueAt(index)); }

std::optional<Sizes> Arguments::IntegersAt(size_t index) const {
  const std::string_view text = ValueAt(index);
  if (text.empty()) return std::nullopt;
  Sizes numbers;
  for (const std::string_view item : ValueItems(text)) {
    const std::optional<int64_t> number = Integer(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<bool>> Arguments::FlagsAt(size_t index) const {
  const std::string_view text = ValueAt(index);
  if (text.empty()) return std::nullopt;
  std::vector<bool> flags;
  for (const std::string_view item : ValueItems(text)) {
    const std::optional<bool> flag = Flag(item);
    if (!flag) return std::nullopt;
    flags.push_back(*flag);
  }
  return flags;
}

bool Arguments::HasTensor() const {
  return std::any_of(arguments_.begin(), arguments_.end(),
                     [](const Argument& argument) { return !argument.tensors.empty(); });
}

}  // namespace dladvisor
