// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

using Runs = std::span<const RunMean>;

constexpr double kNormal = std::numeric_limits<double>::infinity();  // degrees of freedom
// A regression of more than this factor is not promised to be found.
constexpr double kLargestChange = 10;
// Of the standard deviation of the difference, what a single step may have moved it by; and one that is as
// long as steps of a distribution without variance are.
constexpr double kMostOfOneStep = 0.5, kMostOfOneInHeavyTail = 0.1;
// Gini coefficient of the excesses of a generalized Pareto distribution of shape 1 / 2.
constexpr double kGiniWithoutVariance = 2.0 / 3;

// The noise if the candidate were worse by a share of the baseline, with its noise in proportion.
class NoiseOfChange {
 public:
  NoiseOfChange(Runs baseline, Runs candidate, double before, double after, const RunNoise& between,
                const ComparisonOptions& options)
      : baseline_(baseline),
        candidate_(candidate),
        scaled_(candidate.begin(), candidate.end()),
        before_(before),
        after_(after),
        between_(between),
        options_(options) {}

  double most() const { return options_.lower_is_better ? kLargestChange : 1; }

  DifferenceNoise At(double change) {
    const double sign = options_.lower_is_better ? 1 : -1;
    const double factor = before_ * (1 + sign * change) / after_;
    for (size_t r = 0; r < scaled_.size(); ++r) {
      scaled_[r].mean = candidate_[r].mean * factor;
      scaled_[r].variance = candidate_[r].variance * factor * factor;
      scaled_[r].likely_variance = candidate_[r].likely_variance * factor * factor;
    }
    return NoiseOfDifference(baseline_, scaled_, between_, options_.aggregation);
  }

 private:
  const Runs baseline_, candidate_;
  std::vector<RunMean> scaled_;
  const double before_, after_;
  const RunNoise& between_;
  const ComparisonOptions& options_;
};

