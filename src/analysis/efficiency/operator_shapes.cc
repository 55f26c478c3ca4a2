// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/operator_shapes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

namespace dladvisor {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

uint64_t HashOf(std::span<const uint32_t> words) {
  uint64_t hash = words.size();
  const auto add = [&](uint64_t bits) {
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  };
  size_t i = 0;
  for (; i + 1 < words.size(); i += 2) add(uint64_t{words[i]} << 32 | words[i + 1]);
  if (i < words.size()) add(words[i]);
  return hash;
}

}  // namespace

uint32_t OperatorShapes::Add(const Arguments& arguments, bool with_values) {
  const size_t start = words_.size();
  for (const Argument& argument : arguments.all()) {
    if (argument.is_list) {
      const size_t item = Begin();
      AddNumber(static_cast<int64_t>(argument.tensors.size()));
      End(item, kList);
      continue;
    }
    for (const Tensor& tensor : argument.tensors) AddTensor(tensor.shape);
    if (with_values && argument.tensors.empty() && !argument.value.empty()) AddValue(argument.value);
  }
  if (slots_.size() < 2 * starts_.size()) Grow();
  const std::span added = std::span(words_).subspan(start);
  const auto hash = static_cast<uint32_t>(HashOf(added) >> 32);
  const uint32_t mask = static_cast<uint32_t>(slots_.size() - 1);
  for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
    uint32_t& slot = slots_[at];
    if (slot == kNone) {
      slot = static_cast<uint32_t>(size());
      hashes_.push_back(hash);
      starts_.push_back(words_.size());
      return slot;
    }
    if (hashes_[slot] != hash || !std::ranges::equal(WordsOf(slot), added)) continue;
    words_.resize(start);
    return slot;
  }
}

void OperatorShapes::Reserve(size_t descriptions) {
  constexpr size_t kWords = 12;  // that one has as a rule
  words_.reserve(descriptions * kWords);
  starts_.reserve(descriptions + 1);
  hashes_.reserve(descriptions);
}

void OperatorShapes::AddTensor(const Sizes& shape) {
  constexpr size_t kFew = 8;
  std::array<uint32_t, kFew + 1> words;
  const size_t count = shape.size();
  words[0] = static_cast<uint32_t>(count) << kItemBits | kTensor;
  uint64_t all = 0;
  for (size_t i = 0; i < std::min(count, kFew); ++i) {
    words[i + 1] = static_cast<uint32_t>(shape[i]);
    all |= static_cast<uint64_t>(shape[i]);
  }
  if (all < kLong && count > 0 && count <= kFew) {
    words_.insert(words_.end(), words.data(), words.data() + count + 1);
    return;
  }
  const size_t item = Begin();
  // One without dimensions is as large as one of one element.
  if (shape.empty()) AddNumber(1);
  for (const int64_t size : shape) AddNumber(size);
  End(item, kTensor);
}

void OperatorShapes::AddNumber(int64_t number) {
  if (number >= 0 && number < int64_t{kLong}) {
    words_.push_back(static_cast<uint32_t>(number));
    return;
  }
  const auto bits = static_cast<uint64_t>(number);
  words_.insert(words_.end(), {kLong, static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits)});
}

void OperatorShapes::AddValue(std::string_view text) {
  const size_t item = Begin();
  words_.push_back(static_cast<uint32_t>(text.size()));
  const size_t packed = (text.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  words_.resize(words_.size() + packed, 0);
  if (packed > 0) std::memcpy(words_.data() + words_.size() - packed, text.data(), text.size());
  End(item, kValue);
}

void OperatorShapes::Grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNone);
  const uint32_t mask = static_cast<uint32_t>(slots_.size() - 1);
  for (uint32_t shapes = 0; shapes < size(); ++shapes) {
    uint32_t at = hashes_[shapes] & mask;
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = shapes;
  }
}

std::string OperatorShapes::Describe(uint32_t shapes) const {
  std::string text;
  constexpr size_t kUsual = 64;
  text.reserve(kUsual);
  const auto add_number = [&](int64_t number) {
    std::array<char, std::numeric_limits<int64_t>::digits10 + 2> digits;
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  };
  ForEachItem(shapes, [&](Item item, std::span<const uint32_t> words) {
    if (!text.empty()) text += "; ";
    switch (item) {
      case kTensor: {
        bool is_first = true;
        ForEachNumber(words, [&](int64_t number) {
          if (!std::exchange(is_first, false)) text += 'x';
          add_number(number);
        });
        break;
      }
      case kList:
        ForEachNumber(words, [&](int64_t number) {
          add_number(number);
          text += " tensors";
        });
        break;
      case kValue: {
        std::string value(words[0], '\0');
        std::memcpy(value.data(), words.data() + 1, value.size());
        text += value;
        break;
      }
    }
  });
  return text;
}

}  // namespace dladvisor
