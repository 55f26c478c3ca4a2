// SPDX-License-Identifier: Apache-2.0
// What a gate of these runs would have called a regression, and what gates of as many new runs find.
//
// The latter needs three variances: of new runs, between and within jobs, and what the new gate will show of
// them. The noise within a run is estimated from its steps, whose dependence few steps show badly, and as the
// gate must not call noise a regression, the estimate is the largest of three (run_mean.h): in simulated
// series it is 1 to 1.8 times the truth. New gates will err alike, so what they show of steps follows from
// what these show. What the noise is, however, the spread of runs of one job and the history tell without
// such an error. Beside the spread, steps count as those of one run; and where a history has less noise than
// they say is within runs, the noise within is estimated from both, and there is none between jobs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/gate/compare/comparison.h"

namespace dladvisor {

// The share of gates that find a change that is called detectable.
inline constexpr double kPower = 0.8;

// See RunComparison::fails_from and ::detectable; here without the zone that counts as equal, and with it.
// `before` and `after` are what the sides aggregate to.
std::optional<double> LimitOfNoise(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                   double before, double after, const RunNoise& between,
                                   const ComparisonOptions& options);
std::optional<double> DetectableChange(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                       double before, double after, const RunNoise& between,
                                       const ComparisonOptions& options);

// Steps of all runs together, of which one in fifty that is long is not seen in 5 of 100 gates. Fewer do not
// tell how heavy the tail of their noise is. Runs of one value have no steps to tell of.
inline constexpr size_t kStepsThatShowTail = 150;

// Fewer pairs of runs in turns seem to differ little by chance where they differ much, and name a change then
// that three of ten gates find.
inline constexpr size_t kPairsThatShowSpread = 5;

// Why nothing is called detectable though the noise is known, as a clause that follows a semicolon; or "". A
// chance can be promised only where the variance of new runs is known, which it is not
//   where a single step makes so much of the noise that new runs may have much more or less of it;
//   where the steps that deviate most do so as those of a distribution without variance (Gini coefficient of
//     their excesses 2 / 3 and above: a generalized Pareto distribution of shape 1 / 2, Hosking and Wallis
//     1987) and one of them makes more than a little of it;
//   where steps are too few to show either;
//   where pairs of runs are too few to show how they differ.
std::string WhyNoneDetectable(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                              const DifferenceNoise& noise);

}  // namespace dladvisor
