// SPDX-License-Identifier: Apache-2.0
// What operators were called on, each description once, under a number: shapes of tensors, and of some the
// scalars. A trace of changing shapes has hundreds of thousands, of which few are ever printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/work/arguments.h"

namespace dladvisor {

class OperatorShapes {
 public:
  // The number of what `arguments` describe, with the values of scalars or without.
  uint32_t Add(const Arguments& arguments, bool with_values);

  // "512; 141x512; 3 tensors".
  std::string Describe(uint32_t shapes) const;

  // Shapes of the tensors that are in no list.
  template <class Visit>
  void ForEachTensor(uint32_t shapes, Visit visit) const {
    ForEachItem(shapes, [&](Item item, std::span<const int64_t> numbers) {
      if (item == kTensor) visit(numbers);
    });
  }

  // Whether one of those has so many elements.
  bool HasTensorOf(uint32_t shapes, int64_t elements) const {
    bool found = false;
    ForEachTensor(shapes,
                  [&](std::span<const int64_t> shape) { found |= Product(shape).value() == elements; });
    return found;
  }

  size_t size() const { return starts_.size() - 1; }

 private:
  // Of each: what it is, how many numbers follow, and those. Text is packed eight characters to a number,
  // behind its length.
  enum Item : int64_t { kTensor, kList, kValue };

  template <class Visit>
  void ForEachItem(uint32_t shapes, Visit visit) const {
    for (size_t i = starts_[shapes]; i < starts_[shapes + 1];) {
      const auto count = static_cast<size_t>(numbers_[i + 1]);
      visit(static_cast<Item>(numbers_[i]), std::span(numbers_).subspan(i + 2, count));
      i += 2 + count;
    }
  }

  std::span<const int64_t> NumbersOf(uint32_t shapes) const {
    return std::span(numbers_).subspan(starts_[shapes], starts_[shapes + 1] - starts_[shapes]);
  }
  void AddValue(std::string_view text);
  void Grow();

  std::vector<int64_t> numbers_;
  std::vector<size_t> starts_ = {0};  // in numbers_, and the end
  std::vector<uint32_t> slots_;       // a hash table of numbers of descriptions, kNone where there is none
};

}  // namespace dladvisor
