// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/run_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

struct Division {
  size_t low_runs = 0;
  double share = 0;  // of the variance, what is between the parts
};

double SquaresOf(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// REQUIRES: sorted values, of at least two groups.
Division BestDivision(const std::vector<double>& values, const std::vector<double>& others) {
  const auto runs = static_cast<double>(values.size());
  const double total = SquaresOf(values) + SquaresOf(others);
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / runs;
  Division best;
  if (!(total > 0)) return best;
  for (size_t low = 1; low + kFewestOfGroup <= values.size(); ++low) {
    sum += values[low - 1] - mean;
    if (low < kFewestOfGroup) continue;
    const double below = static_cast<double>(low), between = sum * sum * runs / (below * (runs - below));
    if (between / total > best.share) best = {low, between / total};
  }
  return best;
}

bool IsRareOfNormalValues(double share, size_t runs, size_t other_runs, double alpha) {
  std::mt19937_64 random(runs);
  std::normal_distribution<double> normal;
  const auto draws = static_cast<size_t>(std::ceil(4 / std::max(alpha, 0.001)));
  size_t as_clear = 1;  // the one that was observed
  std::vector<double> values(runs), others(other_runs);
  for (size_t i = 1; i < draws; ++i) {
    for (std::vector<double>* side : {&values, &others})
      for (double& value : *side) value = normal(random);
    std::ranges::sort(values);
    as_clear += BestDivision(values, others).share >= share;
    if (static_cast<double>(as_clear) > alpha * static_cast<double>(draws)) return false;
  }
  return true;
}

// Whether each job of several runs lies in one group, and there are several.
bool AreJobs(const std::vector<const RunMean*>& sorted, size_t low_runs) {
  std::map<size_t, std::pair<size_t, size_t>> jobs;  // runs in either group
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i]->job) ++(i < low_runs ? jobs[*sorted[i]->job].first : jobs[*sorted[i]->job].second);
  const auto has_several = [](const auto& job) { return job.second.first + job.second.second > 1; };
  return jobs.size() > 1 && std::ranges::any_of(jobs, has_several) &&
         std::ranges::all_of(jobs, [](const auto& job) { return !job.second.first || !job.second.second; });
}

}  // namespace

std::optional<RunGroups> FindTwoGroups(std::span<const RunMean> runs, std::span<const RunMean> others,
                                       double apart, double alpha) {
  if (runs.size() < 2 * kFewestOfGroup) return std::nullopt;
  std::vector<const RunMean*> sorted;
  for (const RunMean& run : runs) sorted.push_back(&run);
  std::ranges::stable_sort(sorted, {}, [](const RunMean* run) { return run->mean; });
  std::vector<double> values, of_others;
  for (const RunMean* run : sorted) values.push_back(run->mean);
  for (const RunMean& run : others) of_others.push_back(run.mean);
  const Division division = BestDivision(values, of_others);
  if (division.low_runs == 0) return std::nullopt;
  RunGroups groups;
  groups.low_runs = division.low_runs;
  groups.high_runs = runs.size() - division.low_runs;
  groups.end_of_low = values[division.low_runs - 1];
  groups.begin_of_high = values[division.low_runs];
  for (size_t i = 0; i < values.size(); ++i)
    (i < division.low_runs ? groups.low : groups.high) +=
        values[i] / static_cast<double>(i < division.low_runs ? groups.low_runs : groups.high_runs);
  if (groups.high - groups.low <= apart || AreJobs(sorted, division.low_runs)) return std::nullopt;
  if (!IsRareOfNormalValues(division.share, runs.size(), others.size(), alpha)) return std::nullopt;
  return groups;
}

}  // namespace dladvisor
