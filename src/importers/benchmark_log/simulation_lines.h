// SPDX-License-Identifier: Apache-2.0
// What programs of molecular dynamics print of their own time at the end of a run: LAMMPS' "MPI task timing
// breakdown" and GROMACS' "R E A L   C Y C L E   A N D   T I M E   A C C O U N T I N G".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

class SimulationLinesReader {
 public:
  // Whether the line is of such a table, or of what stands around it.
  bool Line(std::string_view line);
  // Of several runs, the longest that has its parts.
  std::optional<SimulationRun> Finish() const;

 private:
  enum class Table { kNone, kTasks, kCycles };

  bool TakesLammps(std::string_view line);
  bool TakesGromacs(std::string_view line);
  void Close();

  Table table_ = Table::kNone;
  bool on_gpu_ = false;
  int64_t steps_ = 0;  // that GROMACS is told to do
  SimulationRun run_;  // that is read
  std::optional<SimulationRun> longest_;
};

}  // namespace dladvisor::benchmark_log
