// SPDX-License-Identifier: Apache-2.0
// Runs of a training whose noise is known: how steps vary within a run, and how much runs differ.
#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <string>
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

// What so many earlier runs show.
RunNoise LearnFrom(std::span<const RunMean> runs);

}  // namespace dladvisor::test
