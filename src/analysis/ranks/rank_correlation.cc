// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

constexpr size_t kFewest = 4;

std::vector<double> RanksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

std::optional<RankCorrelation> Spearman(std::span<const double> x, std::span<const double> y) {
  const size_t n = x.size();
  if (n < kFewest || y.size() != n) return std::nullopt;
  const std::vector<double> a = RanksOf(x), b = RanksOf(y);
  const double mean = static_cast<double>(n - 1) / 2;
  double products = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < n; ++i) {
    products += (a[i] - mean) * (b[i] - mean);
    squares_a += (a[i] - mean) * (a[i] - mean);
    squares_b += (b[i] - mean) * (b[i] - mean);
  }
  if (squares_a <= 0 || squares_b <= 0) return std::nullopt;
  RankCorrelation result;
  result.rho = std::clamp(products / std::sqrt(squares_a * squares_b), -1.0, 1.0);
  const auto degrees = static_cast<double>(n - 2);
  const double rest = 1 - result.rho * result.rho;
  // No order of the pairs is less likely than the one that agrees with the other, or its reverse.
  result.probability = 2 / std::tgamma(static_cast<double>(n + 1));
  if (rest > 0)
    result.probability = std::max(result.probability,
                                  2 * StudentTail(std::abs(result.rho) * std::sqrt(degrees / rest), degrees));
  return result;
}

}  // namespace dladvisor
