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
VarianceSum WithinRuns(Runs runs) {
  VarianceSum within;
  double known = 0;
  for (const RunMean& run : runs) known += std::isfinite(run.variance);
  for (const RunMean& run : runs)
    if (std::isfinite(run.variance)) within.Add(run.variance / known, run.degrees);
  return within;
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
  for (const Runs runs : {baseline, candidate})
    noise.within.Add(Widening(pairs, aggregation) * WithinRuns(runs).sum() / n, WithinRuns(runs).degrees());
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
  for (const Runs runs : {baseline, candidate}) {
    const VarianceSum within = WithinRuns(runs);
    noise.within.Add(Widening(runs.size(), aggregation) / static_cast<double>(runs.size()) * within.sum(),
                     within.degrees());
  }
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

// A run for each job: the mean of its runs, and what noise within and between them makes of it.
std::vector<RunMean> ByJob(Runs runs, Aggregation aggregation) {
  std::vector<std::vector<RunMean>> jobs;
  std::map<size_t, size_t> index;
  for (const RunMean& run : runs) {
    if (!run.job || index.emplace(*run.job, jobs.size()).second)
      jobs.push_back({run});
    else
      jobs[index.at(*run.job)].push_back(run);
  }
  double squares = 0, degrees = 0;
  for (const auto& job : jobs) {
    squares += Squares(job);
    degrees += static_cast<double>(job.size() - 1);
  }
  std::vector<RunMean> draws;
  for (const auto& job : jobs) {
    RunMean& draw = draws.emplace_back(job[0]);
    if (job.size() == 1) continue;
    const VarianceSum within = WithinRuns(job);
    const double spread = squares / degrees;
    draw.mean = MeanOfRuns(job);
    draw.variance =
        Widening(job.size(), aggregation) / static_cast<double>(job.size()) * std::max(spread, within.sum());
    draw.degrees = spread > within.sum() ? degrees : within.degrees();
  }
  return draws;
}

// How many draws of the noise between jobs: not less noise for two than for one, see RunNoise.
double DrawsThatAverage(size_t jobs) { return jobs < kFewestRuns ? 1 : static_cast<double>(jobs); }

// `baseline` and `candidate` have one run for each job; `within_of_runs` is the variance by noise within
// single runs, of both sides.
NoiseEstimate NoiseAsGiven(Runs baseline, Runs candidate, const RunNoise& between, Aggregation aggregation,
                           double within_of_runs) {
  const double wide_b = Widening(baseline.size(), aggregation) / static_cast<double>(baseline.size());
  const double wide_c = Widening(candidate.size(), aggregation) / static_cast<double>(candidate.size());
  const VarianceSum within_b = WithinRuns(baseline), within_c = WithinRuns(candidate);
  NoiseEstimate noise;
  noise.run_sd = between.relative_sd * (std::abs(MeanOfRuns(baseline)) + std::abs(MeanOfRuns(candidate))) / 2;
  const double draws_b = DrawsThatAverage(baseline.size()), draws_c = DrawsThatAverage(candidate.size());
  noise.variance.Add(noise.run_sd * noise.run_sd *
                         (Widening(baseline.size(), aggregation) / draws_b +
                          Widening(candidate.size(), aggregation) / draws_c),
                     between.degrees);
  for (VarianceSum* sum : {&noise.variance, &noise.within}) {
    sum->Add(wide_b * within_b.sum(), within_b.degrees());
    sum->Add(wide_c * within_c.sum(), within_c.degrees());
  }
  if (between.source == RunNoise::Source::kHistory) noise.within_history = within_of_runs;
  noise.offset = std::hypot(noise.run_sd, std::sqrt((within_b.sum() + within_c.sum()) / 2)) *
                 Offset(baseline.size(), candidate.size(), aggregation);
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
  const std::vector<RunMean> before = ByJob(baseline, aggregation), after = ByJob(candidate, aggregation);
  const bool one_job = AreOfOneJob(baseline, candidate);
  const Runs drawn_before = one_job ? baseline : Runs(before),
             drawn_after = one_job ? candidate : Runs(after);
  const bool are_runs = before.size() == baseline.size() && after.size() == candidate.size();
  noise.drawn = one_job || are_runs ? DifferenceNoise::Drawn::kRuns : DifferenceNoise::Drawn::kJobs;
  noise.baseline_draws = drawn_before.size();
  noise.candidate_draws = drawn_after.size();
  if (std::max(drawn_before.size(), drawn_after.size()) >= kFewestRuns)
    noise.shown = NoiseOfDraws(drawn_before, drawn_after, aggregation);
  if (!noise.shown || between_runs.source != RunNoise::Source::kAssumed)
    noise.given = NoiseAsGiven(before, after, between_runs, aggregation,
                               WithinRuns(baseline).sum() + WithinRuns(candidate).sum());
  return noise;
}

}  // namespace dladvisor
