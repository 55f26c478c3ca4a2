// SPDX-License-Identifier: Apache-2.0
// The rules by which other tools call a change a regression, on the steps of all runs of a side.
#pragma once

#include <span>
#include <vector>

namespace dladvisor {

// The steps of all runs of a side, sorted.
class PooledSteps {
 public:
  explicit PooledSteps(std::span<const std::vector<double>> runs);

  double mean() const { return mean_; }
  double median() const;
  const std::vector<double>& sorted() const { return sorted_; }
  // All of them made longer by a share.
  PooledSteps Slowed(double share) const;

 private:
  PooledSteps() = default;

  std::vector<double> sorted_;
  double mean_ = 0;
};

// Two-sided p of the U-test (Mann and Whitney 1947), by its normal limit, corrected for ties.
double MannWhitney(const PooledSteps& baseline, const PooledSteps& candidate);

// The mean is more than a twentieth longer.
bool RegressedByThreshold(const PooledSteps& baseline, const PooledSteps& candidate);
// Google Benchmark's compare.py: the U-test at 0.05.
bool RegressedByGoogleBenchmark(const PooledSteps& baseline, const PooledSteps& candidate);
// asv compare: the median is more than a tenth longer, and the U-test at 0.002.
bool RegressedByAsv(const PooledSteps& baseline, const PooledSteps& candidate);

}  // namespace dladvisor
