// SPDX-License-Identifier: Apache-2.0
// What LAMMPS and GROMACS count of their own time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using testing::DoubleNear;

constexpr double kNear = 1e6;

TEST(Simulations, OfLammpsTheLongestRun) {
  const ProgramOutput output = ReadProgram(
      "LAMMPS (29 Sep 2021)\nLoop time of 3.021e-06 on 8 procs for 0 steps with 1000 atoms\n\n"
      "1873.5% CPU use with 2 MPI tasks x 4 OpenMP threads\n\nMPI task timing breakdown:\n"
      "Section |  min time  |  avg time  |  max time  |%varavg| %total\n"
      "---------------------------------------------------------------\n"
      "Pair    | 0          | 0          | 0          |   0.0 |  0.00\n"
      "Other   |            | 3.021e-06  |            |       |100.00\n\n"
      "Loop time of 20.5 on 8 procs for 500 steps with 1000 atoms\n\n"
      "Performance: 10477.391 tau/day, 24.253 timesteps/s\n"
      "360.0% CPU use with 2 MPI tasks x 4 OpenMP threads\n\nMPI task timing breakdown:\n"
      "Section |  min time  |  avg time  |  max time  |%varavg| %total\n"
      "---------------------------------------------------------------\n"
      "Pair    | 9.5        | 12.5       | 15.5       |  10.0 | 60.98\n"
      "Modify  | 6.1        | 6.1        | 6.1        |   0.0 | 29.76\n"
      "Other   |            | 1.9        |            |       |  9.26\n\nNlocal:  500 ave  500 max  500 min\n"
      "Loop time of 1.5 on 8 procs for 50 steps with 1000 atoms\n");
  EXPECT_EQ(output.program, "LAMMPS");
  ASSERT_TRUE(output.simulation);
  EXPECT_THAT(output.simulation->ns, DoubleNear(20.5e9, kNear));
  EXPECT_EQ(output.simulation->steps, 500);
  EXPECT_EQ(output.simulation->tasks, 2);
  EXPECT_EQ(output.simulation->threads, 4);
  EXPECT_THAT(output.simulation->busy.value_or(0), DoubleNear(0.9, 1e-9));
  EXPECT_FALSE(output.simulation->on_gpu);
  ASSERT_EQ(output.simulation->parts.size(), 3u);
  EXPECT_EQ(output.simulation->parts[0].name, "Pair");
  EXPECT_THAT(output.simulation->parts[0].most_ns.value_or(0), DoubleNear(15.5e9, kNear));
  EXPECT_THAT(output.simulation->parts[2].ns, DoubleNear(1.9e9, kNear));
}

TEST(Simulations, OfGromacsBySharesOfAllRanks) {
  const ProgramOutput output = ReadProgram(
      "   nsteps                         = 20000\n1 GPU selected for this run.\n"
      " Part of the total run time spent waiting due to load imbalance: 10.1%.\n"
      "     R E A L   C Y C L E   A N D   T I M E   A C C O U N T I N G\n\n"
      "On 24 MPI ranks doing PP, each using 2 OpenMP threads, and\n"
      "on 8 MPI ranks doing PME, each using 2 OpenMP threads\n\n"
      " Activity:           Num   Num      Call    Wall time         Giga-Cycles\n"
      "                     Ranks Threads  Count      (s)         total sum    %\n"
      "-----------------------------------------------------------------------------\n"
      " Force                 24    2      20001      32.112       3699.300  43.7\n"
      " PME mesh *             8    2      20001      30.010       1152.400  13.6\n"
      " Rest                                           0.229         26.380   0.3\n"
      "-----------------------------------------------------------------------------\n"
      " Total                                         50.000       7732.431 100.0\n"
      "-----------------------------------------------------------------------------\n"
      " Breakdown of PME mesh activities\n PME spread             8    2      20001      18.201        "
      "698.880  22.0\n");
  EXPECT_EQ(output.program, "GROMACS");
  ASSERT_TRUE(output.simulation);
  EXPECT_EQ(output.simulation->steps, 20000);
  EXPECT_EQ(output.simulation->tasks, 24);
  EXPECT_TRUE(output.simulation->on_gpu);
  EXPECT_THAT(output.simulation->imbalance.value_or(0), DoubleNear(0.101, 1e-9));
  ASSERT_EQ(output.simulation->parts.size(), 3u);
  EXPECT_EQ(output.simulation->parts[1].name, "PME mesh");
  EXPECT_THAT(output.simulation->parts[0].ns, DoubleNear(21.85e9, kNear));
}

TEST(Simulations, LammpsWithItsGpuPackageIsOnAGpu) {
  const ProgramOutput output = ReadProgram(
      "LAMMPS (2 Aug 2023)\n- Using acceleration for lj/cut:\n-  with 1 proc(s) per device.\n"
      "Device 0: NVIDIA A100-SXM4-40GB, 108 CUs, 39/40 GB, 1.4 GHZ (Mixed Precision)\n"
      "Loop time of 10.5 on 1 procs for 500 steps with 1000 atoms\n\n"
      "99.0% CPU use with 1 MPI tasks x 1 OpenMP threads\n\nMPI task timing breakdown:\n"
      "Section |  min time  |  avg time  |  max time  |%varavg| %total\n"
      "---------------------------------------------------------------\n"
      "Pair    | 9.5        | 9.5        | 9.5        |   0.0 | 90.48\n"
      "Other   |            | 1.0        |            |       |  9.52\n");
  ASSERT_TRUE(output.simulation);
  EXPECT_TRUE(output.simulation->on_gpu);
}

TEST(Simulations, OfGromacsTheWaitsOfItsRanksForTheMesh) {
  const ProgramOutput output = ReadProgram(
      "NOTE: 19.4 % of the available CPU time was lost due to load imbalance\n"
      " Part of the total run time spent waiting due to PP/PME imbalance: 25.1 %\n"
      "     R E A L   C Y C L E   A N D   T I M E   A C C O U N T I N G\n\nOn 16 MPI ranks\n\n"
      " Force                 12    1      20001      32.112       3699.300  80.0\n"
      " Rest                                           0.229         26.380  20.0\n"
      " Total                                         50.000       7732.431 100.0\n");
  ASSERT_TRUE(output.simulation);
  EXPECT_THAT(output.simulation->imbalance.value_or(0), DoubleNear(0.194, 1e-9));
  EXPECT_THAT(output.simulation->mesh_imbalance.value_or(0), DoubleNear(0.251, 1e-9));
}

}  // namespace
}  // namespace dladvisor
