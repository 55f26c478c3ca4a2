// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "src/statistics/probability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

using Runs = std::span<const RunMean>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kFewestRuns = 3;  // of one side, to estimate how much runs differ
// A regression of more than this factor is not promised to be found: there is no minimal change then.
constexpr double kLargestChange = 10;

// A sum of estimated variances and the degrees of freedom of the sum (Satterthwaite 1946).
class VarianceSum {
 public:
  void Add(double variance, double degrees) {
    sum_ += variance;
    squares_ += variance * variance / degrees;
  }
  double sum() const { return sum_; }
  double degrees() const { return squares_ > 0 ? sum_ * sum_ / squares_ : kInfinity; }

 private:
  double sum_ = 0, squares_ = 0;
};

// The noise of the difference between the sides.
struct Noise {
  enum class Origin { kPairs, kRuns, kGiven };
  Origin origin = Origin::kGiven;
  VarianceSum variance;
  double offset = 0;   // how far unequal numbers of runs alone take best or worst runs apart
  double run_sd = 0;   // of a run, or of a pair's difference
  double step_sd = 0;  // what noise within runs adds to the difference, where it is separated
  size_t pairs = 0;

  // What the difference must exceed.
  double Bound(double tail) const {
    const double error = std::sqrt(variance.sum());
    return (error > 0 ? StudentQuantile(tail, variance.degrees()) * error : 0) + offset;
  }
};

double Mean(Runs runs) {
  double sum = 0;
  for (const RunMean& run : runs) sum += run.mean - runs[0].mean;
  return runs[0].mean + sum / static_cast<double>(runs.size());
}

// Sum of squared deviations of the runs' means.
double Squares(Runs runs) {
  double sum = 0;
  for (const RunMean& run : runs) sum += (run.mean - Mean(runs)) * (run.mean - Mean(runs));
  return sum;
}

double Aggregate(Runs runs, const ComparisonOptions& options) {
  if (options.aggregation == Aggregation::kMean) return Mean(runs);
  std::vector<double> means;
  for (const RunMean& run : runs) means.push_back(run.mean);
  if (options.aggregation == Aggregation::kMedian) return Median(means);
  const bool optimistic = options.aggregation == Aggregation::kOptimistic;
  return optimistic == options.lower_is_better ? std::ranges::min(means) : std::ranges::max(means);
}

// By how much the variance of the aggregate may be above that of the mean of as many normal runs: pi / 2 is
// the limit of the median for many runs; a best or worst run varies no more than any run.
double Widening(size_t runs, Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kMean:
      return 1;
    case Aggregation::kMedian:
      return runs > 2 ? std::numbers::pi / 2 : 1;
    case Aggregation::kOptimistic:
    case Aggregation::kPessimistic:
      return static_cast<double>(runs);
  }
  return 1;
}

// How far the best of so many normal runs is from their mean, in standard deviations (Blom 1958).
double ExtremeOf(size_t runs) {
  return StudentQuantile(0.625 / (static_cast<double>(runs) + 0.25), kInfinity);
}

double Offset(size_t baseline, size_t candidate, Aggregation aggregation) {
  const bool extreme = aggregation == Aggregation::kOptimistic || aggregation == Aggregation::kPessimistic;
  return extreme ? std::abs(ExtremeOf(baseline) - ExtremeOf(candidate)) : 0;
}

// The mean variance by noise within a run, of the runs for which it is known.
VarianceSum WithinRuns(Runs runs) {
  VarianceSum within;
  double known = 0;
  for (const RunMean& run : runs) known += std::isfinite(run.variance);
  for (const RunMean& run : runs)
    if (std::isfinite(run.variance)) within.Add(run.variance / known, run.degrees);
  return within;
}

// How many pairs the runs make that were taken in turns, A B A B ...; 0 where they were not.
size_t Interleaved(Runs baseline, Runs candidate) {
  std::vector<std::pair<int64_t, bool>> order;
  for (const RunMean& run : baseline) {
    if (!run.start_utc_ns) return 0;
    order.emplace_back(*run.start_utc_ns, false);
  }
  for (const RunMean& run : candidate) {
    if (!run.start_utc_ns) return 0;
    order.emplace_back(*run.start_utc_ns, true);
  }
  std::ranges::sort(order);
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i].first == order[i - 1].first || order[i].second == order[i - 1].second) return 0;
  const size_t pairs = std::min(baseline.size(), candidate.size());
  return pairs >= kFewestRuns ? pairs : 0;
}

std::vector<RunMean> InOrder(Runs runs) {
  std::vector<RunMean> sorted(runs.begin(), runs.end());
  std::ranges::sort(sorted, {}, &RunMean::start_utc_ns);
  return sorted;
}

Noise NoiseOfPairs(Runs baseline, Runs candidate, size_t pairs, Aggregation aggregation) {
  const std::vector<RunMean> before = InOrder(baseline), after = InOrder(candidate);
  std::vector<RunMean> differences(pairs);
  for (size_t i = 0; i < pairs; ++i) differences[i].mean = after[i].mean - before[i].mean;
  const double n = static_cast<double>(pairs);
  const double variance =
      std::max(Squares(differences) / (n - 1), WithinRuns(baseline).sum() + WithinRuns(candidate).sum());
  Noise noise;
  noise.origin = Noise::Origin::kPairs;
  noise.pairs = pairs;
  noise.run_sd = std::sqrt(variance);
  noise.variance.Add(Widening(pairs, aggregation) * variance / n, n - 1);
  return noise;
}

