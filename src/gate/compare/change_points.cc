// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// The mean absolute deviation that the series would have without changes: from the differences of neighbours,
// the largest quarter of which may come from changes and outliers. A quarter and not a half, so that the
// noise of a series that often repeats a value is not 0.
double NoiseOfNeighbours(std::span<const double> series) {
  std::vector<double> differences;
  for (size_t i = 1; i < series.size(); ++i) differences.push_back(std::abs(series[i] - series[i - 1]));
  const size_t kept = (differences.size() * 3 + 3) / 4;
  std::sort(differences.begin(), differences.end());
  const double mean =
      std::accumulate(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(kept), 0.0) /
      static_cast<double>(kept);
  // Of normal noise the mean absolute deviation over that mean.
  constexpr double kOfNormal = 1.096;
  return mean * kOfNormal;
}

// The sum of absolute deviations from the median of a set from which values are taken one by one, in constant
// time each: a list of the values in order, with the place of the lower median in it.
class ShrinkingSet {
 public:
  explicit ShrinkingSet(std::span<const double> series) : size_(series.size()) {
    std::vector<size_t> order(size_);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return series[a] < series[b]; });
    place_.resize(size_);
    value_.resize(size_ + 2);
    next_.resize(size_ + 2);
    previous_.resize(size_ + 2);
    for (size_t i = 0; i < size_; ++i) {
      place_[order[i]] = i + 1;
      value_[i + 1] = series[order[i]];
    }
    for (size_t i = 0; i < size_ + 2; ++i) {
      next_[i] = i + 1;
      previous_[i] = i == 0 ? 0 : i - 1;
    }
    median_ = (size_ + 1) / 2;
    for (size_t i = 1; i <= size_; ++i) (i <= median_ ? low_ : high_) += value_[i];
  }

  // REQUIRES: series[index] is in the set.
  void Remove(size_t index) {
    const size_t place = place_[index];
    next_[previous_[place]] = next_[place];
    previous_[next_[place]] = previous_[place];
    (place <= median_ ? low_ : high_) -= value_[place];
    if (size_ % 2 == 1 && place >= median_) {  // one value too many at or below the median
      const size_t before = previous_[median_];
      if (place != median_) {
        low_ -= value_[median_];
        high_ += value_[median_];
      }
      median_ = before;
    } else if (size_ % 2 == 0 && place <= median_) {  // one too few
      median_ = next_[median_];
      low_ += value_[median_];
      high_ -= value_[median_];
    }
    --size_;
  }

  size_t size() const { return size_; }

  double Deviation() const {
    if (size_ == 0) return 0;
    const size_t at_or_below = (size_ + 1) / 2;
    const double level = value_[median_];
    return std::max(0.0, high_ - low_ + level * static_cast<double>(2 * at_or_below - size_));
  }

 private:
  size_t size_;
  std::vector<size_t> place_;            // of each index, from 1
  std::vector<double> value_;            // by place
  std::vector<size_t> next_, previous_;  // by place
  size_t median_;                        // its place
  double low_ = 0, high_ = 0;            // sum of the values up to the median, and above it
};

}  // namespace

std::vector<LevelSegment> FindLevels(std::span<const double> series) {
  const size_t n = series.size();
  if (n == 0) return {};
  const double middle = Median(std::vector<double>(series.begin(), series.end()));
  if (n < 2 * kShortestLevel) return {{0, n, middle}};

  // Around 0, so that sums of a constant series are exact.
  std::vector<double> centred(n);
  std::transform(series.begin(), series.end(), centred.begin(), [&](double v) { return v - middle; });
  ShrinkingSet rest(centred);

  // A level and its place are two parameters, of which the criterion of Bayes (Schwarz 1978) asks a gain of
  // one logarithm; twice that keeps noise whose tails are not exponential in one piece. The rest is for
  // rounding where there is no noise.
  const double penalty =
      std::max(2 * NoiseOfNeighbours(centred) * std::log(static_cast<double>(n)), 1e-9 * rest.Deviation());

  // Of the first `i` values: the least cost, and where its last segment begins.
  std::vector<double> cost(n + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> begin(n + 1, 0);
  cost[0] = 0;
  for (size_t from = 0; from + kShortestLevel <= n; ++from) {
    if (from > 0) rest.Remove(from - 1);
    if (std::isinf(cost[from])) continue;
    ShrinkingSet segment = rest;
    for (size_t to = n; to >= from + kShortestLevel; --to) {
      if (const double with = cost[from] + segment.Deviation() + penalty; with < cost[to]) {
        cost[to] = with;
        begin[to] = from;
      }
      segment.Remove(to - 1);
    }
  }

  std::vector<LevelSegment> levels;
  for (size_t end = n; end > 0; end = begin[end])
    levels.push_back({begin[end], end,
                      Median(std::vector<double>(series.begin() + static_cast<std::ptrdiff_t>(begin[end]),
                                                 series.begin() + static_cast<std::ptrdiff_t>(end)))});
  std::reverse(levels.begin(), levels.end());
  return levels;
}

}  // namespace dladvisor
