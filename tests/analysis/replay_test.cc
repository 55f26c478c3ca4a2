// SPDX-License-Identifier: Apache-2.0
// Replays of drawn programs, whose times without the change can be computed by hand.
#include "src/analysis/timeline/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

const WhatIfRow* RowOf(const std::vector<WhatIfRow>& rows, std::string_view change) {
  for (const WhatIfRow& row : rows)
    if (row.change == change) return &row;
  return nullptr;
}

// Of one shape the kernels would be the rounds of a benchmark, and times those of a round.
std::vector<WhatIfRow> WhatIfsOf(TraceBuilder& b) {
  Kernels& kernels = b.trace.kernels;
  kernels.block = {};
  for (size_t i = 0; i < kernels.size(); ++i) kernels.block.push_back(i % 2 == 0 ? 32 : 64);
  const Context context = test::ContextOf(b.trace);
  return ComputeWhatIfs(context, ComputeTimelines(context), FindRecomputation(context));
}

std::vector<WhatIfRow> WhatIfsOf(TraceBuilder&& b) { return WhatIfsOf(b); }

// A host that launches rounds of kernels, and the GPU that runs one after another.
struct Rounds {
  TraceBuilder trace;
  Ns host = 0, gpu = 0;
  int64_t correlation = 0;

  // Ten kernels of 1000 ns, launched every 500 ns.
  void Launch() {
    for (int k = 0; k < 10; ++k, host += 500, gpu += 1000) {
      gpu = std::max(gpu, host + 100);
      trace.Api(host, host + 200, "cudaLaunchKernel", ++correlation);
      trace.Kernel(gpu, gpu + 1000, "k", correlation);
    }
  }
};

// Twenty rounds: ten kernels of 1000 ns launched every 500 ns, and a wait for the last, which the host reads.
// With the reads each round takes the first launch's latency, 10 us of kernels and what the read takes;
// without, the GPU never waits.
TraceBuilder Reads(bool read, MemoryKind to = MemoryKind::kPageable) {
  Rounds rounds;
  auto& [b, host, gpu, correlation] = rounds;
  for (int round = 0; round < 20; ++round) {
    rounds.Launch();
    if (!read) continue;
    b.Api(host, host + 100, "cudaMemcpyAsync", ++correlation);
    b.Copy(gpu, gpu + 50, 4, CopyDirection::kDeviceToHost, MemoryKind::kDevice, to, correlation);
    gpu += 50;
    b.Api(host + 100, gpu, "cudaStreamSynchronize", ++correlation);
    host = gpu + 3000;  // the program goes on
  }
  return std::move(rounds.trace);
}

TEST(Replay, WithoutScalarReadsTheQueueIsKept) {
  for (const MemoryKind to : {MemoryKind::kPageable, MemoryKind::kPinned}) {
    const auto rows = WhatIfsOf(Reads(true, to));
    const WhatIfRow* reads = RowOf(rows, "scalar reads");
    ASSERT_NE(reads, nullptr);
    EXPECT_EQ(reads->calls, 40) << "the copy and the wait of each";
    ASSERT_TRUE(reads->saves_ns);
    EXPECT_NEAR(*reads->replayed_ns, *reads->recorded_ns, 0.05 * *reads->recorded_ns);
    // 20 x (10,000 + 50) ns of GPU work remain, but for the host's 11,100 to 14,100 ns a round.
    EXPECT_GT(*reads->saves_ns, 0);
    EXPECT_LT(*reads->predicted_ns, *reads->replayed_ns);
    EXPECT_EQ(RowOf(rows, "waits"), nullptr);
  }
}