// As noise of positive values is in proportion to them, what both sides show is put together relative to
// their means, so that a slower candidate is not taken for a noisier one.
Noise NoiseOfRuns(Runs baseline, Runs candidate, Aggregation aggregation) {
  const double b = static_cast<double>(baseline.size()), c = static_cast<double>(candidate.size());
  const double mean_b = Mean(baseline), mean_c = Mean(candidate);
  const bool positive = mean_b > 0 && mean_c > 0;
  const double scale_b = positive ? mean_b : 1, scale_c = positive ? mean_c : 1,
               scale = (scale_b + scale_c) / 2;
  const double pooled =
      (Squares(baseline) / (scale_b * scale_b) + Squares(candidate) / (scale_c * scale_c)) / (b + c - 2);
  Noise noise;
  noise.origin = Noise::Origin::kRuns;
  noise.run_sd = std::sqrt(pooled) * scale;
  noise.offset = noise.run_sd * Offset(baseline.size(), candidate.size(), aggregation);
  // What the steps of a side show beyond the spread of its runs counts, too, but not as if it were surer.
  const auto variance = [&](Runs runs, double of_run) {
    return Widening(runs.size(), aggregation) / static_cast<double>(runs.size()) *
           std::max(of_run, WithinRuns(runs).sum());
  };
  // Of as many runs, other variances on the sides matter little.
  if (baseline.size() == candidate.size() || std::min(b, c) < kFewestRuns) {
    const double of_run = pooled * scale * scale;
    noise.variance.Add(variance(baseline, of_run) + variance(candidate, of_run), b + c - 2);
    return noise;
  }
  for (const auto& [runs, of_side] : {std::pair(baseline, scale_b), std::pair(candidate, scale_c)}) {
    const double degrees = static_cast<double>(runs.size()) - 1, own = Squares(runs) / degrees;
    const double shared = pooled * of_side * of_side;
    noise.variance.Add(variance(runs, std::max(own, shared)), own > shared ? degrees : b + c - 2);
  }
  return noise;
}

Noise NoiseAsGiven(Runs baseline, Runs candidate, const RunNoise& between, Aggregation aggregation) {
  const double b = static_cast<double>(baseline.size()), c = static_cast<double>(candidate.size());
  const double wide_b = Widening(baseline.size(), aggregation) / b;
  const double wide_c = Widening(candidate.size(), aggregation) / c;
  const VarianceSum within_b = WithinRuns(baseline), within_c = WithinRuns(candidate);
  Noise noise;
  noise.run_sd = between.relative_sd * (std::abs(Mean(baseline)) + std::abs(Mean(candidate))) / 2;
  // Not less for two runs than for one: what differs from day to day may be the same for both.
  noise.variance.Add(2 * noise.run_sd * noise.run_sd, between.degrees);
  noise.variance.Add(wide_b * within_b.sum(), within_b.degrees());
  noise.variance.Add(wide_c * within_c.sum(), within_c.degrees());
  noise.step_sd = std::sqrt(wide_b * within_b.sum() + wide_c * within_c.sum());
  noise.offset = std::hypot(noise.run_sd, std::sqrt((within_b.sum() + within_c.sum()) / 2)) *
                 Offset(baseline.size(), candidate.size(), aggregation);
  return noise;
}

