// SPDX-License-Identifier: Apache-2.0
#include "tests/gate/simulated_runs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dladvisor::test {

StepNoise IndependentNoise(double sd) { return AutoregressiveNoise(0, sd); }

StepNoise AutoregressiveNoise(double correlation, double sd) {
  return {"AR(1) " + std::to_string(correlation).substr(0, 3), [=](Random& random, size_t steps) {
            std::normal_distribution<double> normal;
            const double innovation = std::sqrt(1 - correlation * correlation);
            double state = normal(random);
            Steps series(steps);
            for (double& step : series) {
              step = std::max(0.05, 1 + sd * state);
              state = correlation * state + innovation * normal(random);
            }
            return series;
          }};
}

StepNoise SpikyNoise() {
  return {"lognormal, Pareto spikes", [](Random& random, size_t steps) {
            std::lognormal_distribution<double> usual(0, 0.05);
            std::uniform_real_distribution<double> uniform;
            Steps series(steps);
            for (double& step : series) {
              step = usual(random);
              if (uniform(random) < 0.02) step += 0.5 * std::pow(1 - uniform(random), -1 / 1.5);
            }
            return series;
          }};
}

StepNoise HeavyTailedNoise() {
  return {"Student t, 2 degrees", [](Random& random, size_t steps) {
            std::student_t_distribution<double> heavy(2);
            Steps series(steps);
            for (double& step : series) step = std::max(0.05, 1 + 0.03 * heavy(random));
            return series;
          }};
}

StepNoise ResampledNoise(std::string name, std::vector<double> series) {
  return {std::move(name), [series = std::move(series)](Random& random, size_t steps) {
            const size_t block = std::min<size_t>(10, series.size());
            // Blocks go over the end to the beginning, so that all steps are as frequent.
            std::uniform_int_distribution<size_t> any(0, series.size() - 1);
            Steps resampled;
            while (resampled.size() < steps) {
              const size_t start = any(random);
              for (size_t i = 0; i < block && resampled.size() < steps; ++i)
                resampled.push_back(series[(start + i) % series.size()]);
            }
            return resampled;
          }};
}

std::vector<Steps> DrawRuns(const StepNoise& noise, double run_sd, size_t runs, size_t steps,
                            Random& random) {
  std::normal_distribution<double> normal;
  std::vector<Steps> drawn;
  for (size_t run = 0; run < runs; ++run) {
    const double factor = std::max(0.05, 1 + run_sd * normal(random));
    drawn.push_back(noise.draw(random, steps));
    for (double& step : drawn.back()) step *= factor;
  }
  return drawn;
}

std::vector<RunMean> MeansOf(std::span<const Steps> runs) {
  std::vector<RunMean> means;
  for (const Steps& steps : runs) means.push_back(MeanOfSteps(steps));
  return means;
}

std::vector<Steps> Slowed(std::span<const Steps> runs, double share) {
  std::vector<Steps> slowed(runs.begin(), runs.end());
  for (Steps& steps : slowed)
    for (double& step : steps) step *= 1 + share;
  return slowed;
}

std::vector<RunMean> Slowed(std::span<const RunMean> runs, double share) {
  std::vector<RunMean> slowed(runs.begin(), runs.end());
  for (RunMean& run : slowed) {
    run.mean *= 1 + share;
    run.variance *= (1 + share) * (1 + share);
  }
  return slowed;
}

RunNoise LearnFrom(std::span<const RunMean> runs) {
  double mean = 0, squares = 0;
  for (const RunMean& run : runs) mean += run.mean / static_cast<double>(runs.size());
  for (const RunMean& run : runs) squares += (run.mean - mean) * (run.mean - mean);
  const double degrees = static_cast<double>(runs.size()) - 1;
  return {RunNoise::Source::kHistory, std::sqrt(squares / degrees) / mean, degrees, runs.size()};
}

}  // namespace dladvisor::test
