// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/other_gates.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dladvisor {

PooledSteps::PooledSteps(std::span<const std::vector<double>> runs) {
  for (const std::vector<double>& steps : runs) sorted_.insert(sorted_.end(), steps.begin(), steps.end());
  std::ranges::sort(sorted_);
  for (const double step : sorted_) mean_ += step / static_cast<double>(sorted_.size());
}

double PooledSteps::median() const {
  const size_t half = sorted_.size() / 2;
  return sorted_.size() % 2 ? sorted_[half] : (sorted_[half - 1] + sorted_[half]) / 2;
}

PooledSteps PooledSteps::Slowed(double share) const {
  PooledSteps slowed = *this;
  slowed.mean_ *= 1 + share;
  for (double& step : slowed.sorted_) step *= 1 + share;
  return slowed;
}

double MannWhitney(const PooledSteps& baseline, const PooledSteps& candidate) {
  const std::vector<double>&a = baseline.sorted(), &b = candidate.sorted();
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  double rank_sum = 0, ties = 0, before = 0;  // ranks of `a`; steps before the tied ones
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const double value = j == b.size() || (i < a.size() && a[i] < b[j]) ? a[i] : b[j];
    double of_a = 0, of_b = 0;
    for (; i < a.size() && a[i] == value; ++i) ++of_a;
    for (; j < b.size() && b[j] == value; ++j) ++of_b;
    const double tied = of_a + of_b;
    rank_sum += of_a * (before + (tied + 1) / 2);
    ties += tied * tied * tied - tied;
    before += tied;
  }
  const double u = rank_sum - na * (na + 1) / 2;
  const double sd = std::sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
  if (!(sd > 0)) return 1;
  const double z = std::max(0.0, std::abs(u - na * nb / 2) - 0.5) / sd;
  return std::erfc(z / std::numbers::sqrt2);
}

bool RegressedByThreshold(const PooledSteps& baseline, const PooledSteps& candidate) {
  return candidate.mean() > 1.05 * baseline.mean();
}

bool RegressedByGoogleBenchmark(const PooledSteps& baseline, const PooledSteps& candidate) {
  return candidate.median() > baseline.median() && MannWhitney(baseline, candidate) < 0.05;
}

bool RegressedByAsv(const PooledSteps& baseline, const PooledSteps& candidate) {
  return candidate.median() > 1.1 * baseline.median() && MannWhitney(baseline, candidate) < 0.002;
}

}  // namespace dladvisor
