// SPDX-License-Identifier: Apache-2.0
// A column of integers in as few bytes each as its largest needs: none while all are 0, then 1, 2, 4 or 8.
// Most columns of a trace hold small numbers (streams, block sizes, status codes) that the format allows to
// be large; in 64 bits each they would take half of the memory that a profile needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace dladvisor {

class IntColumn {
 public:
  size_t size() const { return size_; }
  size_t width() const { return width_; }  // bytes of each value
  void reserve(size_t n) {
    reserved_ = n;
    Visit([&](auto& values) { values.reserve(n); });
  }

  void push_back(int64_t value) {
    if (!Fits(value, width_)) Widen(value);
    Visit([&]<class T>(std::vector<T>& values) { values.push_back(static_cast<T>(value)); });
    ++size_;
  }

  int64_t operator[](size_t i) const {
    switch (width_) {
      case 0:
        return 0;
      case 1:
        return one_[i];
      case 2:
        return two_[i];
      case 4:
        return four_[i];
      default:
        return eight_[i];
    }
  }

  void Set(size_t i, int64_t value) {
    if (!Fits(value, width_)) Widen(value);
    Visit([&]<class T>(std::vector<T>& values) { values[i] = static_cast<T>(value); });
  }

  void Append(const IntColumn& other) {
    if (other.width_ != width_) {
      for (size_t i = 0; i < other.size_; ++i) push_back(other[i]);
      return;
    }
    one_.insert(one_.end(), other.one_.begin(), other.one_.end());
    two_.insert(two_.end(), other.two_.begin(), other.two_.end());
    four_.insert(four_.end(), other.four_.begin(), other.four_.end());
    eight_.insert(eight_.end(), other.eight_.begin(), other.eight_.end());
    size_ += other.size_;
  }

  // Puts value order[i] at i. `scratch` is memory to work in, made as large as need be.
  void Reorder(const std::vector<uint32_t>& order, std::vector<std::byte>& scratch) {
    Visit([&]<class T>(std::vector<T>& values) {
      const size_t bytes = order.size() * sizeof(T);
      scratch.resize(std::max(scratch.size(), bytes));
      for (size_t i = 0; i < order.size(); ++i)
        std::memcpy(scratch.data() + i * sizeof(T), &values[order[i]], sizeof(T));
      std::memcpy(values.data(), scratch.data(), bytes);
    });
  }

 private:
  // Calls visit(values) with those of the width at hand; without one all are 0.
  template <class Visitor>
  void Visit(Visitor visit) {
    switch (width_) {
      case 0:
        return;
      case 1:
        return visit(one_);
      case 2:
        return visit(two_);
      case 4:
        return visit(four_);
      default:
        return visit(eight_);
    }
  }

  static bool Fits(int64_t value, size_t width) {
    if (width == 0) return value == 0;
    const auto unused = static_cast<int>(64 - 8 * width);
    return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused == value;
  }

  void Widen(int64_t value) {
    IntColumn wider;
    wider.width_ = std::max<size_t>(1, width_ * 2);
    while (!Fits(value, wider.width_)) wider.width_ *= 2;
    wider.reserve(std::max(reserved_, size_));
    for (size_t i = 0; i < size_; ++i) wider.push_back((*this)[i]);
    *this = std::move(wider);
  }

  size_t width_ = 0, size_ = 0, reserved_ = 0;  // width: bytes of each value
  // The values are in the one of the width at hand.
  std::vector<int8_t> one_;
  std::vector<int16_t> two_;
  std::vector<int32_t> four_;
  std::vector<int64_t> eight_;
};

// Of indices, all but the largest of uint32_t, which stands for none and takes no more than a small one.
class IndexColumn : public IntColumn {
 public:
  void push_back(uint32_t index) { IntColumn::push_back(static_cast<int32_t>(index)); }
  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(IntColumn::operator[](i)); }
  void Set(size_t i, uint32_t index) { IntColumn::Set(i, static_cast<int32_t>(index)); }
};

}  // namespace dladvisor
