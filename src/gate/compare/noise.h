// SPDX-License-Identifier: Apache-2.0
// The noise of the difference between two sides of a gate, as the largest of what is known of it.
//
// Two kinds of noise. Within a run: steps vary, and one step correlates with the next. Of the mean of a
// run's steps that is known from their autocovariances (run_mean.h). Between runs: clocks, placement,
// neighbours, which are alike for runs of one job (RunMean::job) and others in the next. It is known
//   from the runs themselves: of runs in turns (A B A B ... or A B B A ...) the differences of pairs, in
//     which slow drift cancels, tell it all. Else jobs are what varies, or runs where both sides are of one
//     job: from three on on either side by Student's t-test on their means, of unequal numbers with a
//     variance of each side (Welch 1947, Satterthwaite 1946);
//   from what the project declares, or its history shows;
//   where neither tells, from a cautious assumption.
// What steps show is added to what is known otherwise, so that a rare long step widens the noise by as much
// as it adds.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "src/gate/compare/run_mean.h"

namespace dladvisor {

// How much runs of the same program differ that were not taken together: the standard deviation of a run's
// mean, relative to it. Of two jobs a side it is not taken as less than of one, as what differs from day to
// day may be the same for both.
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
// The floor of which NoiseOfFloor makes this.
double FloorOf(const RunNoise& noise);
// Assumed where nothing is known: runs on shared machines were seen to differ by up to 26 %, and up to this.
inline constexpr double kAssumedFloor = 0.50;

// What is taken of the runs of a side. The test is that of means, with the error that a median (at most the
// root of pi / 2 times that of the mean) or a best or worst run (at most that of any run) may have, and with
// the distance that unequal numbers alone put between best or worst runs (Blom 1958): wider than it need be.
enum class Aggregation { kMean, kMedian, kOptimistic, kPessimistic };

// A sum of estimated variances and the degrees of freedom of the sum (Satterthwaite 1946).
class VarianceSum {
 public:
  void Add(double variance, double degrees) {
    sum_ += variance;
    squares_ += variance * variance / degrees;
  }
  double sum() const { return sum_; }
  double degrees() const {
    return squares_ > 0 ? sum_ * sum_ / squares_ : std::numeric_limits<double>::infinity();
  }

 private:
  double sum_ = 0, squares_ = 0;
};

// Noise of the difference, by one way of knowing it.
struct NoiseEstimate {
  VarianceSum variance;
  double offset = 0;  // how far unequal numbers of runs alone take best or worst runs apart
  double run_sd = 0;  // of a run or job, or of a pair's difference
  // Of the variance, what noise within runs adds; of as many degrees as its estimate likely has.
  VarianceSum within;

  // For the chance to find a change (power.h).
  double spread = 0;  // the variance by the spread of draws alone
  // Of noise that is given: what noise within jobs adds to the difference of these runs, by the spread of
  // runs of one job and by their steps.
  struct WithinJobs {
    double variance = 0, degrees = 0;           // likely
    double by_steps = 0, degrees_of_steps = 0;  // what steps alone show
    double degrees_of_spread = 0;               // 0 where no job has several runs
    double in_history = 0;                      // what a history has of it already
    double degrees_of_history = 0;
    double sum_by_spread = 0;  // degrees of the whole variance where it is by either
    VarianceSum between;       // what is given of jobs
    double gate_degrees = 0;   // of what a gate takes steps to show, at least and at most as of so many runs
    double fewest_degrees = 0, most_degrees = 0;
  } within_jobs;

  double Error() const { return std::sqrt(variance.sum()); }
  // What the difference must exceed to be more than noise at that chance.
  double Bound(double alpha) const;
};

// The two ways; at least one is there.
struct DifferenceNoise {
  enum class Drawn { kPairs, kRuns, kJobs };
  Drawn drawn = Drawn::kRuns;  // what `shown` is estimated from
  size_t baseline_draws = 0, candidate_draws = 0;
  std::optional<NoiseEstimate> shown;  // by the runs of the sides
  std::optional<NoiseEstimate> given;  // declared, learned, or assumed where nothing else is known

  // The one that explains most at that chance, and what it explains.
  const NoiseEstimate& Largest(double alpha) const;
  double Bound(double alpha) const { return Largest(alpha).Bound(alpha); }
};

// REQUIRES: a run on each side.
DifferenceNoise NoiseOfDifference(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                  const RunNoise& between_runs, Aggregation aggregation);

// Fewer draws of a side do not tell how much they differ.
inline constexpr size_t kFewestRuns = 3;

double MeanOfRuns(std::span<const RunMean> runs);

}  // namespace dladvisor
