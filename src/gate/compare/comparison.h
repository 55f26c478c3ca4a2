// SPDX-License-Identifier: Apache-2.0
// Whether runs of a candidate take longer than runs of a baseline, by more than noise.
//
// Two kinds of noise. Within a run: steps vary, and one step correlates with the next. Of the mean of a
// run's steps that is known from their autocovariances (run_mean.h). Between runs: clocks, placement,
// neighbours. One run a side cannot show it, so that it comes
//   from the runs themselves, where either side has at least three: Student's t-test on their means, of
//     unequal numbers with a variance of each side (Welch 1947, Satterthwaite 1946), or a paired one where
//     the runs were interleaved (A B A B ...), whose slow drift cancels;
//   else from what the project declares, its history shows, or, knowing nothing, from a cautious assumption.
//     What steps show is added to it, so that a rare long step widens the noise by as much as it adds.
// The change is a regression where it is more than that noise, at the chance of a false alarm `alpha`, and,
// as measured, more than the zone that the project calls equal, the wider of a relative and an absolute one.
// Repeats that ran one after the other do not show what differs from day to day; interleaved ones need not.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/gate/compare/run_mean.h"
#include "src/gate/model/verdict.h"

namespace dladvisor {

// How much runs of the same program differ: the standard deviation of a run's mean, relative to it. Of two
// runs a side it is not taken as less than of one, as what differs from day to day may be the same for both.
struct RunNoise {
  enum class Source { kDeclared, kHistory, kAssumed };
  Source source = Source::kAssumed;
  double relative_sd = 0;
  double degrees = std::numeric_limits<double>::infinity();
  size_t runs = 0;  // of the history that it is estimated from
};

// The chance of calling the same program worse where nothing else is asked for. A quarter of the 1 of 100
// that a gate is allowed, for what the assumptions of the tests do not cover.
inline constexpr double kDefaultAlpha = 0.0025;

// One of two runs of the same program is worse by more than `floor` (relative to the faster one) in no more
// than kDefaultAlpha of cases: the floor is what a gate then takes for noise between runs.
RunNoise NoiseOfFloor(double floor, RunNoise::Source source);
// Assumed where nothing is known: runs on shared machines were seen to differ by up to 26 %, and up to this.
inline constexpr double kAssumedFloor = 0.50;

// What is taken of the runs of a side. The test is that of means, with the error that a median (at most the
// root of pi / 2 times that of the mean) or a best or worst run (at most that of any run) may have, and with
// the distance that unequal numbers alone put between best or worst runs (Blom 1958): wider than it need be.
enum class Aggregation { kMean, kMedian, kOptimistic, kPessimistic };

struct ComparisonOptions {
  double alpha = kDefaultAlpha;  // chance of calling the same program worse, corrected for several metrics
  double regression = 0.03;      // relative half-width of the zone that is called equal
  double floor = 0;              // absolute one
  bool lower_is_better = true;
  Aggregation aggregation = Aggregation::kMean;
};

struct RunComparison {
  // Pass where the change is within the zone, or better but not by more than noise; inconclusive where it is
  // worse but not by more than noise, or where the steps of a side with less than three runs are too few.
  Verdict verdict = Verdict::kPass;
  double baseline = 0, candidate = 0;
  // Of the baseline's absolute value, unknown where that is 0. low and high bound it at 1 - 2 alpha.
  std::optional<double> change, low, high;
  // The least worsening, as a positive share of the baseline, that this data would have shown as a
  // regression. Of those that made these very runs slower by twice as much, at least 95 of 100 are found; it
  // is not a promise for other runs, whose noise may look larger (`./dev bench gate` measures both). Unknown
  // where none would be shown, and where values are not positive.
  std::optional<double> minimal_change;
  std::string noise, why;  // see MetricVerdict
};

// REQUIRES: a run on each side.
RunComparison Compare(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                      const RunNoise& between_runs, const ComparisonOptions& options);

}  // namespace dladvisor
