// SPDX-License-Identifier: Apache-2.0
#include "engine/base/int_column.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace dladvisor {

IntColumn::~IntColumn() {
  if (width_ > 0) std::free(bytes_);
}

void IntColumn::reserve(size_t n) {
  reserved_ = n;
  if (width_ > 0 && n > room_) Resize(n);
}

void IntColumn::Set(size_t i, int64_t value) {
  if (!Fits(value)) MakeRoomFor(value);
  const auto put = [&]<class T>(T narrow) {
    std::memcpy(bytes_ + i * sizeof narrow, &narrow, sizeof narrow);
  };
  switch (width_) {
    case 0:
      return;
    case 1:
      return put(static_cast<int8_t>(value));
    case 2:
      return put(static_cast<int16_t>(value));
    case 4:
      return put(static_cast<int32_t>(value));
    default:
      return put(value);
  }
}

void IntColumn::Append(const IntColumn& other) {
  if (other.width_ != width_) {
    for (size_t i = 0; i < other.size_; ++i) push_back(other[i]);
    return;
  }
  if (width_ > 0) {
    if (other.size_ > room_ - size_) Resize(std::max(size_ + other.size_, 2 * size_));
    std::memcpy(bytes_ + size_ * width_, other.bytes_, other.size_ * width_);
  }
  size_ += other.size_;
}

void IntColumn::Reorder(const std::vector<uint32_t>& order, std::vector<std::byte>& scratch) {
  const auto reorder = [&]<class T>(T) {
    scratch.resize(std::max(scratch.size(), order.size() * sizeof(T)));
    for (size_t i = 0; i < order.size(); ++i)
      std::memcpy(scratch.data() + i * sizeof(T), bytes_ + order[i] * sizeof(T), sizeof(T));
    std::memcpy(bytes_, scratch.data(), order.size() * sizeof(T));
  };
  switch (width_) {
    case 0:
      return;
    case 1:
      return reorder(int8_t{});
    case 2:
      return reorder(int16_t{});
    case 4:
      return reorder(int32_t{});
    default:
      return reorder(int64_t{});
  }
}

void IntColumn::MakeRoomFor(int64_t value) {
  if (!Fits(value)) {
    size_t width = std::max<size_t>(1, width_ * 2);
    while (width < sizeof value && (value >> (8 * width - 1)) != (value >> 63)) width *= 2;
    Widen(width);
  }
  if (size_ == room_) Resize(std::max<size_t>(16, 2 * size_));
}

void IntColumn::Widen(size_t width) {
  IntColumn wider;
  wider.width_ = width;
  wider.unused_bits_ = static_cast<int>(8 * (sizeof(uint64_t) - width));
  wider.bytes_ = nullptr;
  wider.reserved_ = reserved_;
  wider.Resize(std::max(reserved_, size_));
  for (; wider.size_ < size_; ++wider.size_) wider.Write(wider.size_, (*this)[wider.size_]);
  Swap(wider);
}

// Through the system's resizing, which moves large memory without a copy.
void IntColumn::Resize(size_t room) {
  void* bytes = std::realloc(bytes_, room * width_ + sizeof(uint64_t));
  if (!bytes) throw std::bad_alloc();
  bytes_ = static_cast<std::byte*>(bytes);
  room_ = room;
}

}  // namespace dladvisor
