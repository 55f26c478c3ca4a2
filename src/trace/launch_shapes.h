// SPDX-License-Identifier: Apache-2.0
// Finds the distinct launch shapes of a table of kernels, and adds those that are new.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "src/trace/events.h"

namespace dladvisor {

class LaunchShapes {
 public:
  explicit LaunchShapes(std::vector<LaunchShape>& shapes) : shapes_(shapes) {}

  // Index of the shape in `shapes`.
  uint32_t IndexOf(const LaunchShape& shape) {
    if (2 * (shapes_.size() + 1) > slots_.size()) Grow();
    const uint32_t hash = HashOf(shape);
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].index != kFree; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == hash && shapes_[slots_[at].index] == shape) return slots_[at].index;
    slots_[at] = {hash, static_cast<uint32_t>(shapes_.size())};
    shapes_.push_back(shape);
    return slots_[at].index;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t hash = 0, index = kFree;
  };

  static uint32_t HashOf(const LaunchShape& shape) {
    uint64_t hash = 0;
    for (size_t i = 0; i < 3; ++i)
      for (const int64_t n : {shape.grid[i], shape.block[i]})
        hash = (hash ^ static_cast<uint64_t>(n)) * 0x9E3779B97F4A7C15;
    return static_cast<uint32_t>(hash ^ hash >> 32);
  }

  void Grow() {
    const size_t size = std::max<size_t>(64, std::bit_ceil(4 * (shapes_.size() + 1)));
    slots_.assign(size, {});
    for (uint32_t i = 0; i < shapes_.size(); ++i) {
      const uint32_t hash = HashOf(shapes_[i]);
      size_t at = hash & (size - 1);
      while (slots_[at].index != kFree) at = (at + 1) & (size - 1);
      slots_[at] = {hash, i};
    }
  }

  std::vector<LaunchShape>& shapes_;
  std::vector<Slot> slots_;  // a power of two of them, at most half taken
};

}  // namespace dladvisor