// The least change that is enough, of a condition that larger changes fulfil; unknown where it is not below
// `most`. `from` is where to look first.
std::optional<double> LeastChange(double from, double most, const std::function<bool(double)>& is_enough) {
  double low = 0, high = from;
  while (high < most && !is_enough(high)) {
    low = high;
    high *= 1.25;
  }
  if (!(high < most)) return std::nullopt;
  for (int i = 0; i < 12 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

// What is known of the noise of the difference: its variance, by all estimates together.
struct Variance {
  double value = 0, degrees = kNormal;
};

Variance VarianceOf(const DifferenceNoise& noise) {
  Variance shown, given;
  if (noise.shown)
    shown = {noise.shown->spread > 0 ? noise.shown->spread : noise.shown->variance.sum(),
             noise.shown->variance.degrees()};
  // A history has the noise within its runs already.
  if (noise.given)
    given = {std::max(noise.given->variance.sum() - noise.given->within_jobs.in_history,
                      noise.given->within.sum()),
             noise.given->variance.degrees()};
  if (!noise.given) return shown;
  if (!noise.shown) return given;
  if (std::isinf(given.degrees) || std::isinf(shown.degrees))
    return shown.value > given.value ? shown : given;
  const double degrees = shown.degrees + given.degrees;
  return {(shown.degrees * shown.value + given.degrees * given.value) / degrees, degrees};
}

// Equally probable values of chi-square over its degrees of freedom, the least first.
using Scales = std::vector<double>;
Scales ScalesOf(double degrees) {
  constexpr size_t points = 10;
  if (std::isinf(degrees)) return {1};
  Scales scales;
  for (size_t i = 0; i < points; ++i)
    scales.push_back(
        ChiSquareQuantile((static_cast<double>(i) + 0.5) / static_cast<double>(points), degrees) / degrees);
  return scales;
}

// The chance that gates of new runs find a change. The variance of the difference is what is known of it
// over chi-square (Fisher's fiducial distribution), and so is that within runs; what new runs show of both
// varies by chi-square around it. Over all of these, the chance that the difference is beyond what the new
// gate takes for noise.
class Power {
 public:
  Power(const DifferenceNoise& noise, double zone, double alpha)
      : zone_(zone), alpha_(alpha), of_variance_(ScalesOf(VarianceOf(noise).degrees)) {
    if (noise.shown) {
      if (noise.shown->within.sum() > 0) of_within_ = ScalesOf(noise.shown->within.degrees());
      of_shown_ = ScalesOf(noise.shown->variance.degrees());
      quantile_ = StudentQuantile(alpha, noise.shown->variance.degrees());
      return;
    }
    const NoiseEstimate::WithinJobs& within = noise.given->within_jobs;
    if (within.variance > 0) of_within_ = ScalesOf(within.degrees);
    if (within.by_steps > 0) of_steps_ = ScalesOf(within.degrees_of_steps);
    if (within.degrees_of_spread > 0) of_spread_ = ScalesOf(within.degrees_of_spread);
    for (const double of_old : of_within_)
      for (const double of_new : of_steps_) if_by_steps_.push_back(QuantileBySteps(within, of_new / of_old));
  }

  double Of(const DifferenceNoise& noise, double change) const {
    return noise.shown ? OfShown(noise, change) : OfGiven(*noise.given, change);
  }

 private:
  double Beyond(double change, double bound, double sd) const {
    const double beyond = std::max(zone_, bound) - change;
    return sd > 0 ? std::erfc(beyond / sd / std::numbers::sqrt2) / 2 : beyond < 0 ? 1 : 0;
  }

  // The spread of the runs tells all noise, also that within runs, which widens what a new gate takes for
  // noise where it seems to be more.
  double OfShown(const DifferenceNoise& noise, double change) const {
    const double variance = VarianceOf(noise).value, within = noise.shown->within.sum();
    const double fixed = noise.given ? noise.given->Bound(alpha_) : 0;
    double sum = 0;
    for (const double scale : of_variance_)
      for (const double shown : of_shown_)
        for (const double of_new : of_within_) {
          const double seen = std::max(variance / scale * shown, within * of_new);
          sum += Beyond(change, std::max(fixed, quantile_ * std::sqrt(seen) + noise.shown->offset),
                        std::sqrt(variance / scale));
        }
    return sum / static_cast<double>(of_variance_.size() * of_shown_.size() * of_within_.size());
  }

  // Of a new gate whose steps show so many times the noise within runs that these show: mostly as they depend
  // on each other for longer, so that as many times fewer are independent.
  double QuantileBySteps(const NoiseEstimate::WithinJobs& within, double times) const {
    VarianceSum sum = within.between;
    sum.Add(within.by_steps * times,
            std::clamp(within.gate_degrees / times, std::min(within.gate_degrees, within.fewest_degrees),
                       std::max(within.gate_degrees, within.most_degrees)));
    return StudentQuantile(alpha_, sum.degrees());
  }

  // The variance of the difference that is due to jobs and to runs.
  struct Parts {
    double of_jobs = 0, of_runs = 0;
  };

  // For one value of what is given and one of the noise within runs, as scales of their estimates. A history
  // has noise of both kinds. Where its value is below that within runs, jobs do not differ, and both are
  // values of the noise within runs: what that is, is their mean, weighed by their degrees of freedom, as
  // where variance components are estimated and one is not positive (Searle, Casella and McCulloch 1992).
  Parts PartsOf(const NoiseEstimate& given, double of_given, double of_old) const {
    const NoiseEstimate::WithinJobs& within = given.within_jobs;
    const double between = given.variance.sum() - given.within.sum();
    if (!(within.in_history > 0)) return {between / of_given, within.variance / of_old};
    const double of_jobs = between / of_given - within.in_history / of_old;
    if (of_jobs < 0) {
      const double degrees = within.degrees_of_history;
      const double pooled = (within.degrees / of_old + degrees * between / of_given / within.in_history) /
                            (within.degrees + degrees);
      return {0, within.variance * pooled};
    }
    // A history that shows no more than the noise within its runs shows none between jobs.
    return {between > within.in_history ? of_jobs : 0, within.variance / of_old};
  }

  // Noise between runs is given, that within runs is estimated anew from each gate's: by their steps, or the
  // spread of runs of one job where that is more. What steps will show follows from what they showed, not
  // from what a history says of the noise, as their estimate errs to the side of too much.
  double OfGiven(const NoiseEstimate& given, double change) const {
    const NoiseEstimate::WithinJobs& within = given.within_jobs;
    const double between = given.variance.sum() - given.within.sum();
    const double if_by_spread = StudentQuantile(alpha_, within.sum_by_spread);
    double sum = 0;
    std::vector<double> from(of_spread_.size() + 1);  // found by the spread, from this one of its values on
    for (size_t old = 0; old < of_within_.size(); ++old)
      for (const double of_given : of_variance_) {
        const double of_old = of_within_[old];
        const Parts parts = PartsOf(given, of_given, of_old);
        const double sd = std::sqrt(parts.of_jobs + parts.of_runs);
        for (size_t i = of_spread_.size(); i-- > 0;)
          from[i] =
              from[i + 1] +
              Beyond(change, if_by_spread * std::sqrt(between + parts.of_runs * of_spread_[i]) + given.offset,
                     sd);
        for (size_t i = 0; i < of_steps_.size(); ++i) {
          const double by_steps = within.by_steps / of_old * of_steps_[i];
          const double if_by_steps = if_by_steps_[old * of_steps_.size() + i];
          const auto by_spread = std::ranges::upper_bound(
              of_spread_, by_steps, {}, [&](double scale) { return parts.of_runs * scale; });
          const auto less = by_spread - of_spread_.begin();  // than what steps show
          sum += from[static_cast<size_t>(less)];
          if (less > 0)
            sum += static_cast<double>(less) *
                   Beyond(change, if_by_steps * std::sqrt(between + by_steps) + given.offset, sd);
        }
      }
    return sum / static_cast<double>(of_variance_.size() * of_within_.size() * of_steps_.size() *
                                     of_spread_.size());
  }

  const double zone_, alpha_;
  Scales of_variance_, of_shown_, of_within_ = {1}, of_steps_ = {1}, of_spread_ = {0};
  double quantile_ = 0;              // of what runs show
  std::vector<double> if_by_steps_;  // by of_within_ and of_steps_
};

}  // namespace

std::optional<double> LimitOfNoise(Runs baseline, Runs candidate, double before, double after,
                                   const RunNoise& between, const ComparisonOptions& options) {
  if (!(before > 0) || !(after > 0)) return std::nullopt;
  NoiseOfChange noise(baseline, candidate, before, after, between, options);
  const auto bound = [&](double change) { return noise.At(change).Bound(options.alpha) / before; };
  return LeastChange(bound(0), noise.most(), [&](double change) { return bound(change) <= change; });
}

std::string WhyNoneDetectable(Runs baseline, Runs candidate, const DifferenceNoise& noise) {
  if (noise.drawn == DifferenceNoise::Drawn::kPairs && !noise.given &&
      noise.baseline_draws < kPairsThatShowSpread)
    return fmt::format(
        "the differences of {} pairs of runs tell too little of how the next differ, so that no change is "
        "called detectable: take {} pairs",
        noise.baseline_draws, kPairsThatShowSpread);
  double longest = 0, excess = 0, difference = 0;
  size_t steps = 0;
  for (const Runs runs : {baseline, candidate})
    for (const RunMean& run : runs) {
      longest = std::max(longest, run.of_longest / static_cast<double>(runs.size()));
      excess += run.tail_excess;
      difference += run.tail_difference;
      if (run.steps > 1) steps += run.steps;
    }
  const double sd = std::sqrt(VarianceOf(noise).value);
  if (longest > kMostOfOneStep * sd)
    return "one long step makes so much of it that no change is called detectable";
  if (difference > 2 * kGiniWithoutVariance * excess && longest > kMostOfOneInHeavyTail * sd)
    return "a few steps are so much longer than the others that nothing tells how long the next will be, and "
           "no "
           "change is called detectable";
  if (steps > 0 && steps < kStepsThatShowTail)
    return fmt::format(
        "{} steps do not show how often one is long, so that no change is called detectable: record {}",
        steps, kStepsThatShowTail);
  return "";
}

std::optional<double> DetectableChange(Runs baseline, Runs candidate, double before, double after,
                                       const RunNoise& between, const ComparisonOptions& options) {
  if (!(before > 0) || !(after > 0) || options.aggregation != Aggregation::kMean) return std::nullopt;
  NoiseOfChange noise(baseline, candidate, before, after, between, options);
  const DifferenceNoise first = noise.At(0);
  if (!first.shown && between.source == RunNoise::Source::kAssumed) return std::nullopt;
  if (!WhyNoneDetectable(baseline, candidate, first).empty()) return std::nullopt;
  const double zone = std::max(options.regression * before, options.floor);
  const Power power(first, zone, options.alpha);
  return LeastChange(std::max(zone, first.Bound(options.alpha)) / before, noise.most(),
                     [&](double change) { return power.Of(noise.At(change), change * before) >= kPower; });
}

}  // namespace dladvisor
