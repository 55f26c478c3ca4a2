// SPDX-License-Identifier: Apache-2.0
// Several processes of an MPI job write the same bytes as one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "examples/data-parallel/exports.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (test::Run("command -v mpirun").status != 0) GTEST_SKIP() << "mpirun is not installed";
    example::JobOptions options;
    options.nodes = 3;
    options.gpus_per_node = 2;
    options.steps = 6;
    options.kernels = 60;
    example::WriteJob(example::Job(options), dir_.path() / "runs", example::DefaultNsysSchema());
    test::WriteFile(dir_.path() / "runs" / "job_9_9.sqlite", "SQLite format 3 but no more");
  }

  // What Open MPI keeps until the end is not ours to count.
  test::RunResult Start(int processes, const std::string& arguments) const {
    return test::Run(
        fmt::format("cd '{}' && ASAN_OPTIONS=detect_leaks=0 OMPI_MCA_rmaps_base_oversubscribe=1 mpirun "
                    "--allow-run-as-root "
                    "-n {} '{}' {}",
                    dir_.path().string(), processes, test::ProgramPath().string(), arguments));
  }

  test::ScratchDir dir_;
};

TEST_F(Mpi, SameBytesByAnyNumberOfProcesses) {
  const test::RunResult alone = test::Run(fmt::format("cd '{}' && '{}' report runs -o alone.html",
                                                      dir_.path().string(), test::ProgramPath().string()));
  ASSERT_EQ(alone.status, 0) << alone.err;
  const std::string expected = test::ReadFile(dir_.path() / "alone.html");
  EXPECT_NE(expected.find("1 of 7 files could not be read"), std::string::npos);
  for (const int processes : {1, 2, 3}) {
    const test::RunResult run = Start(processes, fmt::format("report --mpi runs -o {}.html", processes));
    if (run.err.find("built without MPI") != std::string::npos) GTEST_SKIP() << "built without MPI";
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_TRUE(test::ReadFile(dir_.path() / fmt::format("{}.html", processes)) == expected) << processes;
  }
}

// Of more profiles than kMostWithDetails the processes also share the second reading.
TEST_F(Mpi, SameBytesOfManyProfiles) {
  example::JobOptions options;
  options.nodes = 3;
  options.gpus_per_node = 6;
  options.steps = 6;
  options.kernels = 60;
  example::WriteJob(example::Job(options), dir_.path() / "many", example::DefaultNsysSchema());
  const test::RunResult alone = test::Run(fmt::format("cd '{}' && '{}' report many -o alone.html",
                                                      dir_.path().string(), test::ProgramPath().string()));
  ASSERT_EQ(alone.status, 0) << alone.err;
  const test::RunResult run = Start(3, "report --mpi many -o three.html");
  if (run.err.find("built without MPI") != std::string::npos) GTEST_SKIP() << "built without MPI";
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(test::ReadFile(dir_.path() / "three.html") == test::ReadFile(dir_.path() / "alone.html"));
}

// The first process finds that nothing can be put together, while the others wait to go on.
TEST_F(Mpi, AnErrorOfTheFirstEndsAll) {
  fs::create_directory(dir_.path() / "broken");
  for (int i = 0; i < 20; ++i)
    test::WriteFile(dir_.path() / fmt::format("broken/{}.sqlite", i), "SQLite format 3 but no more");
  const test::RunResult run = Start(2, "report --mpi broken -o x.html");
  if (run.err.find("built without MPI") != std::string::npos) GTEST_SKIP() << "built without MPI";
  EXPECT_NE(run.status, 0);
  EXPECT_NE(run.err.find("none can be used"), std::string::npos) << run.err;
  EXPECT_FALSE(fs::exists(dir_.path() / "x.html"));
}

TEST_F(Mpi, OneErrorEndsAll) {
  const test::RunResult run = Start(2, "report --mpi nowhere -o x.html");
  if (run.err.find("built without MPI") != std::string::npos) GTEST_SKIP() << "built without MPI";
  EXPECT_NE(run.status, 0);
  EXPECT_FALSE(fs::exists(dir_.path() / "x.html"));
}

}  // namespace
}  // namespace dladvisor
