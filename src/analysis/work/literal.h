// SPDX-License-Identifier: Apache-2.0
// A text of the program's own, in the memory of one pointer: for structures of which a trace of changing
// shapes has very many.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace dladvisor {

class Literal {
 public:
  constexpr Literal() = default;
  template <size_t Size>
  constexpr Literal(const char (&text)[Size]) : text_(text) {}  // NOLINT(google-explicit-constructor)

  constexpr operator std::string_view() const { return text_; }  // NOLINT(google-explicit-constructor)
  constexpr const char* data() const { return text_; }
  constexpr bool empty() const { return *text_ == '\0'; }

  template <std::convertible_to<std::string_view> Text>
  friend constexpr bool operator==(Literal a, const Text& b) {
    return std::string_view(a) == std::string_view(b);
  }

 private:
  const char* text_ = "";
};

}  // namespace dladvisor
