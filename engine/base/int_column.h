// SPDX-License-Identifier: Apache-2.0
// A column of integers in as few bytes each as its largest needs: none while all are 0, then 1, 2, 4 or 8.
// Most columns of a trace hold small numbers (streams, block sizes, status codes) that the format allows to
// be large; in 64 bits each they would take half of the memory that a profile needs.
//
// Values lie one after the other. One is read and appended as eight bytes, of which those that are the next
// ones' are shifted out: no branch on the width where each event is visited.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace dladvisor {

class IntColumn {
 public:
  IntColumn() = default;
  IntColumn(const IntColumn& other) { Append(other); }
  IntColumn(IntColumn&& other) noexcept { Swap(other); }
  IntColumn& operator=(IntColumn other) noexcept {
    Swap(other);
    return *this;
  }
  ~IntColumn();

  size_t size() const { return size_; }
  size_t width() const { return width_; }  // bytes of each value
  void reserve(size_t n);

  void push_back(int64_t value) {
    if (size_ == room_ || !Fits(value)) MakeRoomFor(value);
    if (width_ > 0) Write(size_, value);
    ++size_;
  }

  int64_t operator[](size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_ + i * width_, sizeof bits);
    if constexpr (std::endian::native == std::endian::little) bits <<= unused_bits_;
    return static_cast<int64_t>(bits) >> unused_bits_;
  }

  void Set(size_t i, int64_t value);

  void Append(const IntColumn& other);

  // Puts value order[i] at i. `scratch` is memory to work in, made as large as need be.
  void Reorder(const std::vector<uint32_t>& order, std::vector<std::byte>& scratch);

 private:
  // Also over what follows: of the values behind i none is known yet.
  void Write(size_t i, int64_t value) {
    auto bits = static_cast<uint64_t>(value);
    if constexpr (std::endian::native != std::endian::little) bits <<= unused_bits_;
    std::memcpy(bytes_ + i * width_, &bits, sizeof bits);
  }

  bool Fits(int64_t value) const {
    if (width_ == 0) return value == 0;
    return static_cast<int64_t>(static_cast<uint64_t>(value) << unused_bits_) >> unused_bits_ == value;
  }

  void Swap(IntColumn& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(width_, other.width_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    std::swap(reserved_, other.reserved_);
    std::swap(unused_bits_, other.unused_bits_);
  }

  void MakeRoomFor(int64_t value);
  void Widen(size_t width);
  void Resize(size_t room);

  inline static std::byte zeros_[sizeof(uint64_t)] = {};  // what a column of width 0 reads

  std::byte* bytes_ = zeros_;  // of room_ values and what is read behind the last; its own where width_ > 0
  size_t width_ = 0, size_ = 0, reserved_ = 0;
  size_t room_ = std::numeric_limits<size_t>::max();
  int unused_bits_ = 0;  // of the eight bytes that are read
};

// Of indices, all but the largest of uint32_t, which stands for none and takes no more than a small one.
class IndexColumn : public IntColumn {
 public:
  void push_back(uint32_t index) { IntColumn::push_back(static_cast<int32_t>(index)); }
  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(IntColumn::operator[](i)); }
  void Set(size_t i, uint32_t index) { IntColumn::Set(i, static_cast<int32_t>(index)); }
};

}  // namespace dladvisor
