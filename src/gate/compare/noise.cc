// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/noise.h"

#include <algorithm>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

using Runs = std::span<const RunMean>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sum of squared deviations of the runs' means.
double Squares(Runs runs) {
  const double mean = MeanOfRuns(runs);
  double sum = 0;
  for (const RunMean& run : runs) sum += (run.mean - mean) * (run.mean - mean);
  return sum;
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
VarianceSum MeanVariance(Runs runs, double RunMean::*variance, double RunMean::*degrees) {
  VarianceSum within;
  double known = 0;
  for (const RunMean& run : runs) known += std::isfinite(run.variance);
  for (const RunMean& run : runs)
    if (std::isfinite(run.variance)) within.Add(run.*variance / known, run.*degrees);
  return within;
}
VarianceSum WithinRuns(Runs runs) { return MeanVariance(runs, &RunMean::variance, &RunMean::degrees); }
VarianceSum LikelyWithinRuns(Runs runs) {
  return MeanVariance(runs, &RunMean::likely_variance, &RunMean::likely_degrees);
}

// What noise within runs adds to the variance of the difference between means of these runs.
VarianceSum WithinDifference(Runs baseline, Runs candidate, Aggregation aggregation) {
  VarianceSum sum;
  for (const Runs runs : {baseline, candidate})
    sum.Add(Widening(runs.size(), aggregation) / static_cast<double>(runs.size()) * WithinRuns(runs).sum(),
            LikelyWithinRuns(runs).degrees());
  return sum;
}

// How many pairs the runs make that were taken in turns, each pair in either order (A B A B or A B B A); 0
// where they were not.
size_t Interleaved(Runs baseline, Runs candidate) {
  struct Turn {
    int64_t start;
    bool side;
    std::optional<size_t> job;
  };
  std::vector<Turn> order;
  for (const auto& [runs, is_candidate] : {std::pair(baseline, false), std::pair(candidate, true)})
    for (const RunMean& run : runs) {
      if (!run.start_utc_ns) return 0;
      order.push_back({*run.start_utc_ns, is_candidate, run.job});
    }
  std::ranges::sort(order, {}, &Turn::start);
  const size_t pairs = std::min(baseline.size(), candidate.size());
  if (pairs < kFewestRuns || order.size() > 2 * pairs + 1) return 0;
  for (size_t i = 1; i < order.size(); ++i) {
    if (order[i].start == order[i - 1].start) return 0;
    if (i % 2 == 1 && (order[i].side == order[i - 1].side || order[i].job != order[i - 1].job)) return 0;
  }
  return pairs;
}

std::vector<RunMean> InOrder(Runs runs) {
  std::vector<RunMean> sorted(runs.begin(), runs.end());
  std::ranges::sort(sorted, {}, &RunMean::start_utc_ns);
  return sorted;
}

NoiseEstimate NoiseOfPairs(Runs baseline, Runs candidate, size_t pairs, Aggregation aggregation) {
  const std::vector<RunMean> before = InOrder(baseline), after = InOrder(candidate);
  std::vector<RunMean> differences(pairs);
  for (size_t i = 0; i < pairs; ++i) differences[i].mean = after[i].mean - before[i].mean;
  const double n = static_cast<double>(pairs);
  const double variance =
      std::max(Squares(differences) / (n - 1), WithinRuns(baseline).sum() + WithinRuns(candidate).sum());
  NoiseEstimate noise;
  noise.run_sd = std::sqrt(variance);
  noise.variance.Add(Widening(pairs, aggregation) * variance / n, n - 1);
  noise.spread = Widening(pairs, aggregation) * Squares(differences) / (n - 1) / n;
  noise.within = WithinDifference(baseline, candidate, aggregation);
  return noise;
}

// As noise of positive values is in proportion to them, what both sides show is put together relative to
// their means, so that a slower candidate is not taken for a noisier one.
NoiseEstimate NoiseOfDraws(Runs baseline, Runs candidate, Aggregation aggregation) {
  const double b = static_cast<double>(baseline.size()), c = static_cast<double>(candidate.size());
  const double mean_b = MeanOfRuns(baseline), mean_c = MeanOfRuns(candidate);
  const bool positive = mean_b > 0 && mean_c > 0;
  const double scale_b = positive ? mean_b : 1, scale_c = positive ? mean_c : 1,
               scale = (scale_b + scale_c) / 2;
  const double pooled =
      (Squares(baseline) / (scale_b * scale_b) + Squares(candidate) / (scale_c * scale_c)) / (b + c - 2);
  NoiseEstimate noise;
  noise.run_sd = std::sqrt(pooled) * scale;
  noise.offset = noise.run_sd * Offset(baseline.size(), candidate.size(), aggregation);
  noise.within = WithinDifference(baseline, candidate, aggregation);
  // What the steps of a side show beyond the spread of its runs counts, too, but not as if it were surer.
  const auto variance = [&](Runs runs, double of_run) {
    return Widening(runs.size(), aggregation) / static_cast<double>(runs.size()) *
           std::max(of_run, WithinRuns(runs).sum());
  };
  // Of as many runs, other variances on the sides matter little.
  if (baseline.size() == candidate.size() || std::min(b, c) < kFewestRuns) {
    const double of_run = pooled * scale * scale;
    noise.spread =
        of_run * (Widening(baseline.size(), aggregation) / b + Widening(candidate.size(), aggregation) / c);
    noise.variance.Add(variance(baseline, of_run) + variance(candidate, of_run), b + c - 2);
    return noise;
  }
  for (const auto& [runs, of_side] : {std::pair(baseline, scale_b), std::pair(candidate, scale_c)}) {
    const double degrees = static_cast<double>(runs.size()) - 1, own = Squares(runs) / degrees;
    const double shared = pooled * of_side * of_side;
    noise.variance.Add(variance(runs, std::max(own, shared)), own > shared ? degrees : b + c - 2);
    noise.spread +=
        Widening(runs.size(), aggregation) / static_cast<double>(runs.size()) * std::max(own, shared);
  }
  return noise;
}

// The variance of runs of one job over what their steps show of it that few normal runs show by chance.
constexpr double kClearlyMore = 3;

// Values are compared relative to it, where they are positive.
double ScaleOf(double mean_b, double mean_c, double mean) { return mean_b > 0 && mean_c > 0 ? mean : 1; }

// How much runs of one job differ, of both sides together: the variance relative to the side's mean.
struct SpreadWithinJobs {
  double variance = 0, degrees = 0;

  SpreadWithinJobs(Runs baseline, Runs candidate) {
    const double mean_b = MeanOfRuns(baseline), mean_c = MeanOfRuns(candidate);
    double squares = 0;
    for (const auto& [runs, mean] : {std::pair(baseline, mean_b), std::pair(candidate, mean_c)}) {
      const double scale = ScaleOf(mean_b, mean_c, mean);
      std::map<size_t, std::vector<RunMean>> jobs;
      for (const RunMean& run : runs)
        if (run.job) jobs[*run.job].push_back(run);
      for (const auto& [number, job] : jobs) {
        squares += Squares(job) / (scale * scale);
        degrees += static_cast<double>(job.size() - 1);
      }
    }
    if (degrees > 0) variance = squares / degrees;
  }
};

// A run for each job: the mean of its runs, and what noise within and between them makes of it.
struct JobDraws {
  std::vector<RunMean> runs;
  bool by_spread = false;  // which is more than what steps show
};

JobDraws ByJob(Runs runs, const SpreadWithinJobs& spread, double scale, Aggregation aggregation) {
  std::vector<std::vector<RunMean>> jobs;
  std::map<size_t, size_t> index;
  for (const RunMean& run : runs) {
    if (!run.job || index.emplace(*run.job, jobs.size()).second)
      jobs.push_back({run});
    else
      jobs[index.at(*run.job)].push_back(run);
  }
  JobDraws draws;
  for (const auto& job : jobs) {
    RunMean& draw = draws.runs.emplace_back(job[0]);
    if (job.size() == 1) continue;
    const VarianceSum within = WithinRuns(job);
    const double of_spread = spread.variance * scale * scale;
    const bool differ = of_spread > within.sum();
    const double share = Widening(job.size(), aggregation) / static_cast<double>(job.size());
    draws.by_spread |= differ;
    draw.mean = MeanOfRuns(job);
    draw.variance = draw.likely_variance = share * std::max(of_spread, within.sum());
    draw.degrees = differ ? spread.degrees : within.degrees();
    draw.likely_degrees = differ ? spread.degrees : LikelyWithinRuns(job).degrees();
  }
  return draws;
}

// How many draws of the noise between jobs: not less noise for two than for one, see RunNoise.
double DrawsThatAverage(size_t jobs) { return jobs < kFewestRuns ? 1 : static_cast<double>(jobs); }

// What steps show of the noise within a run errs to the side of too much (run_mean.h), in every run alike,
// which no number of runs averages out. Beside the spread of runs, which errs to neither side, it therefore
// weighs as what a single run shows: with the mean of their degrees.
double LikelyDegreesOfRun(Runs baseline, Runs candidate) {
  double sum = 0, known = 0;
  for (const Runs runs : {baseline, candidate})
    for (const RunMean& run : runs) {
      if (!std::isfinite(run.variance)) continue;
      sum += run.likely_degrees;
      ++known;
    }
  return known > 0 ? sum / known : kInfinity;
}

// `between_jobs` is the variance that is given, of so many degrees; of a history, averaged over the share
// `in_history` of runs.
NoiseEstimate::WithinJobs NoiseWithinJobs(Runs baseline, Runs candidate, const SpreadWithinJobs& spread,
                                          double between_jobs, double between_degrees, double in_history,
                                          Aggregation aggregation) {
  NoiseEstimate::WithinJobs noise;
  const VarianceSum by_steps = WithinDifference(baseline, candidate, aggregation);
  noise.by_steps = by_steps.sum();
  noise.degrees_of_steps = by_steps.degrees();
  const double mean_b = MeanOfRuns(baseline), mean_c = MeanOfRuns(candidate);
  const double scale_b = ScaleOf(mean_b, mean_c, mean_b), scale_c = ScaleOf(mean_b, mean_c, mean_c);
  // Of one run, relative. Runs differ by what their steps show, and by more only where their spread says so.
  VarianceSum likely;
  for (const auto& [runs, scale] : {std::pair(baseline, scale_b), std::pair(candidate, scale_c)})
    likely.Add(LikelyWithinRuns(runs).sum() / (scale * scale) / 2, LikelyWithinRuns(runs).degrees());
  double of_run = likely.sum();
  noise.degrees = likely.degrees();
  if (spread.variance > kClearlyMore * likely.sum()) {
    of_run = spread.variance;
    noise.degrees = spread.degrees;
  } else if (spread.degrees > 0 && std::isfinite(likely.degrees())) {
    const double of_steps = std::min(likely.degrees(), LikelyDegreesOfRun(baseline, candidate));
    const double of_both = spread.degrees + of_steps;
    VarianceSum both;
    both.Add(spread.degrees / of_both * spread.variance, spread.degrees);
    both.Add(of_steps / of_both * likely.sum(), likely.degrees());
    of_run = both.sum();
    noise.degrees = both.degrees();
  }
  noise.variance = of_run * (scale_b * scale_b / static_cast<double>(baseline.size()) +
                             scale_c * scale_c / static_cast<double>(candidate.size()));
  noise.degrees_of_history = between_degrees;
  noise.in_history = in_history * of_run * std::pow((scale_b + scale_c) / 2, 2);
  noise.degrees_of_spread = spread.degrees;
  noise.between.Add(between_jobs, between_degrees);
  VarianceSum if_by_spread = noise.between, of_gate;
  if (spread.degrees > 0) if_by_spread.Add(noise.variance, spread.degrees);
  noise.sum_by_spread = if_by_spread.degrees();
  for (const Runs runs : {baseline, candidate}) {
    of_gate.Add(WithinRuns(runs).sum() / static_cast<double>(runs.size()), WithinRuns(runs).degrees());
    for (const RunMean& run : runs) {
      noise.fewest_degrees += kFewestDegrees;
      noise.most_degrees += static_cast<double>(run.steps) - 1;
    }
  }
  noise.gate_degrees = of_gate.degrees();
  return noise;
}

// The draws have a run for each job.
NoiseEstimate NoiseAsGiven(Runs baseline, Runs candidate, const JobDraws& draws_b, const JobDraws& draws_c,
                           const SpreadWithinJobs& spread, const RunNoise& between, Aggregation aggregation) {
  const Runs jobs_b = draws_b.runs, jobs_c = draws_c.runs;
  NoiseEstimate noise;
  noise.run_sd = between.relative_sd * (std::abs(MeanOfRuns(jobs_b)) + std::abs(MeanOfRuns(jobs_c))) / 2;
  const double averaged_b = DrawsThatAverage(jobs_b.size()), averaged_c = DrawsThatAverage(jobs_c.size());
  const double of_jobs =
      noise.run_sd * noise.run_sd *
      (Widening(jobs_b.size(), aggregation) / averaged_b + Widening(jobs_c.size(), aggregation) / averaged_c);
  noise.variance.Add(of_jobs, between.degrees);
  double by_spread = 0;  // one estimate for both sides, which is no surer for two
  for (const JobDraws* draws : {&draws_b, &draws_c}) {
    const Runs jobs = draws->runs;
    const VarianceSum within = WithinRuns(jobs);
    const double share = Widening(jobs.size(), aggregation) / static_cast<double>(jobs.size()) * within.sum();
    if (draws->by_spread)
      by_spread += share;
    else
      noise.variance.Add(share, within.degrees());
  }
  if (by_spread > 0) noise.variance.Add(by_spread, spread.degrees);
  noise.within = WithinDifference(jobs_b, jobs_c, aggregation);
  const bool is_history = between.source == RunNoise::Source::kHistory;
  noise.within_jobs = NoiseWithinJobs(baseline, candidate, spread, of_jobs, between.degrees,
                                      is_history ? 1 / averaged_b + 1 / averaged_c : 0, aggregation);
  noise.offset =
      std::hypot(noise.run_sd, std::sqrt((WithinRuns(jobs_b).sum() + WithinRuns(jobs_c).sum()) / 2)) *
      Offset(jobs_b.size(), jobs_c.size(), aggregation);
  return noise;
}

// Whether the runs of both sides were all taken in one job.
bool AreOfOneJob(Runs baseline, Runs candidate) {
  std::set<std::optional<size_t>> jobs;
  for (const RunMean& run : baseline) jobs.insert(run.job);
  for (const RunMean& run : candidate) jobs.insert(run.job);
  return jobs.size() == 1 && jobs.begin()->has_value();
}

}  // namespace

