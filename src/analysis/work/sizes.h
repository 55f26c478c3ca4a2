// SPDX-License-Identifier: Apache-2.0
// Sizes or strides of a tensor's dimensions. Few tensors have more than six: those take no memory elsewhere,
// as a trace of changing shapes has hundreds of thousands of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace dladvisor {

class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<int64_t> sizes) : Sizes(sizes.begin(), sizes.end()) {}
  Sizes(size_t count, int64_t size) {
    for (size_t i = 0; i < count; ++i) push_back(size);
  }
  template <std::input_iterator Iterator>
  Sizes(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return size_ > kFew ? many_.data() : few_.data(); }
  const int64_t* data() const { return size_ > kFew ? many_.data() : few_.data(); }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t index) { return data()[index]; }
  int64_t operator[](size_t index) const { return data()[index]; }
  int64_t& front() { return data()[0]; }
  int64_t front() const { return data()[0]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }

  void push_back(int64_t size) {
    if (size_ < kFew)
      few_[size_++] = size;
    else
      AddToMany(size);
  }
  void clear() { size_ = 0; }

  friend bool operator==(const Sizes& a, const Sizes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr size_t kFew = 6;

  // Apart, so that what most tensors need is inlined.
  [[gnu::noinline]] void AddToMany(int64_t size) {
    if (size_ == kFew) many_.assign(few_.begin(), few_.end());
    many_.push_back(size);
    ++size_;
  }

  size_t size_ = 0;
  std::array<int64_t, kFew> few_;  // in use where there are no more
  std::vector<int64_t> many_;      // all of them, where there are
};

}  // namespace dladvisor
