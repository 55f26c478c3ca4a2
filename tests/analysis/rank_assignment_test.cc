// SPDX-License-Identifier: Apache-2.0
// Which process is which rank, whose work is whose, and from when to when anything happened.
#include "src/analysis/context/rank_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Ranks, AreNumberedByDeviceThenPid) {
  TraceBuilder b;  // process 0: pid 42
  const uint32_t on_first = b.AddProcess(900), same_device = b.AddProcess(17), idle = b.AddProcess(1);
  const uint32_t second = b.AddDevice(1), third = b.AddDevice(2);
  b.Kernel(0, 5, "k", 0, 0, third);
  b.Kernel(0, 5, "k", 0, 0, second);
  b.Kernel(0, 5, "k", 0, on_first, 0);
  b.Kernel(1, 5, "k", 0, same_device, second);
  const Ranks ranks = FindRanks(b.trace, {});
  EXPECT_EQ(ranks.of_process[on_first], 0);     // device 0
  EXPECT_EQ(ranks.of_process[same_device], 1);  // device 1, pid 17
  EXPECT_EQ(ranks.of_process[0], 2);            // device 1, pid 42
  EXPECT_EQ(ranks.of_process[idle], -1);
  std::vector<std::pair<int64_t, int64_t>> gpus;
  for (const Ranks::Gpu& gpu : ranks.gpus) gpus.emplace_back(gpu.rank, b.trace.devices[gpu.device].ordinal);
  EXPECT_EQ(gpus, (std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 1}, {2, 1}, {2, 2}}));
}

TEST(Ranks, TheEnvironmentTellsTheRankOfASingleProcess) {
  TraceBuilder b;
  b.Kernel(0, 5, "k", 0);
  b.trace.environment["RANK"] = "13";
  EXPECT_EQ(FindRanks(b.trace, {}).gpus.at(0).rank, 13);
  AnalysisOptions recorded;
  recorded.rank = 4;
  EXPECT_EQ(FindRanks(b.trace, recorded).gpus.at(0).rank, 4);
  for (const char* nonsense : {"", "-1", "3x", " 3", "99999999999999999999"}) {
    b.trace.environment["RANK"] = nonsense;
    EXPECT_EQ(FindRanks(b.trace, {}).gpus.at(0).rank, 0) << nonsense;
  }
  b.trace.environment["SLURM_PROCID"] = "6";
  EXPECT_EQ(FindRanks(b.trace, {}).gpus.at(0).rank, 6);
}

TEST(Ranks, TheEnvironmentOfOneProcessIsNotThatOfTwo) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43);
  b.Kernel(0, 5, "k", 0);
  b.Kernel(0, 5, "k", 0, other);
  b.trace.environment["RANK"] = "13";
  const Ranks ranks = FindRanks(b.trace, {});
  EXPECT_EQ(ranks.of_process, (std::vector<int64_t>{0, 1}));
}

TEST(Ranks, EveryOperationIsOfOneGpu) {
  std::mt19937 random(21);
  TraceBuilder b;
  b.AddProcess(43);
  b.AddProcess(44);
  b.AddDevice(1);
  for (Ns t = 0; t < 300; ++t) {
    const auto process = static_cast<uint32_t>(random() % 3);
    const auto device = static_cast<uint32_t>(random() % 2);
    if (process != 2) b.Kernel(t, t + 2, "k", 0, process, device);
    if (t % 7 == 0) b.Set(t, t + 1, 0);
  }
  b.Kernel(400, 401, "unknown", 0, kNoIndex, 0);
  b.Kernel(400, 401, "unknown", 0, 0, kNoIndex);
  const Ranks ranks = FindRanks(b.trace, {});
  const std::vector<GpuWork> work = SplitWork(b.trace, ranks);
  ASSERT_EQ(ranks.gpus.size(), 4u);
  std::multiset<uint32_t> kernels;
  size_t sets = 0;
  for (size_t gpu = 0; gpu < work.size(); ++gpu) {
    EXPECT_TRUE(std::is_sorted(work[gpu].kernels.begin(), work[gpu].kernels.end()));
    for (const uint32_t k : work[gpu].kernels) {
      EXPECT_EQ(b.trace.kernels.process[k], ranks.gpus[gpu].process);
      EXPECT_EQ(b.trace.kernels.device[k], ranks.gpus[gpu].device);
      kernels.insert(k);
    }
    sets += work[gpu].sets.size();
  }
  EXPECT_EQ(kernels.size(), b.trace.kernels.size() - 2);
  EXPECT_EQ(std::set<uint32_t>(kernels.begin(), kernels.end()).size(), kernels.size());
  EXPECT_EQ(sets, b.trace.sets.size());
}

TEST(Activity, IsOfCallsRangesAndGpuWork) {
  TraceBuilder b;
  EXPECT_EQ(FindActivity(b.trace), (Interval{0, 0}));
  b.Os(-500, 5000, "read");
  b.Overhead(-400, 4000, "flush");
  b.Memory(3000, 10);
  EXPECT_EQ(FindActivity(b.trace), (Interval{0, 0})) << "none of these is work";
  b.Range(100, 9000, "never closed", 0, /*open=*/true);
  EXPECT_EQ(FindActivity(b.trace), (Interval{100, 100}));
  b.Api(150, 160, "cudaMalloc", 0);
  EXPECT_EQ(FindActivity(b.trace), (Interval{100, 160}));
  b.Kernel(200, 300, "k", 1);
  b.Range(50, 120, "closed");
  EXPECT_EQ(FindActivity(b.trace), (Interval{50, 300}));
}

}  // namespace
}  // namespace dladvisor
