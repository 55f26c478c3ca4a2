// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/gate/compare/power.h"
#include "src/gate/compare/run_groups.h"
#include "src/render/change_text.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

using Runs = std::span<const RunMean>;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double Aggregate(Runs runs, const ComparisonOptions& options) {
  if (options.aggregation == Aggregation::kMean) return MeanOfRuns(runs);
  std::vector<double> means;
  for (const RunMean& run : runs) means.push_back(run.mean);
  if (options.aggregation == Aggregation::kMedian) return Median(means);
  const bool optimistic = options.aggregation == Aggregation::kOptimistic;
  return optimistic == options.lower_is_better ? std::ranges::min(means) : std::ranges::max(means);
}

// Whether a run's noise must be estimated from its own steps, which are too few for that.
bool TooFewSteps(Runs runs) {
  return runs.size() < kFewestRuns &&
         std::ranges::any_of(runs, [](const RunMean& run) { return !std::isfinite(run.variance); });
}

size_t FewestStepsOf(Runs runs) {
  size_t fewest = runs[0].steps;
  for (const RunMean& run : runs) fewest = std::min(fewest, run.steps);
  return fewest;
}

std::string Counted(size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// Whether what decides is the noise between runs that is assumed where none is known.
bool IsAssumed(const DifferenceNoise& noise, const RunNoise& between, double alpha) {
  const NoiseEstimate& largest = noise.Largest(alpha);
  return between.source == RunNoise::Source::kAssumed && !(noise.shown && &largest == &*noise.shown) &&
         largest.variance.sum() > 0;
}

std::string Describe(const DifferenceNoise& noise, Runs baseline, Runs candidate, const RunNoise& between,
                     double before, double alpha) {
  const double scale = std::abs(before);
  if (!(scale > 0)) return "";
  const NoiseEstimate& largest = noise.Largest(alpha);
  const std::string differ = DistanceText(largest.run_sd / scale);
  if (noise.shown && &largest == &*noise.shown) {
    switch (noise.drawn) {
      case DifferenceNoise::Drawn::kPairs:
        return fmt::format("the differences of {} taken in turns vary by {}",
                           Counted(noise.baseline_draws, "pair"), differ);
      case DifferenceNoise::Drawn::kRuns:
        return fmt::format("runs differ by {} ({} and {})", differ, baseline.size(),
                           Counted(candidate.size(), "run"));
      case DifferenceNoise::Drawn::kJobs:
        return fmt::format("jobs differ by {} ({} and {} of {} and {})", differ, noise.baseline_draws,
                           Counted(noise.candidate_draws, "job"), baseline.size(),
                           Counted(candidate.size(), "run"));
    }
  }
  if (!(largest.variance.sum() > 0)) return "runs are taken not to differ";
  std::string text;
  switch (between.source) {
    case RunNoise::Source::kDeclared:
      text = fmt::format("runs differ by up to {}, as the project declares", DistanceText(FloorOf(between)));
      break;
    case RunNoise::Source::kHistory:
      text = fmt::format("runs differ by {} ({} of the history)", DistanceText(between.relative_sd),
                         Counted(between.runs, "run"));
      break;
    case RunNoise::Source::kAssumed:
      text = fmt::format("runs are assumed to differ by up to {}, as their variation is not known",
                         DistanceText(FloorOf(between)));
      break;
  }
  const bool are_fewer = noise.baseline_draws < baseline.size() || noise.candidate_draws < candidate.size();
  if (noise.drawn == DifferenceNoise::Drawn::kJobs && are_fewer)
    text +=
        fmt::format("; {} and {} count as {} and {}, for runs of one job share its noise", baseline.size(),
                    Counted(candidate.size(), "run"), noise.baseline_draws, noise.candidate_draws);
  if (const double steps = largest.within.sum(); steps > 0)
    text += fmt::format("; steps vary the difference by {}", DistanceText(std::sqrt(steps) / scale));
  return text;
}

// One sentence. `worse` is the difference, positive where the candidate is worse; what noise explains is
// `bound`, and of a worsening relative to the baseline `limit`.
std::string Explain(Verdict verdict, double worse, double zone, double bound, std::optional<double> limit,
                    double before, const ComparisonOptions& options) {
  const double scale = std::abs(before);
  const std::string change = scale > 0 ? " " + DistanceText(std::abs(worse) / scale) : "";
  const char* const way = worse > 0 ? "worse" : "better";
  if (std::abs(worse) <= zone)
    return zone <= options.regression * scale
               ? fmt::format("It changed by{}; up to {} counts as equal.", change,
                             DistanceText(options.regression))
               : fmt::format("It changed{}{}, by less than the project's absolute floor.",
                             scale > 0 ? " by" : "", change);
  const bool is_noise = verdict == Verdict::kPass || verdict == Verdict::kInconclusive;
  if (worse < 0 || !limit) limit = scale > 0 ? std::optional(bound / scale) : std::nullopt;
  if (!limit)
    return is_noise ? fmt::format("It seems {}, but noise explains as much.", way)
                    : fmt::format("It is {}, by more than noise explains.", way);
  return is_noise
             ? fmt::format("It seems{} {}, but noise explains up to {}.", change, way, DistanceText(*limit))
             : fmt::format("It is{} {}, more than the {} that noise explains.", change, way,
                           DistanceText(*limit));
}

// Where a part of the candidate's runs is worse than any of the baseline's by more than counts as equal, and
// the others are not, which the mean of all hides: "3 of its 6 runs are 5.0 % worse than the others". Else
// "".
std::string WorseGroup(Runs baseline, Runs candidate, double zone, const ComparisonOptions& options) {
  const auto groups = FindTwoGroups(candidate, baseline, zone, options.alpha);
  if (!groups) return "";
  double worst = baseline[0].mean;
  for (const RunMean& run : baseline)
    worst = options.lower_is_better ? std::max(worst, run.mean) : std::min(worst, run.mean);
  const double mean = MeanOfRuns(baseline);
  const bool is_worse = options.lower_is_better ? groups->begin_of_high > worst && groups->high - mean > zone
                                                : groups->end_of_low < worst && mean - groups->low > zone;
  const double better = options.lower_is_better ? groups->low : groups->high;
  if (!is_worse || !(std::abs(better) > 0)) return "";
  return fmt::format("the candidate's runs fall in two groups: {} of {} are {} worse than the others",
                     options.lower_is_better ? groups->high_runs : groups->low_runs, candidate.size(),
                     DistanceText((groups->high - groups->low) / std::abs(better)));
}

}  // namespace

