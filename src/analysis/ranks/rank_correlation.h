// SPDX-License-Identifier: Apache-2.0
// Whether two quantities rise and fall together, whatever their scale: Spearman's rank correlation.
#pragma once

#include <optional>
#include <span>

namespace dladvisor {

struct RankCorrelation {
  double rho = 0;          // from -1 to 1
  double probability = 1;  // two-sided, that chance alone gives one as far from 0
};

// Of pairs x[i], y[i]; equal values share the mean of their ranks. Nothing for fewer than 4 pairs, or where
// one of both never changes. The probability is by Student's t with n - 2 degrees of freedom, as
// scipy.stats.spearmanr gives it; it takes the pairs for independent of each other.
std::optional<RankCorrelation> Spearman(std::span<const double> x, std::span<const double> y);

}  // namespace dladvisor
