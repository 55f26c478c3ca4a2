// SPDX-License-Identifier: Apache-2.0
// The runs of a history as a series in levels (change_points.h), and whether noise between runs explains its
// change.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/gate/compare/change_points.h"

namespace dladvisor {

// A series whose values are better the lower they are, in levels.
struct Course {
  std::vector<LevelSegment> levels;
  double deviation = 0;  // mean absolute, around the levels

  const LevelSegment& current() const { return levels.back(); }
  // The best level before the current one. REQUIRES: there is one.
  const LevelSegment& best() const;
  bool has_changed() const { return levels.size() > 1; }
  double rise() const { return has_changed() ? current().level - best().level : 0; }
  // The rise in standard errors of noise, whose scale does not matter here; infinite where there is none.
  double Strength() const;
};

Course CourseOf(std::span<const double> series);

// Noise between runs each of which may depend on the one before (AR(1)): clocks that drift, a neighbour that
// stays. A change of the program and a wandering machine look alike, so that the correlation is not estimated
// but bounded: the largest one, up to 0.9, that is plausible, whose estimate would be as low as the one
// observed in 1 of 133 histories. The estimate is of what is left when the best level and a ramp from there
// have been taken out, which is biased, as a ramp follows what wanders; so it is compared with the same
// estimate of simulated histories (Andrews 1993).
struct CorrelatedNoise {
  double correlation = 0;  // of neighbours
  double sd = 0;           // of a run
};
CorrelatedNoise NoiseBetween(std::span<const double> series, const Course& course);

// Whether runs of a program that does not change end in as strong a rise or fall in at most `alpha` of cases,
// or in 1 of 1,000 if that is more. Two tests, as neither holds for all noise: of runs that do not depend on
// each other, whatever their distribution, by their random order (Pitman 1937); and of those that do by
// drawing their innovations anew at the largest plausible correlation (Buehlmann 1997), where the errors of
// both bounds together stay below 1 of 100 (Berger and Boos 1994).
bool IsMoreThanNoise(std::span<const double> series, const Course& course, double alpha);

}  // namespace dladvisor
