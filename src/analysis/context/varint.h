// SPDX-License-Identifier: Apache-2.0
// Integers in as few bytes as they need, small ones of either sign in one: what ranks send each other and
// digests keep. Little-endian groups of seven bits of the zigzag code, as Protocol Buffers write sint64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dladvisor {

void PutVarint(std::string& out, int64_t value);

// Throws Error where bytes are missing. `what` is what errors call it.
class VarintReader {
 public:
  VarintReader(std::string_view bytes, const char* what) : bytes_(bytes), what_(what) {}
  int64_t Next();
  size_t position() const { return at_; }  // bytes read

 private:
  std::string_view bytes_;
  const char* what_;
  size_t at_ = 0;
};

}  // namespace dladvisor