Noise NoiseOf(Runs baseline, Runs candidate, const RunNoise& between, Aggregation aggregation) {
  if (const size_t pairs = Interleaved(baseline, candidate))
    return NoiseOfPairs(baseline, candidate, pairs, aggregation);
  const size_t fewer = std::min(baseline.size(), candidate.size());
  const bool is_known = between.source != RunNoise::Source::kAssumed;
  if (std::max(baseline.size(), candidate.size()) >= kFewestRuns && (fewer >= kFewestRuns || !is_known))
    return NoiseOfRuns(baseline, candidate, aggregation);
  return NoiseAsGiven(baseline, candidate, between, aggregation);
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

// The least worsening, relative to the baseline, that noise would not explain if the candidate's runs showed
// it, with their noise in proportion.
std::optional<double> LimitOfNoise(Runs baseline, Runs candidate, double before, double after,
                                   const RunNoise& between, const ComparisonOptions& options) {
  if (!(before > 0) || !(after > 0)) return std::nullopt;
  const double sign = options.lower_is_better ? 1 : -1;
  const double most = options.lower_is_better ? kLargestChange : 1;
  std::vector<RunMean> scaled(candidate.begin(), candidate.end());
  const auto bound = [&](double change) {
    const double factor = before * (1 + sign * change) / after;
    for (size_t r = 0; r < scaled.size(); ++r) {
      scaled[r].mean = candidate[r].mean * factor;
      scaled[r].variance = candidate[r].variance * factor * factor;
    }
    return NoiseOf(baseline, scaled, between, options.aggregation).Bound(options.alpha) / before;
  };
  double low = 0, high = bound(0);
  while (high < most && bound(high) > high) {
    low = high;
    high *= 1.25;
  }
  if (!(high < most)) return std::nullopt;
  for (int i = 0; i < 12 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (bound(middle) > middle ? low : high) = middle;
  }
  return high;
}

std::string Percent(double ratio) { return fmt::format("{:.1f} %", 100 * ratio); }

std::string Counted(size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// The floor of which NoiseOfFloor makes this.
double FloorOf(const RunNoise& noise) {
  const double symmetric =
      noise.relative_sd * std::numbers::sqrt2 * StudentQuantile(kDefaultAlpha, kInfinity);
  return symmetric / (1 - symmetric / 2);
}

std::string Describe(const Noise& noise, Runs baseline, Runs candidate, const RunNoise& between,
                     double before) {
  const double scale = std::abs(before);
  if (!(scale > 0)) return "";
  switch (noise.origin) {
    case Noise::Origin::kPairs:
      return fmt::format("the differences of {} taken in turns vary by {}", Counted(noise.pairs, "pair"),
                         Percent(noise.run_sd / scale));
    case Noise::Origin::kRuns:
      return fmt::format("runs differ by {} ({} and {} runs)", Percent(noise.run_sd / scale), baseline.size(),
                         candidate.size());
    case Noise::Origin::kGiven:
      break;
  }
  if (!(noise.variance.sum() > 0)) return "runs are taken not to differ";
  std::string text;
  switch (between.source) {
    case RunNoise::Source::kDeclared:
      text = fmt::format("runs differ by up to {}, as the project declares", Percent(FloorOf(between)));
      break;
    case RunNoise::Source::kHistory:
      text = fmt::format("runs differ by {} ({} of the history)", Percent(between.relative_sd),
                         Counted(between.runs, "run"));
      break;
    case RunNoise::Source::kAssumed:
      text = fmt::format("runs are assumed to differ by up to {}, as their variation is not known",
                         Percent(FloorOf(between)));
      break;
  }
  if (noise.step_sd > 0)
    text += fmt::format("; steps vary the difference by {}", Percent(noise.step_sd / scale));
  return text;
}

// One sentence. `worse` is the difference, positive where the candidate is worse; what noise explains is
// `bound`, and of a worsening relative to the baseline `limit`.
std::string Explain(Verdict verdict, double worse, double zone, double bound, std::optional<double> limit,
                    double before, const ComparisonOptions& options) {
  const double scale = std::abs(before);
  const std::string change = scale > 0 ? " " + Percent(std::abs(worse) / scale) : "";
  const char* const way = worse > 0 ? "worse" : "better";
  if (std::abs(worse) <= zone)
    return zone <= options.regression * scale
               ? fmt::format("It changed by{}; up to {} counts as equal.", change,
                             Percent(options.regression))
               : fmt::format("It changed{}{}, by less than the project's absolute floor.",
                             scale > 0 ? " by" : "", change);
  const bool is_noise = verdict == Verdict::kPass || verdict == Verdict::kInconclusive;
  if (worse < 0 || !limit) limit = scale > 0 ? std::optional(bound / scale) : std::nullopt;
  if (!limit)
    return is_noise ? fmt::format("It seems {}, but noise explains as much.", way)
                    : fmt::format("It is {}, by more than noise explains.", way);
  return is_noise
             ? fmt::format("It seems{} {}, but noise explains up to {}.", change, way, Percent(*limit))
             : fmt::format("It is{} {}, more than the {} that noise explains.", change, way, Percent(*limit));
}

}  // namespace

RunNoise NoiseOfFloor(double floor, RunNoise::Source source) {
  RunNoise noise;
  noise.source = source;
  noise.relative_sd =
      floor / (1 + floor / 2) / (std::numbers::sqrt2 * StudentQuantile(kDefaultAlpha, kInfinity));
  return noise;
}

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
  const Noise noise = NoiseOf(baseline, candidate, between_runs, options.aggregation);
  const double bound = noise.Bound(options.alpha);
  const double zone = std::max(options.regression * scale, options.floor);
  const double worse = options.lower_is_better ? difference : -difference;
  if (std::abs(worse) > zone)
    result.verdict = worse > 0        ? worse > bound ? Verdict::kRegressed : Verdict::kInconclusive
                     : -worse > bound ? Verdict::kImproved
                                      : Verdict::kPass;
  if (scale > 0) {
    result.low = (difference - bound) / scale;
    result.high = (difference + bound) / scale;
  }
  const std::optional<double> limit =
      LimitOfNoise(baseline, candidate, result.baseline, result.candidate, between_runs, options);
  if (limit) result.minimal_change = std::max(*limit, zone / scale);
  result.noise = Describe(noise, baseline, candidate, between_runs, result.baseline);
  result.why = difference == 0 ? "It is the same."
                               : Explain(result.verdict, worse, zone, bound, limit, result.baseline, options);
  return result;
}

}  // namespace dladvisor
