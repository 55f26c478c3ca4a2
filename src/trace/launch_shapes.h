// SPDX-License-Identifier: Apache-2.0
// Finds the distinct launch shapes of a table of kernels, and adds those that are new.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "src/trace/events.h"

namespace dladvisor {

class LaunchShapes {
 public:
  explicit LaunchShapes(std::vector<LaunchShape>& shapes) : shapes_(shapes) {}

  // Index of the shape in `shapes`.
  uint32_t IndexOf(const LaunchShape& shape) {
    const auto [known, is_new] = index_.try_emplace(shape, static_cast<uint32_t>(shapes_.size()));
    if (is_new) shapes_.push_back(shape);
    return known->second;
  }

 private:
  struct Hash {
    size_t operator()(const LaunchShape& shape) const {
      uint64_t hash = 0;
      for (size_t i = 0; i < 3; ++i)
        for (const int64_t n : {shape.grid[i], shape.block[i]})
          hash = (hash ^ static_cast<uint64_t>(n)) * 0x9E3779B97F4A7C15;
      return hash ^ hash >> 32;
    }
  };

  std::vector<LaunchShape>& shapes_;
  std::unordered_map<LaunchShape, uint32_t, Hash> index_;
};

}  // namespace dladvisor
