// SPDX-License-Identifier: Apache-2.0
// data-parallel [--nodes N] [--steps N] [--kernels N] [--plant CAUSE] [--seed N] -o FOLDER
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "engine/base/error.h"
#include "examples/data-parallel/exports.h"

int main(int argc, char** argv) {
  using namespace dladvisor::example;
  CLI::App app("Writes a simulated data-parallel training job as Nsight Systems exports, one per rank.");
  const std::map<std::string, Cause> causes = {{"none", Cause::kNone},
                                               {"launches", Cause::kLaunches},
                                               {"slow-gpu", Cause::kSlowGpu},
                                               {"slow-link", Cause::kSlowLink},
                                               {"large-input", Cause::kLargeInput}};
  JobOptions options;
  std::string folder;
  int64_t clock_offset_ns = 0;
  std::vector<std::string> plants;
  double share = 0.05;
  int64_t rank = 5;
  app.add_option("--nodes", options.nodes, "Nodes")->check(CLI::Range(1, 10000));
  app.add_option("--gpus", options.gpus_per_node, "GPUs per node")->check(CLI::Range(1, 64));
  app.add_option("--steps", options.steps, "Steps")->check(CLI::Range(1, 100000));
  app.add_option("--kernels", options.kernels, "Kernels of a step, collectives included")
      ->check(CLI::Range(40, 100000));
  app.add_option("--seed", options.seed, "What all is drawn from");
  app.add_option("--program", options.program,
                 "What the program is drawn from; other seeds are then other runs of it");
  app.add_option("--plant", plants, "none, launches, slow-gpu, slow-link or large-input; may be given twice")
      ->check(CLI::IsMember(causes));
  app.add_option("--rank", rank, "The rank that is late; of a second plant half of the ranks further");
  app.add_option("--share", share, "Share of the step that it costs");
  app.add_option("--clock-offset", clock_offset_ns,
                 "How far the clocks of successive nodes are apart, in ns");
  app.add_option("-o,--output", folder, "Folder to write to")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    for (size_t i = 0; i < plants.size(); ++i) {
      Plant plant;
      plant.cause = causes.at(plants[i]);
      plant.rank = (rank + static_cast<int64_t>(i) * options.ranks() / 2) % options.ranks();
      plant.last_step = options.steps - 1;
      plant.share = share;
      plant.first_kernel = options.kernels / 9;
      plant.last_kernel = options.kernels * 5 / 9;
      options.plants.push_back(plant);
    }
    WriteJob(Job(options), folder, DefaultNsysSchema(), clock_offset_ns);
  } catch (const dladvisor::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
