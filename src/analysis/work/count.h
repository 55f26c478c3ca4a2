// SPDX-License-Identifier: Apache-2.0
// Numbers of operations and bytes: integers that are unknown where a factor is negative or the result does
// not fit, since sizes come from profiles, which may hold anything.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace dladvisor {

class Count {
 public:
  constexpr Count(int64_t value) : value_(value < 0 ? kUnknown : value) {}  // NOLINT: reads as a number
  static constexpr Count Unknown() { return {kUnknown}; }

  constexpr std::optional<int64_t> value() const { return value_ < 0 ? std::nullopt : std::optional(value_); }

  friend constexpr Count operator*(Count a, Count b) {
    int64_t product = 0;
    return IsUnknown(a, b) || __builtin_mul_overflow(a.value_, b.value_, &product) ? kUnknown : product;
  }
  friend constexpr Count operator+(Count a, Count b) {
    int64_t sum = 0;
    return IsUnknown(a, b) || __builtin_add_overflow(a.value_, b.value_, &sum) ? kUnknown : sum;
  }
  friend constexpr Count operator-(Count a, Count b) {
    return IsUnknown(a, b) ? kUnknown : a.value_ - b.value_;
  }
  friend constexpr Count operator/(Count a, int64_t divisor) {
    return a.value_ < 0 ? kUnknown : a.value_ / divisor;
  }

 private:
  static constexpr int64_t kUnknown = -1;
  static constexpr bool IsUnknown(Count a, Count b) { return (a.value_ | b.value_) < 0; }

  int64_t value_;
};

// A count in the memory of one number, for structures of which a trace of changing shapes has very many.
class OptionalCount {
 public:
  constexpr OptionalCount() = default;
  constexpr OptionalCount(std::nullopt_t) {}                                             // NOLINT
  constexpr OptionalCount(int64_t value) : value_(value) {}                              // NOLINT
  constexpr OptionalCount(std::optional<int64_t> value) : value_(value.value_or(-1)) {}  // NOLINT

  constexpr bool has_value() const { return value_ >= 0; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr int64_t operator*() const { return value_; }
  constexpr operator std::optional<int64_t>() const {  // NOLINT(google-explicit-constructor)
    return has_value() ? std::optional(value_) : std::nullopt;
  }
  friend constexpr bool operator==(OptionalCount, OptionalCount) = default;

 private:
  int64_t value_ = -1;
};

// Of the sizes from `first` on.
inline Count Product(std::span<const int64_t> sizes, size_t first = 0) {
  int64_t product = 1;
  for (size_t i = first; i < sizes.size(); ++i)
    if (sizes[i] < 0 || __builtin_mul_overflow(product, sizes[i], &product)) return Count::Unknown();
  return product;
}
inline Count Product(std::initializer_list<int64_t> sizes) {
  return Product(std::span<const int64_t>(sizes.begin(), sizes.size()));
}

// Pieces of `size` that cover it.
inline Count Pieces(Count whole, int64_t size) { return (whole + (size - 1)) / size; }

}  // namespace dladvisor
