// SPDX-License-Identifier: Apache-2.0
// What tables have of many values: count, mean, deviation, least, most and quartiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/statistics/quantile.h"

namespace dladvisor {

struct Distribution {
  int64_t count = 0;
  std::optional<double> mean, stddev;  // the deviation is of a sample: unknown for one value
  // See quantile.h.
  std::optional<double> min, q25, median, q75, max;
};

template <class T>
Distribution Describe(std::vector<T> values) {
  Distribution d;
  d.count = static_cast<int64_t>(values.size());
  if (values.empty()) return d;
  double sum = 0, squares = 0;
  for (const T v : values) sum += static_cast<double>(v);
  d.mean = sum / static_cast<double>(values.size());
  for (const T v : values) squares += (static_cast<double>(v) - *d.mean) * (static_cast<double>(v) - *d.mean);
  if (values.size() > 1) d.stddev = std::sqrt(squares / static_cast<double>(values.size() - 1));
  auto quantile = [&, nth = NthOf(values)](double share) mutable {
    return QuantileOf(values.size(), share, nth);
  };
  d.min = quantile(0);
  d.q25 = quantile(0.25);
  d.median = quantile(0.5);
  d.q75 = quantile(0.75);
  d.max = quantile(1);
  return d;
}

// The same of values that come many times each: value -> times.
inline Distribution Describe(const std::map<int64_t, int64_t>& histogram) {
  Distribution d;
  double sum = 0, squares = 0;
  for (const auto& [value, times] : histogram) {
    d.count += times;
    sum += static_cast<double>(value) * static_cast<double>(times);
  }
  if (d.count == 0) return d;
  d.mean = sum / static_cast<double>(d.count);
  for (const auto& [value, times] : histogram)
    squares += (static_cast<double>(value) - *d.mean) * (static_cast<double>(value) - *d.mean) *
               static_cast<double>(times);
  if (d.count > 1) d.stddev = std::sqrt(squares / static_cast<double>(d.count - 1));
  const auto nth = [&](size_t i) {
    auto left = static_cast<int64_t>(i);
    for (const auto& [value, times] : histogram)
      if ((left -= times) < 0) return value;
    return histogram.rbegin()->first;
  };
  const auto quantile = [&](double share) { return QuantileOf(static_cast<size_t>(d.count), share, nth); };
  d.min = quantile(0);
  d.q25 = quantile(0.25);
  d.median = quantile(0.5);
  d.q75 = quantile(0.75);
  d.max = quantile(1);
  return d;
}

}  // namespace dladvisor
