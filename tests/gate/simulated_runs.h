// SPDX-License-Identifier: Apache-2.0
// Runs of a training whose noise is known: how steps vary within a run, and how much runs differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/gate/compare/comparison.h"

namespace dladvisor::test {

using Random = std::mt19937_64;

// Steps of one run; their mean over many runs is the same. Steps are about 1 long where nothing else is said.
struct StepNoise {
  std::string name;
  std::function<std::vector<double>(Random&, size_t steps)> draw;
};

StepNoise IndependentNoise(double sd);
// Each step depends on the one before (AR(1)).
StepNoise AutoregressiveNoise(double correlation, double sd);
// Lognormal, and in 2 of 100 steps a spike whose variance is infinite (Pareto).
StepNoise SpikyNoise();
// Student's t with 2 degrees of freedom: no variance either.
StepNoise HeavyTailedNoise();
// Of a recorded series, by blocks of ten steps from anywhere, which keep its serial correlation (Kunsch
// 1989).
StepNoise ResampledNoise(std::string name, std::vector<double> series);

using Steps = std::vector<double>;

// Runs of so many steps each, which differ by a normal factor of that sd.
std::vector<Steps> DrawRuns(const StepNoise& noise, double run_sd, size_t runs, size_t steps, Random& random);

std::vector<RunMean> MeansOf(std::span<const Steps> runs);

// The runs' steps, each made longer by a share.
std::vector<Steps> Slowed(std::span<const Steps> runs, double share);
// The same of means of runs.
std::vector<RunMean> Slowed(std::span<const RunMean> runs, double share);

// How much runs of a program differ, as shares of their length: clocks, placement and neighbours of a job,
// which its runs have in common; each run by itself; and a drift over the day, a sine of that height.
struct RunEffects {
  double job_sd = 0, run_sd = 0, drift = 0;
};

struct SimulatedRun {
  Steps steps;
  int64_t start_utc_ns = 0;
  size_t job = 0;
};
using SimulatedRuns = std::vector<SimulatedRun>;

// Jobs at any time of a day, in each of which `runs` runs follow each other, five minutes apart. Their
// numbers begin with `first_job`.
SimulatedRuns DrawJobs(const StepNoise& noise, const RunEffects& effects, size_t jobs, size_t runs,
                       size_t steps, size_t first_job, Random& random);
// The runs of both sides in turns, A B B A A B ..., in one job.
std::pair<SimulatedRuns, SimulatedRuns> DrawTurns(const StepNoise& noise, const RunEffects& effects,
                                                  size_t pairs, size_t steps, Random& random);

std::vector<Steps> StepsOf(const SimulatedRuns& runs);
std::vector<RunMean> MeansOf(const SimulatedRuns& runs);

// Factors of runs one after the other that depend on the one before (AR(1)), around 1.
std::vector<double> CorrelatedRuns(size_t runs, double correlation, double sd, Random& random);

// What a history of so many earlier runs shows; nothing where they are too few.
std::optional<RunNoise> LearnFrom(std::span<const double> means);

}  // namespace dladvisor::test
