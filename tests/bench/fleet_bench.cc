// SPDX-License-Identifier: Apache-2.0
// ./dev bench fleet [RANKS]: the report of a job of many ranks with 50 steps of 903 kernels, 192 ranks by
// default, of which the start of mpirun takes little; 960 is the case of the slides (43 M kernels, 4 GB).
// Then, with MPI, two processes of one core each against one, which must write the same bytes; then how often
// causes of lateness are named rightly, by how much of the step they cost.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/base/error.h"
#include "examples/data-parallel/exports.h"
#include "tests/bench/bench.h"
#include "tests/bench/child.h"
#include "tests/fleet/planted_job.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using example::Cause;

constexpr int kGpusPerNode = 8, kSeeds = 100;

example::JobOptions Options(int64_t ranks) {
  example::JobOptions options;
  options.gpus_per_node = kGpusPerNode;
  options.nodes = static_cast<int>(ranks / kGpusPerNode);
  options.steps = 50;
  options.kernels = 903;
  example::Plant plant;
  plant.cause = Cause::kLaunches;
  plant.rank = ranks * 2 / 5;
  plant.last_step = options.steps - 1;
  plant.first_kernel = options.kernels / 9;
  plant.last_kernel = options.kernels * 5 / 9;
  options.plants = {plant};
  return options;
}

#ifdef DLADVISOR_WITH_MPI
std::string Content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Seconds of the report by `processes`, each on one core.
double MeasureMpi(int processes, const fs::path& runs, const fs::path& output) {
  const std::string command =
      fmt::format("mpirun --allow-run-as-root --bind-to core -n {} '{}' report --mpi '{}' -o '{}'", processes,
                  fs::read_symlink("/proc/self/exe").string(), runs.string(), output.string());
  return BestOf(2, [&] {
    if (std::system(command.c_str()) != 0) throw Error("bench", "mpirun failed: " + command);
  });
}
#endif

void MeasurePower() {
  fmt::print(
      "Causes named rightly, and nothing else, in {} jobs of 8 ranks and 16 steps, by share of the step\n",
      kSeeds);
  const double shares[] = {0.005, 0.01, 0.015, 0.02, 0.03, 0.05};
  fmt::print("{:<16}", "");
  for (const double share : shares) fmt::print("{:>8.1f} %", 100 * share);
  for (const Cause cause : {Cause::kLaunches, Cause::kSlowGpu, Cause::kSlowLink, Cause::kLargeInput}) {
    fmt::print("\n{:<16}", test::RuleOf(cause));
    for (const double share : shares) fmt::print("{:>10}", test::CountRight(cause, share, kSeeds));
    std::fflush(stdout);
  }
  fmt::print("\n{:<16}{:>10} without a false alarm\n", "no cause", test::CountRight(Cause::kNone, 0, kSeeds));
}

}  // namespace

void MeasureFleet(const fs::path& folder, int64_t ranks) {
  ranks = std::max<int64_t>(ranks / kGpusPerNode, 2) * kGpusPerNode;
  const fs::path runs = folder / "runs", half = folder / "half";
  const example::Job job(Options(ranks));
  example::WriteJob(job, runs, example::DefaultNsysSchema());
  fs::create_directories(half);
  for (int64_t rank = 0; rank < ranks / 2; ++rank) {
    const std::string name = fmt::format("job_{}_{}.sqlite", rank / kGpusPerNode, rank % kGpusPerNode);
    fs::create_symlink(runs / name, half / name);
  }
  const ChildRun of_half = RunChild({"report", half.string(), "-o", (folder / "half.html").string()});
  const ChildRun all = RunChild({"report", runs.string(), "-o", (folder / "all.html").string()});
  const int64_t kernels = ranks * job.options().steps * job.options().kernels;
  fmt::print(
      "{:>11} kernels of {} ranks  report {:.2f} s, {:.0f} ns a kernel, {:.2f} times that of half of the "
      "ranks  "
      "peak anonymous memory {:.0f} MB, {:.2f} times\n",
      kernels, ranks, all.seconds, all.seconds * 1e9 / static_cast<double>(kernels),
      all.seconds / of_half.seconds, all.peak_anonymous_mb,
      all.peak_anonymous_mb / of_half.peak_anonymous_mb);
  std::fflush(stdout);
#ifdef DLADVISOR_WITH_MPI
  const double one = MeasureMpi(1, runs, folder / "one.html"), two = MeasureMpi(2, runs, folder / "two.html");
  const bool same = Content(folder / "one.html") == Content(folder / "two.html");
  fmt::print("{:>11} processes of one core  one {:.2f} s  two {:.2f} s, {:.2f} times as fast, {} bytes\n", "",
             one, two, one / two, same ? "the same" : "OTHER");
#else
  fmt::print("{:>11} without MPI: two processes are not measured (install openmpi-bin and libopenmpi-dev)\n",
             "");
#endif
  MeasurePower();
}

}  // namespace dladvisor