RunComparison Compare(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                      const RunNoise& between_runs, const ComparisonOptions& options) {
  RunComparison result;
  result.baseline = Aggregate(baseline, options);
  result.candidate = Aggregate(candidate, options);
  const double difference = result.candidate - result.baseline, scale = std::abs(result.baseline);
  if (!std::isfinite(difference)) {
    result.verdict = Verdict::kInconclusive;
    result.why = "A run has no value.";
    return result;
  }
  if (scale > 0) result.change = difference / scale;
  if (TooFewSteps(baseline) || TooFewSteps(candidate)) {
    if (difference == 0) {
      result.why = "It is the same.";
      return result;
    }
    result.verdict = Verdict::kInconclusive;
    result.why = fmt::format("Too few steps: {} and {}; the noise within a run takes {}.",
                             FewestStepsOf(baseline), FewestStepsOf(candidate), kFewestSteps);
    return result;
  }
  const DifferenceNoise noise = NoiseOfDifference(baseline, candidate, between_runs, options.aggregation);
  const double bound = noise.Bound(options.alpha);
  const double zone = std::max(options.regression * scale, options.floor);
  const double worse = options.lower_is_better ? difference : -difference;
  if (std::abs(worse) > zone)
    result.verdict = worse > 0        ? worse > bound ? Verdict::kRegressed : Verdict::kInconclusive
                     : -worse > bound ? Verdict::kImproved
                                      : Verdict::kPass;
  if (scale > 0) {
    // What is never negative cannot lose more than all of itself.
    const double least = result.baseline > 0 && result.candidate >= 0 ? -1 : -kUnbounded;
    result.low = std::max((difference - bound) / scale, least);
    result.high = (difference + bound) / scale;
  }
  const std::optional<double> limit =
      LimitOfNoise(baseline, candidate, result.baseline, result.candidate, between_runs, options);
  if (limit) result.fails_from = std::max(*limit, zone / scale);
  if (options.gates)
    result.detectable =
        DetectableChange(baseline, candidate, result.baseline, result.candidate, between_runs, options);
  if (options.gates && result.verdict != Verdict::kRegressed)
    result.groups = WorseGroup(baseline, candidate, zone, options);
  if (!result.groups.empty()) result.verdict = Verdict::kInconclusive;
  result.noise_is_assumed = IsAssumed(noise, between_runs, options.alpha);
  result.noise = Describe(noise, baseline, candidate, between_runs, result.baseline, options.alpha);
  if (options.gates && !result.noise.empty() && !result.noise_is_assumed)
    if (const std::string why = WhyNoneDetectable(baseline, candidate, noise); !why.empty())
      result.noise += "; " + why;
  result.why = difference == 0 ? "It is the same."
                               : Explain(result.verdict, worse, zone, bound, limit, result.baseline, options);
  if (!result.groups.empty())
    result.why += fmt::format(" But {}, so that the mean of all is that of no run.", result.groups);
  return result;
}

}  // namespace dladvisor
