// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/details.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "src/importers/kineto/memcpy_kind.h"

namespace dladvisor::xla {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50;  // of one copy; what is more is damage
constexpr int64_t kMostPerBlock = std::numeric_limits<int32_t>::max();

// Calls visit(key, value) for each of "key:value key:value".
template <class Visit>
void ForEachPair(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (const size_t colon = word.find(':'); colon != std::string_view::npos)
      visit(word.substr(0, colon), word.substr(colon + 1));
  }
}

int64_t NumberOf(std::string_view text, int64_t most) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::clamp<int64_t>(number, 0, most);
}

// "64,2,1"
std::array<int64_t, 3> TripleOf(std::string_view text) {
  std::array<int64_t, 3> triple{1, 1, 1};
  for (int64_t& of : triple) {
    if (text.empty()) break;
    const std::string_view number = text.substr(0, text.find(','));
    of = NumberOf(number, kMostPerBlock);
    text.remove_prefix(std::min(text.size(), number.size() + 1));
  }
  return triple;
}

}  // namespace

KernelDetails KernelDetailsOf(std::string_view text) {
  KernelDetails details;
  ForEachPair(text, [&](std::string_view key, std::string_view value) {
    if (key == "regs") details.registers = NumberOf(value, kMostPerBlock);
    if (key == "shared" || key == "static_shared" || key == "dynamic_shared")
      details.shared_bytes = std::min(details.shared_bytes + NumberOf(value, kMostPerBlock), kMostPerBlock);
    if (key == "grid") details.shape.grid = TripleOf(value);
    if (key == "block") details.shape.block = TripleOf(value);
  });
  return details;
}

CopyDetails CopyDetailsOf(std::string_view text) {
  CopyDetails details;
  ForEachPair(text, [&](std::string_view key, std::string_view value) {
    if (key == "size" || key == "num_bytes") details.bytes = NumberOf(value, kMostBytes);
    if (key == "kind_src" || key == "kind") details.from = kineto::MemoryOf(value);
    if (key == "kind_dst") details.to = kineto::MemoryOf(value);
    if (key == "async") details.is_async = value != "0";
  });
  return details;
}

CopyDirection DirectionOf(std::string_view name) {
  using Direction = std::pair<std::string_view, CopyDirection>;
  static constexpr std::array kDirections = {
      Direction{"H2D", CopyDirection::kHostToDevice},   Direction{"D2H", CopyDirection::kDeviceToHost},
      Direction{"D2D", CopyDirection::kDeviceToDevice}, Direction{"P2P", CopyDirection::kPeerToPeer},
      Direction{"H2H", CopyDirection::kHostToHost},
  };
  for (const auto& [part, direction] : kDirections)
    if (name.find(part) != std::string_view::npos) return direction;
  return CopyDirection::kUnknown;
}

}  // namespace dladvisor::xla
