// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/arguments.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dladvisor {
namespace {

// The strings of a list, each once: `["float", "", "Scalar"]`.
void ReadListItems(std::string_view json, std::vector<std::string_view>& items) {
  items.clear();
  for (size_t i = json.find('"'); i != std::string_view::npos; i = json.find('"', i)) {
    const size_t end = json.find('"', i + 1);
    if (end == std::string_view::npos) break;
    items.push_back(json.substr(i + 1, end - i - 1));
    i = end + 1;
  }
}

std::vector<std::string_view> ListItems(std::string_view json) {
  std::vector<std::string_view> items;
  ReadListItems(json, items);
  return items;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits from `at` on, which it is moved behind: 0 and more, or -1 where they do not fit.
int64_t ReadDigits(const char*& at, const char* end) {
  constexpr int kDigits = 18;  // any such number fits
  const char* const first = at;
  uint64_t number = 0;  // of too many digits it does not count
  for (; at != end && IsDigit(*at); ++at) number = number * 10 + static_cast<uint64_t>(*at - '0');
  return at - first <= kDigits ? static_cast<int64_t>(number) : -1;
}

// As most items of a list are followed.
void SkipComma(const char*& at, const char* end) {
  if (end - at > 1 && at[0] == ',' && at[1] == ' ') at += 2;
}

// Visits what "[[4096], [[2, 3], [7]]]" has: arguments, the tensors of those that are lists, and sizes. A
// size below 0 is -1.
template <class Reader>
void ReadShapes(std::string_view json, Reader& reader) {
  int depth = 0;
  for (const char *at = json.data(), *end = at + json.size(); at != end;) {
    const char c = *at;
    if (IsDigit(c)) {
      const int64_t number = ReadDigits(at, end);
      if (depth == 2 || depth == 3) reader.Size(number);
      SkipComma(at, end);
      continue;
    }
    ++at;
    if (c == ']' || c == ')') {
      --depth;
      SkipComma(at, end);
    } else if (c == '[' || c == '(') {
      ++depth;
      if (depth == 2) reader.BeginArgument();
      if (depth == 3) reader.BeginItem();
    } else if (c == '-' && at != end && IsDigit(*at)) {
      ReadDigits(at, end);
      if (depth == 2 || depth == 3) reader.Size(-1);
    }
  }
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
  struct Reader {
    std::vector<ShapesOfArgument> arguments;
    void BeginArgument() { arguments.push_back({false, {Sizes()}}); }
    void BeginItem() {
      ShapesOfArgument& list = arguments.back();
      if (!list.is_list) list = {true, {}};
      list.shapes.emplace_back();
    }
    void Size(int64_t size) { arguments.back().shapes.back().push_back(size); }
  } reader;
  ReadShapes(json, reader);
  return std::move(reader.arguments);
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
  const int64_t *sizes = shape.data(), *steps = strides.data();
  int64_t stored = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (steps[i] == 0 && sizes[i] != 0) continue;
    if (sizes[i] < 0 || __builtin_mul_overflow(stored, sizes[i], &stored)) return Count::Unknown();
  }
  return stored;
}

Count Tensor::bytes() const { return type ? stored_elements() * type->bytes : Count::Unknown(); }

ArgumentTypes::ArgumentTypes(std::string_view json) {
  for (const std::string_view name : ListItems(json))
    items.push_back({ParseElementType(name), name == "TensorList"});
}

// Without a type yet.
inline Tensor& Arguments::AddTensor() {
  if (used_ == tensors_.size()) tensors_.emplace_back();
  Tensor& tensor = tensors_[used_++];
  tensor.shape.clear();
  tensor.strides.clear();
  return tensor;
}

// Each argument that is no list is one tensor at first, whatever it is.
class Arguments::ShapeReader {
 public:
  explicit ShapeReader(Arguments& to) : to_(to) {}
  void BeginArgument() {
    to_.places_.push_back({to_.used_, 1, false});
    sizes_ = &to_.AddTensor().shape;
  }
  void BeginItem() {
    Place& list = to_.places_.back();
    if (!list.is_list) {
      list.is_list = true;
      list.count = 0;
      to_.used_ = list.first;
    }
    sizes_ = &to_.AddTensor().shape;
    ++list.count;
  }
  void Size(int64_t size) { sizes_->push_back(size); }

 private:
  Arguments& to_;
  Sizes* sizes_ = nullptr;  // of the tensor at hand
};

class Arguments::StrideReader {
 public:
  explicit StrideReader(Arguments& to) : to_(to) {}
  void BeginArgument() {
    ++argument_;
    item_ = 0;
    is_list_ = false;
  }
  void BeginItem() {
    if (is_list_) ++item_;
    is_list_ = true;
  }
  void Size(int64_t size) {
    if (argument_ > to_.places_.size()) return;
    const Place& place = to_.places_[argument_ - 1];
    if (item_ < place.count) to_.tensors_[place.first + item_].strides.push_back(size);
  }

 private:
  Arguments& to_;
  size_t argument_ = 0, item_ = 0;  // the first from 1 on
  bool is_list_ = false;
};

Arguments::Arguments(std::string_view shapes, std::string_view types, std::string_view strides,
                     std::string_view values) {
  Read(shapes, ArgumentTypes(types), strides, values);
}

void Arguments::Read(std::string_view shapes, const ArgumentTypes& types, std::string_view strides,
                     std::string_view values) {
  arguments_.clear();
  places_.clear();
  used_ = 0;
  ShapeReader shape_reader(*this);
  ReadShapes(shapes, shape_reader);
  ReadListItems(values, values_);
  // Scalars after the last tensor may have no sizes.
  while (places_.size() < values_.size()) shape_reader.BeginArgument();
  if (!strides.empty()) {
    StrideReader stride_reader(*this);
    ReadShapes(strides, stride_reader);
  }
  static const ArgumentTypes::Item kNoType;
  const bool has_types = !types.items.empty();
  for (size_t index = 0; index < places_.size(); ++index) {
    const Place& place = places_[index];
    Argument& argument = arguments_.emplace_back();
    argument.is_list = place.is_list;
    if (index < values_.size()) argument.value = values_[index];
    const ArgumentTypes::Item& item = index < types.items.size() ? types.items[index] : kNoType;
    const std::span tensors(tensors_.data() + place.first, place.count);
    const bool has_sizes = !place.is_list && !tensors.front().shape.empty();
    // A tensor of no dimensions has no sizes; scalars may be written as a type without any, too. What has
    // sizes may be of a type that is not known.
    const bool is_tensor = !has_types || item.is_list ? has_sizes && !item.is_list
                           : item.type                ? argument.value.empty()
                                                      : has_sizes;
    if (place.is_list || is_tensor) {
      argument.tensors = tensors;
      for (Tensor& tensor : tensors) tensor.type = item.type;
    } else if (item.is_list) {
      argument.is_list = true;  // whose sizes are not recorded
    }
  }
}

void Arguments::SetType(const ElementType& type) {
  for (size_t i = 0; i < used_; ++i) tensors_[i].type = type;
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
