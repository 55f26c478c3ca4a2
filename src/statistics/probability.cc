// SPDX-License-Identifier: Apache-2.0
#include "src/statistics/probability.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace dladvisor {
namespace {

namespace math = boost::math;

// NaN and infinity where something is undefined, as the standard library gives them, instead of exceptions.
using Policy = math::policies::policy<math::policies::domain_error<math::policies::ignore_error>,
                                      math::policies::pole_error<math::policies::ignore_error>,
                                      math::policies::overflow_error<math::policies::ignore_error>,
                                      math::policies::evaluation_error<math::policies::ignore_error>,
                                      math::policies::promote_double<false>>;
using Student = math::students_t_distribution<double, Policy>;
using Normal = math::normal_distribution<double, Policy>;
using ChiSquare = math::chi_squared_distribution<double, Policy>;
using Binomial = math::binomial_distribution<double, Policy>;

}  // namespace

double StudentTail(double t, double degrees) {
  if (std::isinf(degrees)) return math::cdf(math::complement(Normal(), t));
  return math::cdf(math::complement(Student(degrees), t));
}

double StudentQuantile(double tail, double degrees) {
  if (tail >= 0.5) return 0;
  if (std::isinf(degrees)) return math::quantile(math::complement(Normal(), tail));
  return math::quantile(math::complement(Student(degrees), tail));
}

double ChiSquareQuantile(double share, double degrees) { return math::quantile(ChiSquare(degrees), share); }

double BinomialTail(int64_t n, int64_t k, double p) {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  return math::cdf(math::complement(Binomial(static_cast<double>(n), p), static_cast<double>(k - 1)));
}

double BinomialTailBound(int64_t n, int64_t k, double p) {
  const auto count = static_cast<double>(n), hits = static_cast<double>(k), misses = count - hits;
  if (misses <= 0) return std::pow(p, count);
  const double divergence =
      hits * std::log(hits / (count * p)) + misses * std::log(misses / (count * (1 - p)));
  return std::exp(-divergence) / std::sqrt(8 * hits * misses / count);
}

}  // namespace dladvisor
