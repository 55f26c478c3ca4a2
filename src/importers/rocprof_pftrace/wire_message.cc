// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_pftrace/wire_message.h"

namespace dladvisor::pftrace {

std::optional<uint64_t> WireMessage::Varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool WireMessage::Skip(size_t size, std::string_view* skipped) {
  if (rest_.size() < size) return false;
  *skipped = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireMessage::Next() {
  enum WireType : uint8_t { kVarint, k64Bit, kLengthDelimited, k32Bit = 5 };
  number_ = 0;
  bytes_ = {};
  if (rest_.empty()) return false;
  const std::optional<uint64_t> tag = Varint();
  if (!tag) return false;
  field_ = *tag >> 3;
  std::string_view fixed;
  switch (*tag & 7) {
    case kVarint: {
      const std::optional<uint64_t> value = Varint();
      number_ = value.value_or(0);
      return value.has_value();
    }
    case kLengthDelimited: {
      const std::optional<uint64_t> size = Varint();
      return size && *size <= rest_.size() && Skip(*size, &bytes_);
    }
    case k64Bit:
      return Skip(8, &fixed);
    case k32Bit:
      return Skip(4, &fixed);
    default:
      return false;
  }
}

}  // namespace dladvisor::pftrace
