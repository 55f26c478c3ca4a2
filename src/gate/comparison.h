// Whether runs of a candidate take longer than runs of a baseline, by more than noise.
//
// Two kinds of noise. Within a run: steps vary, and one step tells something of the next. Of the mean of a
// run's steps that is the variance over the effective number of independent steps (Geyer 1992, initial
// positive sequence of autocorrelations, each corrected for its bias in short series as by Marriott and Pope
// 1954). Between runs: clocks, placement, neighbours. One run a side cannot show it, so that it comes
//   from the runs themselves, where either side has at least three: Welch's t-test (Welch 1947) on their
//     means, or a paired t-test where the runs were interleaved (A B A B ...), whose drift cancels;
//   else from what the project declares, its history shows, or, knowing nothing, from a cautious assumption.
// The change is a regression where it is more than the noise, at the chance of a false alarm `alpha`, and
// more than the zone that the project calls equal, which is the wider of a relative and an absolute one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/gate/verdict.h"

namespace dladvisor {

// The mean of a run's steps; or one value of a run that has no steps (steps = 1, no variance).
struct RunMean {
  double mean = 0;
  double variance = 0;                                       // of the mean, by noise within the run
  double degrees = std::numeric_limits<double>::infinity();  // of freedom of that variance
  size_t steps = 0;
  double independent_steps = 0;         // the effective number
  std::optional<int64_t> start_utc_ns;  // when the run was recorded, where that is known
};

// The least number of steady steps that tells the noise within a run.
inline constexpr size_t kFewestSteps = 5;

// Of fewer than kFewestSteps steps the variance is unknown: infinite.
RunMean MeanOfSteps(std::span<const double> steps);

// How much runs of the same program differ: the standard deviation of a run's mean, relative to it.
struct RunNoise {
  enum class Source { kDeclared, kHistory, kAssumed };
  Source source = Source::kAssumed;
  double relative_sd = 0;
  double degrees = std::numeric_limits<double>::infinity();
  size_t runs = 0;  // of the history that told it
};

// Two runs of the same program differ by more than `floor` (relative) in less than 1 of 100 cases.
RunNoise NoiseOfFloor(double floor, RunNoise::Source source);
// What nothing tells: runs on shared machines were seen to differ by up to 26 %, and up to this.
inline constexpr double kAssumedFloor = 0.50;

enum class Aggregation { kMean, kMedian, kOptimistic, kPessimistic };  // of the runs of a side

struct ComparisonOptions {
  double alpha = 0.01;  // chance of calling the same program worse; already corrected for several metrics
  double regression = 0.03;  // relative half-width of the zone that is called equal
  double floor = 0;          // absolute one
  bool lower_is_better = true;
  Aggregation aggregation = Aggregation::kMean;
};

struct RunComparison {
  Verdict verdict = Verdict::kPass;  // pass, improved, inconclusive or regressed
  double baseline = 0, candidate = 0;
  std::optional<double> change, low, high;  // relative to the baseline; low and high bound it at 1 - 2 alpha
  std::optional<double> minimal_change;     // see MetricVerdict
  std::string noise, why;                   // see MetricVerdict
};

// REQUIRES: a run on each side.
RunComparison Compare(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                      const RunNoise& between_runs, const ComparisonOptions& options);

}  // namespace dladvisor
