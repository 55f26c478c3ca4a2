// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/simulation_lines.h"

#include <re2/re2.h>

#include <utility>

#include "engine/base/trim.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfSimulation = 200, kMostSimulationParts = 64;
constexpr double kSecondInNs = 1e9, kPercent = 0.01;
constexpr std::string_view kNumber = R"((\d+(?:\.\d*)?(?:e[+-]?\d+)?))";

// "| 9.3995 ".
std::string CellPattern() { return std::string(R"(\s*\|\s*)") + std::string(kNumber); }

}  // namespace

void SimulationLinesReader::Close() {
  table_ = Table::kNone;
  if (run_.parts.empty() || run_.ns <= 0) return;
  if (!longest_ || run_.ns > longest_->ns) longest_ = run_;
}

bool SimulationLinesReader::TakesLammps(std::string_view line) {
  static const RE2 loop(R"(^Loop time of )" + std::string(kNumber) +
                        R"( on \d+ procs(?: \(.*\))? for (\d+) steps with \d+ atoms)"),
      use(R"(^(\d+(?:\.\d+)?)% CPU use with (\d+) MPI tasks? x (\d+|no) OpenMP threads?)"),
      all(R"(^(\w[\w /-]*?))" + CellPattern() + CellPattern() + CellPattern() +
          R"(\s*\|\s*\d+\.\d+\s*\|\s*\d+\.\d+\s*$)"),
      one(R"(^(\w[\w /-]*?)\s*\|)" + CellPattern() + R"(\s*\|\s*\|\s*\|\s*\d+\.\d+\s*$)");
  double seconds = 0, least = 0, most = 0;
  int64_t number = 0;
  std::string name;
  if (line.starts_with("Loop time of ") && RE2::PartialMatch(line, loop, &seconds, &number)) {
    Close();
    run_ = {};
    run_.program = "LAMMPS";
    run_.ns = seconds * kSecondInNs;
    run_.steps = number;
    run_.on_gpu = on_gpu_;
  } else if (RE2::PartialMatch(line, use, &seconds, &number, &name)) {
    run_.tasks = number;
    run_.threads = name == "no" ? 1 : std::strtoll(name.c_str(), nullptr, 10);
    if (run_.threads > 0) run_.busy = seconds * kPercent / static_cast<double>(run_.threads);
  } else if (line.starts_with("Section |") && line.find("%total") != std::string_view::npos) {
    table_ = Table::kTasks;
  } else if (table_ != Table::kTasks || run_.parts.size() >= kMostSimulationParts) {
    return false;
  } else if (SimulationPart part; RE2::FullMatch(line, all, &part.name, &least, &seconds, &most)) {
    part.ns = seconds * kSecondInNs;
    part.least_ns = least * kSecondInNs;
    part.most_ns = most * kSecondInNs;
    run_.parts.push_back(std::move(part));
  } else if (RE2::FullMatch(line, one, &part.name, &seconds)) {
    part.ns = seconds * kSecondInNs;
    run_.parts.push_back(std::move(part));
  } else if (line.find_first_not_of("-") != std::string_view::npos) {
    Close();
    return false;
  }
  return true;
}

bool SimulationLinesReader::TakesGromacs(std::string_view line) {
  static const RE2 steps(R"(^\s*nsteps\s+= (\d+)\s*$)"),
      ranks(R"(^On (\d+) MPI ranks?(?: doing PP)?,? ?(?:each using (\d+) OpenMP threads)?)"),
      row(R"(^ ?(\S.*?)\s{2,}(?:\d+\s+\d+\s+)?(?:\d+\s+)?(\d+\.\d+)\s+\d+\.\d+\s+(\d+\.\d+)\s*$)"),
      waits(R"(time spent waiting due to load imbalance: (\d+(?:\.\d+)?)\s?%)"),
      lost(R"(^NOTE: (\d+(?:\.\d+)?)\s?% of the available CPU time was lost due to load imbalance)"),
      mesh_waits(R"(time spent waiting due to PP/PME imbalance: (\d+(?:\.\d+)?)\s?%)");
  double seconds = 0, share = 0;
  int64_t threads = 0;
  if (RE2::FullMatch(line, steps, &steps_)) return true;
  if (RE2::PartialMatch(line, waits, &seconds) || RE2::PartialMatch(line, lost, &seconds)) {
    run_.imbalance = seconds * kPercent;
    return true;
  }
  if (RE2::PartialMatch(line, mesh_waits, &seconds)) {
    run_.mesh_imbalance = seconds * kPercent;
    return true;
  }
  if (line.find("R E A L   C Y C L E   A N D   T I M E") != std::string_view::npos) {
    const SimulationRun before = std::exchange(run_, {});
    run_.program = "GROMACS";
    run_.imbalance = before.imbalance;
    run_.mesh_imbalance = before.mesh_imbalance;
    run_.steps = steps_;
    run_.on_gpu = on_gpu_;
    table_ = Table::kCycles;
    return true;
  }
  if (table_ != Table::kCycles || run_.parts.size() >= kMostSimulationParts) return false;
  if (std::string number; RE2::PartialMatch(line, ranks, &run_.tasks, &number)) {
    threads = std::strtoll(number.c_str(), nullptr, 10);
    run_.threads = threads > 0 ? threads : 1;
    return true;
  }
  if (SimulationPart part; RE2::FullMatch(line, row, &part.name, &seconds, &share)) {
    // Of the cycles of all ranks: those for the mesh alone have times of their own.
    part.ns = share * kPercent;
    if (part.name == "Total") {
      run_.ns = seconds * kSecondInNs;
      for (SimulationPart& each : run_.parts) each.ns *= run_.ns;
      Close();
    } else {
      if (part.name.ends_with(" *")) part.name.resize(part.name.size() - 2);
      // Steps of a GPU's work that the processors wait for or launch.
      if (part.name.find("GPU") != std::string::npos) run_.on_gpu = true;
      run_.parts.push_back(std::move(part));
    }
    return true;
  }
  return true;
}

bool SimulationLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfSimulation) return false;
  line = TrimAll(line, "\r");
  // "will use up to 1 GPU(s) per node", "Device Time Info (average)", "1 GPU selected for this run"; of
  // LAMMPS' package of its own "- Using acceleration for lj/cut:", "Device 0: NVIDIA A100-SXM4-40GB, 108 CUs,
  // ...".
  static const RE2 gpu(
      R"(will use up to [1-9]\d* GPU\(s\) per node|^Device Time Info|^\d+ GPUs? (?:auto-)?selected for this run|^- +Using acceleration for \S+:|^Device \d+: .+, \d+ CUs\b)");
  const std::string_view inner = TrimAll(line, " ");
  if ((line.find("GPU") != std::string_view::npos || inner.starts_with("Device ") ||
       line.starts_with("-  Using ") || line.starts_with("- Using ")) &&
      RE2::PartialMatch(re2::StringPiece(inner.data(), inner.size()), gpu)) {
    on_gpu_ = true;
    run_.on_gpu = true;
    if (longest_ && inner.starts_with("Device Time")) longest_->on_gpu = true;
    return false;
  }
  return TakesLammps(line) || TakesGromacs(line);
}

std::optional<SimulationRun> SimulationLinesReader::Finish() const {
  SimulationLinesReader all = *this;
  all.Close();
  return all.longest_;
}

}  // namespace dladvisor::benchmark_log
