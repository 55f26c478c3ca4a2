// SPDX-License-Identifier: Apache-2.0
// The mean of a run's steps, and how far noise within the run may have moved it.
//
// Steps vary, and a step depends on the one before. The variance of their mean is their variance over the
// effective number of independent steps (Geyer 1992, initial positive sequence of autocovariances, each
// corrected for its bias in short series as by Marriott and Pope 1954; at least what a first-order
// autoregression has).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace dladvisor {

// The mean of a run's steps; or one value of a run that has no steps (steps = 1, no variance).
struct RunMean {
  double mean = 0;
  double variance = 0;                                       // of the mean, by noise within the run
  double degrees = std::numeric_limits<double>::infinity();  // of freedom of that variance
  // For the power of gates of new runs (power.h). What that variance is more likely, as steps may depend on
  // each other by more than so few of them show; of how many degrees its estimate is, as how far they do is
  // estimated, too; and by how much the step that deviates most moved the mean.
  double likely_variance = 0;
  double likely_degrees = std::numeric_limits<double>::infinity();
  double of_longest = 0;
  // Of the tenth of its steps that deviates most, two at least: by how much more they do than the next one,
  // and by how much any two of them differ in that; in the mean.
  double tail_excess = 0, tail_difference = 0;
  size_t steps = 0;
  double independent_steps = 0;         // the effective number
  std::optional<int64_t> start_utc_ns;  // when the run was recorded, where that is known
  // Runs of one job, on whichever side, share its machine and hour, and so one draw of the noise between
  // jobs. A run without is a job of its own.
  std::optional<size_t> job;
};

// The least number of steady steps for an estimate of the noise within a run.
inline constexpr size_t kFewestSteps = 5;

// Of a variance by steps. Less than this makes the quantile explode, of a variance that is corrected for how
// few values it is estimated from. In simulated series of 20 steps and more, with correlations of 0 to 0.9,
// false alarms stay about at `alpha`.
inline constexpr double kFewestDegrees = 3;
// Of fewer degrees the chance to find a change hangs on cases that are not worth promising for.
inline constexpr double kFewestLikelyDegrees = 1.5;

// Of fewer than kFewestSteps steps the variance is unknown: infinite.
RunMean MeanOfSteps(std::span<const double> steps);

}  // namespace dladvisor
