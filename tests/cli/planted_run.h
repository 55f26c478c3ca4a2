// SPDX-License-Identifier: Apache-2.0
// Runs of one program, for what compares them.
#pragma once

#include <cstdint>
#include <filesystem>

#include "examples/data-parallel/exports.h"

namespace dladvisor::test {

struct RunSize {
  int gpus = 2, steps = 24, kernels = 60;
};

// A run of the program number 1; of `share` > 0 its second rank launches late for that part of each step.
inline void WriteRun(const std::filesystem::path& folder, uint64_t seed, double share = 0,
                     const RunSize& size = {}) {
  example::JobOptions options;
  options.nodes = 1;
  options.gpus_per_node = size.gpus;
  options.steps = size.steps;
  options.kernels = size.kernels;
  options.seed = seed;
  options.program = 1;
  if (share > 0) {
    example::Plant plant;
    plant.cause = example::Cause::kLaunches;
    plant.rank = 1;
    plant.last_step = options.steps - 1;
    plant.share = share;
    plant.first_kernel = 7;
    plant.last_kernel = 33;
    options.plants = {plant};
  }
  example::WriteJob(example::Job(options), folder, example::DefaultNsysSchema());
}

}  // namespace dladvisor::test
