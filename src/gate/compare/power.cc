// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/power.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

using Runs = std::span<const RunMean>;

constexpr double kNormal = std::numeric_limits<double>::infinity();  // degrees of freedom
// A regression of more than this factor is not promised to be found.
constexpr double kLargestChange = 10;

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
  const auto of = [](const NoiseEstimate& estimate) {
    return Variance{estimate.spread > 0 ? estimate.spread : estimate.variance.sum(),
                    estimate.variance.degrees()};
  };
  if (!noise.given) return of(*noise.shown);
  if (!noise.shown) return of(*noise.given);
  const Variance shown = of(*noise.shown), given = of(*noise.given);
  if (std::isinf(given.degrees) || std::isinf(shown.degrees))
    return shown.value > given.value ? shown : given;
  const double degrees = shown.degrees + given.degrees;
  return {(shown.degrees * shown.value + given.degrees * given.value) / degrees, degrees};
}

// Equally probable values of chi-square over its degrees of freedom.
using Scales = std::vector<double>;
Scales ScalesOf(double degrees, size_t points) {
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
  Power(const DifferenceNoise& noise, double zone, double alpha) : zone_(zone), alpha_(alpha) {
    of_variance_ = ScalesOf(VarianceOf(noise).degrees, 20);
    of_shown_ = {0};
    if (noise.shown) {
      of_shown_ = ScalesOf(noise.shown->variance.degrees(), 20);
      quantile_ = StudentQuantile(alpha, noise.shown->variance.degrees());
    } else if (noise.given->within.sum() > 0) {
      of_within_ = ScalesOf(noise.given->within.degrees(), 6);
    }
  }

  double Of(const DifferenceNoise& noise, double change) const {
    const double variance = VarianceOf(noise).value;
    const double fixed = noise.given && of_within_.empty() ? noise.given->Bound(alpha_) : 0;
    if (!(variance > 0)) return change > std::max(zone_, fixed) ? 1.0 : 0.0;
    if (!of_within_.empty()) return OfGiven(*noise.given, change);
    double sum = 0;
    for (const double scale : of_variance_)
      for (const double shown : of_shown_) {
        const double within = noise.shown ? std::sqrt(noise.shown->within.sum()) : 0;
        const double sd = std::max(std::sqrt(variance / scale), within);
        const double of_new =
            noise.shown ? quantile_ * std::max(sd * std::sqrt(shown), within) + noise.shown->offset : 0;
        sum += Beyond(change, std::max(fixed, of_new), sd);
      }
    return sum / static_cast<double>(of_variance_.size() * of_shown_.size());
  }

 private:
  double Beyond(double change, double bound, double sd) const {
    return StudentTail((std::max(zone_, bound) - change) / sd, kNormal);
  }

  // Noise between runs is given, that within runs is estimated anew from each gate's.
  double OfGiven(const NoiseEstimate& given, double change) const {
    const double within = given.within.sum(), between = given.variance.sum() - within;
    const double quantile = StudentQuantile(alpha_, given.variance.degrees());
    double sum = 0;
    for (const double scale : of_variance_)
      for (const double of_old : of_within_)
        for (const double of_new : of_within_) {
          const double now = within / of_old;
          const double bound = quantile * std::sqrt(between + now * of_new) + given.offset;
          const double of_jobs = std::max(between / scale - given.within_history / of_old, 0.0);
          sum += Beyond(change, bound, std::sqrt(of_jobs + now));
        }
    return sum / static_cast<double>(of_variance_.size() * of_within_.size() * of_within_.size());
  }

  const double zone_, alpha_;
  Scales of_variance_, of_shown_, of_within_;
  double quantile_ = 0;
};

}  // namespace

std::optional<double> LimitOfNoise(Runs baseline, Runs candidate, double before, double after,
                                   const RunNoise& between, const ComparisonOptions& options) {
  if (!(before > 0) || !(after > 0)) return std::nullopt;
  NoiseOfChange noise(baseline, candidate, before, after, between, options);
  const auto bound = [&](double change) { return noise.At(change).Bound(options.alpha) / before; };
  return LeastChange(bound(0), noise.most(), [&](double change) { return bound(change) <= change; });
}

std::optional<double> DetectableChange(Runs baseline, Runs candidate, double before, double after,
                                       const RunNoise& between, const ComparisonOptions& options) {
  if (!(before > 0) || !(after > 0) || options.aggregation != Aggregation::kMean) return std::nullopt;
  NoiseOfChange noise(baseline, candidate, before, after, between, options);
  const DifferenceNoise first = noise.At(0);
  if (!first.shown && between.source == RunNoise::Source::kAssumed) return std::nullopt;
  const double zone = std::max(options.regression * before, options.floor);
  const Power power(first, zone, options.alpha);
  return LeastChange(std::max(zone, first.Bound(options.alpha)) / before, noise.most(),
                     [&](double change) { return power.Of(noise.At(change), change * before) >= kPower; });
}

}  // namespace dladvisor
