// SPDX-License-Identifier: Apache-2.0
// The fields of a message of Protocol Buffers, one after the other, as they are on the wire
// (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dladvisor::pftrace {

class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and where the rest is damaged.
  bool Next();
  uint64_t field() const { return field_; }
  // Of a field of the other kind 0 and "".
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::optional<uint64_t> Varint();
  bool Skip(size_t size, std::string_view* skipped);

  std::string_view rest_, bytes_;
  uint64_t field_ = 0, number_ = 0;
};

}  // namespace dladvisor::pftrace
