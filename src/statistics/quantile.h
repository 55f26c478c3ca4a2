// SPDX-License-Identifier: Apache-2.0
// Order statistics, each with one meaning. They reorder the values that they are given, which are at least
// one, and none of them NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <ranges>

namespace dladvisor {

// The standard deviation of a normal distribution over its median absolute deviation.
inline constexpr double kDeviationPerMad = 1.4826;

// A quantile of `count` values of which nth(i) is the i-th in order, from 0: interpolated linearly between
// the two that are nearest (Hyndman and Fan 1996, type 7; the default of R and NumPy).
template <class Nth>
double QuantileOf(size_t count, double share, Nth&& nth) {
  const double at = share * static_cast<double>(count - 1);
  const auto below = static_cast<size_t>(at);
  const auto low = static_cast<double>(nth(below));
  if (below + 1 >= count || at == std::floor(at)) return low;
  const auto high = static_cast<double>(nth(below + 1));
  return low == high ? low : low + (high - low) * (at - std::floor(at));
}

// The i-th value in order, for rising i, where each may also be the one before the last.
template <std::ranges::random_access_range R>
auto NthOf(R& values) {
  return [&values, placed = std::ranges::begin(values)](size_t i) mutable {
    const auto at = std::ranges::begin(values) + static_cast<std::ptrdiff_t>(i);
    if (at >= placed) {
      std::nth_element(placed, at, std::ranges::end(values));
      placed = at;
    }
    return *at;
  };
}

// The value that `share` of the values are not above: 0 gives the least, 1 the greatest.
template <std::ranges::random_access_range R>
double Quantile(R&& values, double share) {
  return QuantileOf(std::ranges::size(values), share, NthOf(values));
}

// The middle value; of an even number of values, the mean of the middle two.
template <std::ranges::random_access_range R>
double Median(R&& values) {
  return Quantile(values, 0.5);
}

// The same of integers that a double need not hold exactly, as times since 1970 in ns, rounded down.
template <std::ranges::random_access_range R>
requires std::integral<std::ranges::range_value_t<R>> std::ranges::range_value_t<R> IntegerMedian(
    R&& values) {
  const size_t count = std::ranges::size(values);
  auto nth = NthOf(values);
  const auto low = nth((count - 1) / 2);
  return count % 2 == 1 ? low : std::midpoint(low, nth(count / 2));
}

// The median of the distances from the median. The values become those distances.
template <std::ranges::random_access_range R>
double MedianAbsoluteDeviation(R&& values) {
  const double median = Median(values);
  for (auto& value : values) value = std::abs(value - median);
  return Median(values);
}

}  // namespace dladvisor
