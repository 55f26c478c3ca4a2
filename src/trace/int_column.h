// A column of integers in as few bytes each as its largest needs: none while all are 0, then 1, 2, 4 or 8.
// Most columns of a trace hold small numbers (streams, block sizes, status codes) that the format allows to
// be large; in 64 bits each they would take half of the memory that a profile needs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace dladvisor {

static_assert(std::endian::native == std::endian::little, "IntColumn keeps the low bytes of each value");

class IntColumn {
 public:
  size_t size() const { return size_; }
  void reserve(size_t n) {
    reserved_ = n;
    bytes_.reserve(n * width_);
  }

  void push_back(int64_t value) {
    if (!Fits(value, width_)) Widen(value);
    const size_t at = bytes_.size();
    bytes_.resize(at + width_);
    Store(at, value);
    ++size_;
  }

  int64_t operator[](size_t i) const {
    switch (width_) {
      case 0:
        return 0;
      case 1:
        return Load<int8_t>(i);
      case 2:
        return Load<int16_t>(i);
      case 4:
        return Load<int32_t>(i);
      default:
        return Load<int64_t>(i);
    }
  }

  void Set(size_t i, int64_t value) {
    if (!Fits(value, width_)) Widen(value);
    Store(i * width_, value);
  }

  void Append(const IntColumn& other) {
    if (other.width_ != width_) {
      for (size_t i = 0; i < other.size_; ++i) push_back(other[i]);
      return;
    }
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    size_ += other.size_;
  }

  // Puts value order[i] at i. `scratch` is memory to work in, made as large as need be.
  void Reorder(const std::vector<uint32_t>& order, std::vector<std::byte>& scratch) {
    scratch.resize(std::max(scratch.size(), bytes_.size()));
    switch (width_) {
      case 0:
        return;
      case 1:
        return Gather<int8_t>(order, scratch);
      case 2:
        return Gather<int16_t>(order, scratch);
      case 4:
        return Gather<int32_t>(order, scratch);
      default:
        return Gather<int64_t>(order, scratch);
    }
  }

 private:
  static bool Fits(int64_t value, size_t width) {
    if (width == 0) return value == 0;
    const auto unused = static_cast<int>(64 - 8 * width);
    return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused == value;
  }

  template <class T>
  T Load(size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }

  template <class T>
  void Gather(const std::vector<uint32_t>& order, std::vector<std::byte>& scratch) {
    for (size_t i = 0; i < order.size(); ++i)
      std::memcpy(scratch.data() + i * sizeof(T), bytes_.data() + order[i] * sizeof(T), sizeof(T));
    std::memcpy(bytes_.data(), scratch.data(), order.size() * sizeof(T));
  }

  void Store(size_t at, int64_t value) {
    if (width_ > 0) std::memcpy(bytes_.data() + at, &value, width_);
  }

  void Widen(int64_t value) {
    IntColumn wider;
    wider.width_ = std::max<size_t>(1, width_ * 2);
    while (!Fits(value, wider.width_)) wider.width_ *= 2;
    wider.reserve(std::max(reserved_, size_));
    for (size_t i = 0; i < size_; ++i) wider.push_back((*this)[i]);
    *this = std::move(wider);
  }

  std::vector<std::byte> bytes_;
  size_t width_ = 0, size_ = 0, reserved_ = 0;
};

}  // namespace dladvisor