// Values that are kept on the GPU are neither copied nor asked for: the operator and its copy go, too.
TEST(Replay, WithoutReadsTheirCopiesAndCallsGoToo) {
  TraceBuilder b = Reads(true);
  const std::vector<Ns> starts(b.trace.api_calls.start.begin(), b.trace.api_calls.start.end());
  for (size_t i = 0; i < starts.size(); ++i)
    if (b.trace.names.View(b.trace.api_calls.name[i]) == "cudaStreamSynchronize")
      b.Range(starts[i] - 100, b.trace.api_calls.end[i] + 2000, "aten::item");
  const auto rows = WhatIfsOf(b);
  const WhatIfRow *waits = RowOf(rows, "scalar reads"), *all = RowOf(rows, "reads with their calls");
  ASSERT_TRUE(waits != nullptr && all != nullptr && waits->saves_ns && all->saves_ns);
  EXPECT_EQ(all->calls, 40);
  EXPECT_GT(*all->saves_ns, *waits->saves_ns);
  // 10 us of kernels a round remain.
  EXPECT_NEAR(*all->predicted_ns, 20 * 10'000, 2'000);
}

// Twenty rounds, each with a call behind its launches that lasts until the GPU is done: a wait, or one that
// frees memory.
TraceBuilder Calls(std::string_view name) {
  Rounds rounds;
  auto& [b, host, gpu, correlation] = rounds;
  for (int round = 0; round < 20; ++round) {
    rounds.Launch();
    b.Api(host, gpu + 50, name, 1'000 + round);
    host = gpu + 2'050;
  }
  return std::move(rounds.trace);
}

TEST(Replay, WithoutWhatKeepsTheHostTheQueueIsKept) {
  for (const auto& [call, change] :
       {std::pair{"cudaDeviceSynchronize", "waits"}, {"cudaFree", "allocation"}}) {
    const auto rows = WhatIfsOf(Calls(call));
    const WhatIfRow* without = RowOf(rows, change);
    ASSERT_NE(without, nullptr);
    EXPECT_EQ(without->calls, 20);
    ASSERT_TRUE(without->saves_ns) << call;
    // Of 12.15 us a round remain the 10 of the GPU.
    EXPECT_NEAR(*without->saves_ns, 19 * 2150, 2150) << call;
  }
}

// Twenty rounds of ten launches, 500 ns each, of kernels that take `kernel` ns.
TraceBuilder Launches(Ns kernel) {
  TraceBuilder b;
  Ns host = 0, gpu = 0;
  for (int64_t launch = 1; launch <= 200; ++launch, host += 500) {
    gpu = std::max(gpu, host + 100);
    b.Api(host, host + 200, "cudaLaunchKernel", launch);
    b.Kernel(gpu, gpu + kernel, "k", launch);
    gpu += kernel;
  }
  return b;
}

TEST(Replay, KernelsBehindTheirLaunchesSaveNextToNothing) {
  const auto rows = WhatIfsOf(Launches(200));
  const WhatIfRow* kernels = RowOf(rows, "kernels");
  ASSERT_NE(kernels, nullptr) << "the GPU is busy for two fifths of the time";
  ASSERT_TRUE(kernels->saves_ns);
  EXPECT_LE(*kernels->saves_ns, 200) << "the last one alone";
}

// A copy from pageable memory waits for the kernels in front of it: with shorter ones the host is on sooner.
TEST(Replay, ACopyFromPageableMemoryWaitsForItsStream) {
  TraceBuilder b;
  int64_t correlation = 0;
  Ns host = 0, gpu = 100;
  for (int step = 0; step < 20; ++step) {
    gpu = std::max(gpu, host + 100);
    b.Api(host, gpu + 9000, "cudaMemcpyAsync", ++correlation);  // returns when all is staged
    b.Copy(gpu, gpu + 10'000, 1 << 20, CopyDirection::kHostToDevice, MemoryKind::kPageable,
           MemoryKind::kDevice, correlation);
    host = gpu + 9000;
    gpu += 10'000;
    b.Api(host, host + 100, "cudaLaunchKernel", ++correlation);
    b.Kernel(gpu, gpu + 100'000, "k", correlation);
    gpu += 100'000;
    host += 40'000;
  }
  const auto rows = WhatIfsOf(b);
  const WhatIfRow* kernels = RowOf(rows, "kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_NEAR(*kernels->replayed_ns, *kernels->recorded_ns, 0.05 * *kernels->recorded_ns);
  ASSERT_TRUE(kernels->saves_ns);
  // Of 110 us a step 50 remain: the host's 40, and the copy's 10.
  EXPECT_NEAR(*kernels->saves_ns, 20 * 60'000, 100'000);
}

TEST(Replay, WithoutTheWorkOfTheGpuTheHostsTimeIsLeft) {
  for (const Ns kernel : {20, 450, 1000}) {  // the host is the limit, by far or nearly; the GPU is
    const auto rows = WhatIfsOf(Launches(kernel));
    const WhatIfRow* work = RowOf(rows, "kernels");
    ASSERT_NE(work, nullptr);
    EXPECT_EQ(work->calls, 200);
    ASSERT_TRUE(work->saves_ns);
    // Behind the last launch comes the latency, the 5th percentile of the delays: 5 us where the queue grows.
    EXPECT_NEAR(*work->predicted_ns, 199 * 500 + 200, 5000);
    const double saves = kernel == 20 ? 0 : kernel == 450 ? 350 : 200 * 500;
    EXPECT_NEAR(*work->saves_ns, saves, kernel == 20 ? 100 : kernel == 450 ? 10 : 5000);
  }
}

// The queue holds a thousand kernels, of 2000 ns: later launches, which themselves take 200 ns, return when
// one of them is done.
// The recording begins while the GPU works on what was launched long before; or launches are lost in the
// midst.
TEST(Replay, WhatWaitedInTheQueueAtTheStartNeedsNoLaunch) {
  for (const bool at_start : {true, false}) {
    TraceBuilder b;
    for (int k = 0; k < 100; ++k) {
      const bool is_known = at_start ? k >= 20 : k < 40 || k >= 60;
      const Ns host = at_start ? 500 * (k - 20) : 500 * k;
      if (is_known) b.Api(host, host + 200, "cudaLaunchKernel", k + 1);
      b.Kernel(100 + 10'000 * k, 10'100 + 10'000 * k, "k", is_known ? k + 1 : 0);
    }
    for (int k = 0; k < 10; ++k) {  // which show how long a launch takes to arrive
      const Ns host = 1'010'000 + 20'000 * k;
      b.Api(host, host + 200, "cudaLaunchKernel", 200 + k);
      b.Kernel(host + 100, host + 10'100, "k", 200 + k);
    }
    const auto rows = WhatIfsOf(b);
    const WhatIfRow* kernels = RowOf(rows, "kernels");
    ASSERT_EQ(kernels != nullptr, at_start);
    if (!at_start) continue;
    ASSERT_TRUE(kernels->saves_ns);
    EXPECT_NEAR(*kernels->replayed_ns, *kernels->recorded_ns, 1'000);
  }
}

TEST(Replay, LaunchesIntoAFullQueueWaitForTheGpu) {
  TraceBuilder b;
  Ns host = 0;
  std::vector<Ns> ends;
  for (int64_t launch = 1; launch <= 5000; ++launch) {
    const Ns start = std::max(ends.empty() ? 0 : ends.back(), host + 100);
    const Ns returned = ends.size() < 1000 ? host + 200 : std::max(host + 200, ends[ends.size() - 1000]);
    b.Api(host, returned, "cudaLaunchKernel", launch);
    b.Kernel(start, start + 2000, "k", launch);
    ends.push_back(start + 2000);
    host = returned + 300;
  }
  const auto rows = WhatIfsOf(b);
  const WhatIfRow* kernels = RowOf(rows, "kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_NEAR(*kernels->replayed_ns, *kernels->recorded_ns, 0.05 * *kernels->recorded_ns);
  ASSERT_TRUE(kernels->saves_ns);
  EXPECT_NEAR(*kernels->predicted_ns, 5000 * 500, 0.1 * 5000 * 500);
}

TEST(Replay, LoadingThatTheGpuWaitsForIsSavedWhole) {
  for (const bool hidden : {true, false}) {
    TraceBuilder b;
    int64_t correlation = 0;
    Ns host = 0, gpu = 0;
    for (int step = 0; step < 10; ++step) {
      b.Range(host, host + 4000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
      host += 4000;
      gpu = std::max(gpu, host + 100);
      const Ns kernel = hidden ? 6000 : 1000;
      b.Api(host, host + 200, "cudaLaunchKernel", ++correlation);
      b.Kernel(gpu, gpu + kernel, "k" + std::to_string(step), correlation);
      gpu += kernel;
      host += 1000;
    }
    const auto rows = WhatIfsOf(b);
    const WhatIfRow* loading = RowOf(rows, "data loading");
    ASSERT_NE(loading, nullptr);
    ASSERT_TRUE(loading->saves_ns);
    // The first batch is loaded before the first launch.
    EXPECT_NEAR(*loading->saves_ns, hidden ? 0 : 9 * 4000, 1000);
  }
}

// Ten equal steps, of which each loads for 4000 ns and waits for it.
TEST(Replay, SavesAsMuchPerStepWhicheverStepsAreAnalysed) {
  TraceBuilder b;
  Ns host = 0;
  for (int step = 0; step < 10; ++step) {
    b.Range(host, host + 8000, "train_step " + std::to_string(step));
    b.Range(host, host + 4000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    b.Api(host + 4000, host + 4200, "cudaLaunchKernel", step + 1);
    b.Kernel(host + 4300, host + 7000, "k" + std::to_string(step), step + 1);
    b.Api(host + 4200, host + 7100, "cudaDeviceSynchronize", 100 + step);
    host += 8000;
  }
  AnalysisOptions three;
  three.steps = std::pair{4, 6};
  for (const AnalysisOptions& options : {AnalysisOptions{}, three}) {
    const Context context = MakeContext(b.trace, options);
    const auto rows = ComputeWhatIfs(context, ComputeTimelines(context), FindRecomputation(context));
    const WhatIfRow* loading = RowOf(rows, "data loading");
    ASSERT_NE(loading, nullptr);
    ASSERT_TRUE(loading->saves_ns);
    // Before the first launch, too, as that is within the first step.
    EXPECT_NEAR(*loading->saves_ns, 4000, 150);
    EXPECT_EQ(loading->calls, options.steps ? 3 : 10);
    EXPECT_NEAR(*loading->recorded_ns, 8000, options.steps ? 10 : 150);
  }
}

// Without steps, whether it recurs is not known.
TEST(Replay, WhatStandsBeforeTheFirstLaunchHasNoSaving) {
  TraceBuilder b;
  b.Range(0, 4000, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  b.Launch(4000, 4300, 7000, "k");
  const auto rows = WhatIfsOf(b);
  const WhatIfRow* loading = RowOf(rows, "data loading");
  ASSERT_NE(loading, nullptr);
  EXPECT_EQ(loading->calls, 1);
  EXPECT_FALSE(loading->saves_ns);

  b.Range(0, 8000, "ProfilerStep#7");
  const auto of_step = WhatIfsOf(b);
  loading = RowOf(of_step, "data loading");
  ASSERT_NE(loading, nullptr);
  ASSERT_TRUE(loading->saves_ns);
  EXPECT_NEAR(*loading->saves_ns, 4000, 10);
}

TEST(Replay, ARangeThatWasNeverClosedIsNotLeftOut) {
  TraceBuilder b = Reads(true);
  b.Range(0, 200'000, "data_loader", 0, true);
  EXPECT_EQ(RowOf(WhatIfsOf(b), "data loading"), nullptr);
}

TEST(Replay, AReplayThatIsNotLikeTheRecordingSavesNothingKnown) {
  TraceBuilder b = Reads(true);
  // The second half of the kernels waits for something that is not recorded.
  Kernels& k = b.trace.kernels;
  for (size_t i = k.size() / 2; i < k.size(); ++i) k.start[i] += 400'000, k.end[i] += 400'000;
  const auto rows = WhatIfsOf(b);
  const WhatIfRow* reads = RowOf(rows, "scalar reads");
  ASSERT_NE(reads, nullptr);
  EXPECT_FALSE(reads->saves_ns);
  EXPECT_TRUE(reads->recorded_ns);
}

}  // namespace
}  // namespace dladvisor
