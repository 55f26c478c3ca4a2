// SPDX-License-Identifier: Apache-2.0
// Tails and quantiles of distributions, by Boost.Math.
#pragma once

#include <cstdint>

namespace dladvisor {

// P(T > t) for Student's t. `degrees` of freedom are above 0 and need not be whole; infinity is the normal
// distribution.
double StudentTail(double t, double degrees);

// The t that is exceeded with probability `tail`, which is above 0 and at most 0.5.
double StudentQuantile(double tail, double degrees);

// The value that chi-square with so many degrees of freedom is below with probability `share`.
double ChiSquareQuantile(double share, double degrees);

// P(X >= k) for X ~ Binomial(n, p).
double BinomialTail(int64_t n, int64_t k, double p);

// A lower bound of that, for n p < k <= n and 0 < p < 1, within a factor of three where k is not near n p
// (Ash 1965, Information Theory, lemma 4.7.2). It takes two logarithms, and so a small part of the time of
// the tail itself.
double BinomialTailBound(int64_t n, int64_t k, double p);

}  // namespace dladvisor
