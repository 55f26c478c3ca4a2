// What tables tell of many values: count, mean, deviation, least, most and quartiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace dladvisor {

struct Distribution {
  int64_t count = 0;
  std::optional<double> mean, stddev;  // the deviation is of a sample: unknown for one value
  // A quartile between two values is interpolated linearly.
  std::optional<double> min, q25, median, q75, max;
};

// Reorders the values, which need no order.
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
  auto from = values.begin();  // what is before it is no greater than what follows
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = values.begin() + static_cast<std::ptrdiff_t>(at);
    std::nth_element(from, below, values.end());
    from = below;
    const auto low = static_cast<double>(*below);
    if (below + 1 == values.end()) return low;
    const auto high = static_cast<double>(*std::min_element(below + 1, values.end()));
    return low + (high - low) * (at - std::floor(at));
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
  const auto nth = [&](int64_t n) {
    for (const auto& [value, times] : histogram)
      if ((n -= times) < 0) return static_cast<double>(value);
    return static_cast<double>(histogram.rbegin()->first);
  };
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(d.count - 1);
    const auto below = static_cast<int64_t>(at);
    const double low = nth(below);
    return low + (nth(below + 1) - low) * (at - std::floor(at));
  };
  d.min = quantile(0);
  d.q25 = quantile(0.25);
  d.median = quantile(0.5);
  d.q75 = quantile(0.75);
  d.max = quantile(1);
  return d;
}

}  // namespace dladvisor
