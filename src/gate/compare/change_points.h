// SPDX-License-Identifier: Apache-2.0
// Where the level of a series changes: the segmentation of least cost, where the cost of a segment is the
// sum of absolute deviations from its median, so that single outliers do not make a level, and each segment
// costs a penalty: the noise between neighbours times the logarithm of the length (an L1 Potts functional
// with an information criterion: Friedrich, Kempe, Liebscher and Winkler 2008; the method that asv uses).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dladvisor {

struct LevelSegment {
  size_t begin = 0, end = 0;  // half-open
  double level = 0;           // its median

  size_t size() const { return end - begin; }
};

// What is shorter is an outlier, not a level.
inline constexpr size_t kShortestLevel = 3;

// In order, without gaps; none of an empty series. Quadratic in the length: give at most some thousand.
// REQUIRES: finite values.
std::vector<LevelSegment> FindLevels(std::span<const double> series);

}  // namespace dladvisor
