// SPDX-License-Identifier: Apache-2.0
// A roofline as inline SVG (svg.h): attained rate over arithmetic intensity, both logarithmic, under the
// slope of the memory's bandwidth and one ceiling for each precision. Source: S. Williams, A. Waterman,
// D. Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures", CACM 2009.
#pragma once

#include <string>
#include <vector>

namespace dladvisor {

struct RooflineCeiling {
  std::string label;  // e.g. "BF16 matrix units, 989 TFLOP/s"
  double rate = 0;    // FLOP/s; > 0
};

struct RooflineDot {
  std::string text;        // on hover: operator, shapes, rate
  double intensity = 0;    // FLOP per byte
  double rate = 0;         // FLOP/s
  double weight = 0;       // its share of all dots' sum is its share of their area
  size_t ceiling = 0;      // index of the ceiling it is held against; gives its mark's shape
  std::string label = {};  // a short name, shown above the largest dots
};

// Dots without a positive, finite intensity and rate are left out. `bandwidth` is in bytes/s, > 0. The marks
// of the ceilings differ in shape, so that they can be distinguished without colours. Dots that are slower,
// or have fewer FLOP per byte, than six decades show lie on the edge, which the description says.
std::string Roofline(const std::string& id, const std::string& title, double bandwidth,
                     const std::vector<RooflineCeiling>& ceilings, const std::vector<RooflineDot>& dots);

}  // namespace dladvisor