double MeanOfRuns(std::span<const RunMean> runs) {
  double sum = 0;
  for (const RunMean& run : runs) sum += run.mean - runs[0].mean;
  return runs[0].mean + sum / static_cast<double>(runs.size());
}

RunNoise NoiseOfFloor(double floor, RunNoise::Source source) {
  RunNoise noise;
  noise.source = source;
  noise.relative_sd =
      floor / (1 + floor / 2) / (std::numbers::sqrt2 * StudentQuantile(kDefaultAlpha, kInfinity));
  return noise;
}

double FloorOf(const RunNoise& noise) {
  const double symmetric =
      noise.relative_sd * std::numbers::sqrt2 * StudentQuantile(kDefaultAlpha, kInfinity);
  return symmetric / (1 - symmetric / 2);
}

double NoiseEstimate::Bound(double alpha) const {
  const double error = Error();
  return (error > 0 ? StudentQuantile(alpha, variance.degrees()) * error : 0) + offset;
}

const NoiseEstimate& DifferenceNoise::Largest(double alpha) const {
  if (shown && given) return shown->Bound(alpha) > given->Bound(alpha) ? *shown : *given;
  return shown ? *shown : *given;
}

DifferenceNoise NoiseOfDifference(std::span<const RunMean> baseline, std::span<const RunMean> candidate,
                                  const RunNoise& between_runs, Aggregation aggregation) {
  DifferenceNoise noise;
  if (const size_t pairs = Interleaved(baseline, candidate)) {
    noise.drawn = DifferenceNoise::Drawn::kPairs;
    noise.baseline_draws = noise.candidate_draws = pairs;
    noise.shown = NoiseOfPairs(baseline, candidate, pairs, aggregation);
    return noise;
  }
  const SpreadWithinJobs spread(baseline, candidate);
  const double mean_b = MeanOfRuns(baseline), mean_c = MeanOfRuns(candidate);
  const JobDraws before = ByJob(baseline, spread, ScaleOf(mean_b, mean_c, mean_b), aggregation),
                 after = ByJob(candidate, spread, ScaleOf(mean_b, mean_c, mean_c), aggregation);
  const bool one_job = AreOfOneJob(baseline, candidate);
  const Runs drawn_before = one_job ? baseline : Runs(before.runs),
             drawn_after = one_job ? candidate : Runs(after.runs);
  const bool are_runs = before.runs.size() == baseline.size() && after.runs.size() == candidate.size();
  noise.drawn = one_job || are_runs ? DifferenceNoise::Drawn::kRuns : DifferenceNoise::Drawn::kJobs;
  noise.baseline_draws = drawn_before.size();
  noise.candidate_draws = drawn_after.size();
  if (std::max(drawn_before.size(), drawn_after.size()) >= kFewestRuns)
    noise.shown = NoiseOfDraws(drawn_before, drawn_after, aggregation);
  if (!noise.shown || between_runs.source != RunNoise::Source::kAssumed)
    noise.given = NoiseAsGiven(baseline, candidate, before, after, spread, between_runs, aggregation);
  return noise;
}

}  // namespace dladvisor
