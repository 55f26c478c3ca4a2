// SPDX-License-Identifier: Apache-2.0
#include "tests/gate/simulated_runs.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "src/gate/judge/trend.h"
#include "src/gate/model/history.h"

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
    run.likely_variance *= (1 + share) * (1 + share);
    run.of_longest *= 1 + share;
    run.tail_excess *= 1 + share;
    run.tail_difference *= 1 + share;
  }
  return slowed;
}

namespace {

constexpr int64_t kDayNs = 86'400'000'000'000, kPauseNs = 300'000'000'000;

// A job that takes one run after the other.
class SimulatedJob {
 public:
  SimulatedJob(const StepNoise& noise, const RunEffects& effects, size_t number, size_t steps, Random& random)
      : noise_(noise), effects_(effects), number_(number), steps_(steps), random_(random) {
    factor_ = 1 + effects.job_sd * normal_(random_);
    now_ = std::uniform_int_distribution<int64_t>(0, kDayNs - 1)(random_);
  }

  SimulatedRun Run() {
    const double drift = effects_.drift * std::sin(2 * std::numbers::pi * static_cast<double>(now_) / kDayNs);
    const double factor = std::max(0.05, factor_ + drift + effects_.run_sd * normal_(random_));
    SimulatedRun run{noise_.draw(random_, steps_), now_, number_};
    for (double& step : run.steps) step *= factor;
    now_ += kPauseNs;
    return run;
  }

 private:
  const StepNoise& noise_;
  const RunEffects& effects_;
  const size_t number_, steps_;
  Random& random_;
  std::normal_distribution<double> normal_;
  double factor_ = 1;
  int64_t now_ = 0;
};

}  // namespace

SimulatedRuns DrawJobs(const StepNoise& noise, const RunEffects& effects, size_t jobs, size_t runs,
                       size_t steps, size_t first_job, Random& random) {
  SimulatedRuns drawn;
  for (size_t j = 0; j < jobs; ++j) {
    SimulatedJob job(noise, effects, first_job + j, steps, random);
    for (size_t r = 0; r < runs; ++r) drawn.push_back(job.Run());
  }
  return drawn;
}

std::pair<SimulatedRuns, SimulatedRuns> DrawTurns(const StepNoise& noise, const RunEffects& effects,
                                                  size_t pairs, size_t steps, Random& random) {
  std::pair<SimulatedRuns, SimulatedRuns> sides;
  SimulatedJob job(noise, effects, 0, steps, random);
  for (size_t i = 0; i < 2 * pairs; ++i) {
    const bool is_candidate = (i % 4 == 1) || (i % 4 == 2);
    (is_candidate ? sides.second : sides.first).push_back(job.Run());
  }
  return sides;
}

std::vector<Steps> StepsOf(const SimulatedRuns& runs) {
  std::vector<Steps> steps;
  for (const SimulatedRun& run : runs) steps.push_back(run.steps);
  return steps;
}

std::vector<RunMean> MeansOf(const SimulatedRuns& runs) {
  std::vector<RunMean> means;
  for (const SimulatedRun& run : runs) {
    RunMean& mean = means.emplace_back(MeanOfSteps(run.steps));
    mean.start_utc_ns = run.start_utc_ns;
    mean.job = run.job;
  }
  return means;
}

std::vector<double> CorrelatedRuns(size_t runs, double correlation, double sd, Random& random) {
  std::normal_distribution<double> normal;
  double state = normal(random);
  std::vector<double> factors;
  for (size_t i = 0; i < runs; ++i) {
    factors.push_back(std::max(0.05, 1 + sd * state));
    state = correlation * state + std::sqrt(1 - correlation * correlation) * normal(random);
  }
  return factors;
}

std::optional<RunNoise> LearnFrom(std::span<const double> means) {
  std::vector<HistoryRun> history;
  for (const double mean : means)
    history.emplace_back().values["step.time"] = {"Step time", Unit::kNanoseconds, mean};
  return LearnNoise(history, "", "step.time");
}

}  // namespace dladvisor::test
