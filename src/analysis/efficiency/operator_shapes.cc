// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_shapes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dladvisor {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr std::array<int64_t, 1> kOne = {1};

uint64_t HashOf(std::span<const int64_t> numbers) {
  uint64_t hash = numbers.size();
  for (const int64_t number : numbers) {
    hash = (hash ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

uint32_t OperatorShapes::Add(const Arguments& arguments, bool with_values) {
  const size_t start = numbers_.size();
  for (const Argument& argument : arguments.all()) {
    if (argument.is_list) {
      numbers_.insert(numbers_.end(), {kList, 1, static_cast<int64_t>(argument.tensors.size())});
      continue;
    }
    for (const Tensor& tensor : argument.tensors) {
      // One without dimensions is as large as one of one element.
      const std::span<const int64_t> shape = tensor.rank() > 0 ? std::span(tensor.shape) : kOne;
      numbers_.insert(numbers_.end(), {kTensor, static_cast<int64_t>(shape.size())});
      numbers_.insert(numbers_.end(), shape.begin(), shape.end());
    }
    if (with_values && argument.tensors.empty() && !argument.value.empty()) AddValue(argument.value);
  }
  if (slots_.size() < 2 * starts_.size()) Grow();
  const std::span added = std::span(numbers_).subspan(start);
  const uint64_t mask = slots_.size() - 1;
  for (uint64_t at = HashOf(added) & mask;; at = (at + 1) & mask) {
    uint32_t& slot = slots_[at];
    if (slot == kNone) {
      slot = static_cast<uint32_t>(size());
      starts_.push_back(numbers_.size());
      return slot;
    }
    if (!std::ranges::equal(NumbersOf(slot), added)) continue;
    numbers_.resize(start);
    return slot;
  }
}

void OperatorShapes::AddValue(std::string_view text) {
  const size_t packed = (text.size() + sizeof(int64_t) - 1) / sizeof(int64_t);
  numbers_.insert(numbers_.end(),
                  {kValue, static_cast<int64_t>(packed + 1), static_cast<int64_t>(text.size())});
  numbers_.resize(numbers_.size() + packed, 0);
  std::memcpy(numbers_.data() + numbers_.size() - packed, text.data(), text.size());
}

void OperatorShapes::Grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNone);
  const uint64_t mask = slots_.size() - 1;
  for (uint32_t shapes = 0; shapes < size(); ++shapes) {
    uint64_t at = HashOf(NumbersOf(shapes)) & mask;
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = shapes;
  }
}

std::string OperatorShapes::Describe(uint32_t shapes) const {
  std::string text;
  ForEachItem(shapes, [&](Item item, std::span<const int64_t> numbers) {
    if (!text.empty()) text += "; ";
    switch (item) {
      case kTensor:
        for (size_t i = 0; i < numbers.size(); ++i) text += (i > 0 ? "x" : "") + std::to_string(numbers[i]);
        break;
      case kList:
        text += std::to_string(numbers[0]) + " tensors";
        break;
      case kValue: {
        std::string value(static_cast<size_t>(numbers[0]), '\0');
        std::memcpy(value.data(), numbers.data() + 1, value.size());
        text += value;
        break;
      }
    }
  });
  return text;
}

}  // namespace dladvisor
