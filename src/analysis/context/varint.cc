// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/varint.h"

#include "engine/base/error.h"

namespace dladvisor {

void PutVarint(std::string& out, int64_t value) {
  uint64_t zigzag = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; zigzag >= 0x80; zigzag >>= 7) out += static_cast<char>(zigzag | 0x80);
  out += static_cast<char>(zigzag);
}

int64_t VarintReader::Next() {
  uint64_t zigzag = 0;
  for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    zigzag |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  }
  throw Error(what_, "is damaged", "Write the digest again from the profile.");
}

}  // namespace dladvisor
