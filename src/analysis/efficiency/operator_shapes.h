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

  // Memory for about so many descriptions.
  void Reserve(size_t descriptions);

  // "512; 141x512; 3 tensors".
  std::string Describe(uint32_t shapes) const;

  // Shapes of the tensors that are in no list.
  template <class Visit>
  void ForEachTensor(uint32_t shapes, Visit visit) const {
    Sizes sizes;
    ForEachItem(shapes, [&](Item item, std::span<const uint32_t> words) {
      if (item != kTensor) return;
      sizes.clear();
      ForEachNumber(words, [&](int64_t number) { sizes.push_back(number); });
      visit(sizes);
    });
  }

  // Whether one of those has so many elements.
  bool HasTensorOf(uint32_t shapes, int64_t elements) const {
    bool found = false;
    ForEachItem(shapes, [&](Item item, std::span<const uint32_t> words) {
      if (item != kTensor || found) return;
      Count product = 1;
      ForEachNumber(words, [&](int64_t number) { product = product * number; });
      found = product.value() == elements;
    });
    return found;
  }

  size_t size() const { return starts_.size() - 1; }

 private:
  // Of each: what it is with the number of words that follow, and those. Nearly every size fits into one
  // word. Text is packed four characters to a word, behind its length.
  enum Item : uint32_t { kTensor, kList, kValue };
  static constexpr uint32_t kItemBits = 2;
  static constexpr uint32_t kLong = UINT32_MAX;  // before a number of two words

  template <class Visit>
  void ForEachItem(uint32_t shapes, Visit visit) const {
    for (size_t i = starts_[shapes]; i < starts_[shapes + 1];) {
      const size_t count = words_[i] >> kItemBits;
      visit(static_cast<Item>(words_[i] & ((1U << kItemBits) - 1)), std::span(words_).subspan(i + 1, count));
      i += 1 + count;
    }
  }

  template <class Visit>
  static void ForEachNumber(std::span<const uint32_t> words, Visit visit) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] != kLong) {
        visit(int64_t{words[i]});
        continue;
      }
      visit(static_cast<int64_t>(uint64_t{words[i + 1]} << 32 | words[i + 2]));
      i += 2;
    }
  }

  std::span<const uint32_t> WordsOf(uint32_t shapes) const {
    return std::span(words_).subspan(starts_[shapes], starts_[shapes + 1] - starts_[shapes]);
  }
  size_t Begin() {
    words_.push_back(0);
    return words_.size() - 1;
  }
  void End(size_t begin, Item item) {
    words_[begin] = static_cast<uint32_t>(words_.size() - begin - 1) << kItemBits | item;
  }
  void AddTensor(const Sizes& shape);
  void AddNumber(int64_t number);
  void AddValue(std::string_view text);
  void Grow();

  std::vector<uint32_t> words_;
  std::vector<size_t> starts_ = {0};  // in words_, and the end
  std::vector<uint32_t> hashes_;      // of each
  std::vector<uint32_t> slots_;       // a hash table of numbers of descriptions, kNone where there is none
};

}  // namespace dladvisor
