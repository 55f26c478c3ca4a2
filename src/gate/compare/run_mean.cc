// SPDX-License-Identifier: Apache-2.0
#include "src/gate/compare/run_mean.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace dladvisor {
namespace {

// Dependence over more steps is not looked for, so that the time stays in proportion to the steps.
constexpr size_t kLongestLag = 1000;

constexpr size_t kStepsForOneOfTail = 10, kFewestOfTail = 2;

double NormalDensity(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double NormalShare(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

// By how much correlation of neighbours makes the variance of a mean larger (of AR(1)).
double Inflation(double correlation) { return (1 + correlation) / (1 - correlation); }

// Sum of the products of deviations from the mean that are `lag` apart, over the number of steps.
double Autocovariance(std::span<const double> steps, double mean, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < steps.size(); ++i) sum += (steps[i] - mean) * (steps[i - lag] - mean);
  return sum / static_cast<double>(steps.size());
}

void MeasureTail(std::span<const double> steps, RunMean& run) {
  std::vector<double> deviations;
  for (const double step : steps) deviations.push_back(std::abs(step - run.mean));
  const size_t count = std::max(kFewestOfTail, steps.size() / kStepsForOneOfTail);
  std::ranges::partial_sort(deviations, deviations.begin() + static_cast<int64_t>(count) + 1, std::greater());
  run.of_longest = deviations[0] / static_cast<double>(steps.size());
  const double n = static_cast<double>(count), next = deviations[count];
  for (size_t i = 0; i < count; ++i) {
    const double excess = deviations[i] - next;
    run.tail_excess += excess / n;
    run.tail_difference += 2 * (n - 1 - 2 * static_cast<double>(i)) * excess / n / (n - 1);
  }
}

}  // namespace

RunMean MeanOfSteps(std::span<const double> steps) {
  RunMean run;
  run.steps = steps.size();
  if (steps.empty()) {
    run.mean = run.variance = std::numeric_limits<double>::quiet_NaN();
    return run;
  }
  const double n = static_cast<double>(steps.size());
  // From the first one, so that equal steps have no deviation at all.
  double sum = 0;
  for (const double step : steps) sum += step - steps[0];
  run.mean = steps[0] + sum / n;
  run.independent_steps = n;
  if (steps.size() < kFewestSteps) {
    run.variance = std::numeric_limits<double>::infinity();
    return run;
  }
  const double of_steps = Autocovariance(steps, run.mean, 0), if_independent = of_steps / (n - 1);
  run.degrees = run.likely_degrees = n - 1;
  run.variance = if_independent;
  if (!(of_steps > 0)) return run;

  // What the variance would be if steps depended on the one before alone.
  const double estimate = (n * Autocovariance(steps, run.mean, 1) / of_steps + 1) / (n - 4);
  const double correlation = std::clamp(estimate, 0.0, 1 - 2 / n);
  const double of_first_order = std::min(if_independent * Inflation(correlation), of_steps);

  // Deviations are from the run's own mean, so that autocovariances are too small by about its variance; the
  // sum of those up to `last` loses the share `lost` of itself.
  double autocovariances = of_steps, last = 0;
  for (size_t lag = 1; lag < std::min(steps.size() / 2, kLongestLag); lag += 2) {
    const double odd = Autocovariance(steps, run.mean, lag);
    const double even = Autocovariance(steps, run.mean, lag + 1);
    if (odd + of_first_order <= 0 || odd + even + 2 * of_first_order <= 0) break;
    autocovariances += 2 * (odd + even);
    last = static_cast<double>(lag + 1);
  }
  const double lost = (2 * last + 1) / n - last * (last + 1) / (n * n);
  run.variance = std::max({autocovariances / n / (1 - lost), of_first_order, if_independent});
  run.independent_steps = n * if_independent / run.variance;
  run.degrees = std::max(kFewestDegrees, std::min(run.independent_steps, n / (last + 1)) - 1);

  // The correlation is normal around its estimate and not negative, as that of steps seldom is. What follows
  // from its error for the variance, and how sure that is: of AR(1), whose innovations' variance is estimated
  // apart from it, and by the number of autocovariances (Priestley 1981, 6.2.4).
  const double error = std::sqrt((1 - correlation * correlation) / n), z = estimate / error;
  const double likely = std::min(estimate + error * NormalDensity(z) / NormalShare(z), 1 - 2 / n);
  run.likely_variance =
      std::max(run.variance, std::min(if_independent * Inflation(std::max(likely, 0.0)), of_steps));
  run.likely_degrees =
      std::max(kFewestLikelyDegrees,
               std::min({run.degrees, n / (2 * last + 1), n / (1 + 2 * Inflation(correlation))}));
  MeasureTail(steps, run);
  return run;
}

}  // namespace dladvisor
