// Why a GPU was idle: charges of gaps against a reference that decides every nanosecond by itself, and the
// relations made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/gpu_timeline.h"
#include "src/analysis/host_activity.h"
#include "src/analysis/time_ledger.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using Ledger = std::array<int64_t, kBuckets>;

constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";
constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

int64_t At(const Ledger& ledger, Bucket bucket) { return ledger[static_cast<size_t>(bucket)]; }

int64_t Sum(const Ledger& ledger) {
  int64_t sum = 0;
  for (const int64_t ns : ledger) sum += ns;
  return sum;
}

// Decides the bucket of each nanosecond of a GPU's window from the definitions in gpu_timeline.h alone.
class Reference {
 public:
  Reference(const Context& context, size_t gpu)
      : c_(context), t_(context.trace), gpu_(context.ranks.gpus[gpu]) {
    Add(t_.kernels, c_.launches.kernel, true);
    Add(t_.copies, c_.launches.copy, false);
    Add(t_.sets, c_.launches.set, false);
    std::vector<int64_t> latencies;
    for (const Op& op : ops_)
      if (op.is_kernel && op.call != kNoIndex)
        latencies.push_back(std::max<int64_t>(0, op.start - t_.api_calls.start[op.call]));
    std::sort(latencies.begin(), latencies.end());
    if (!latencies.empty()) latency_ = latencies[latencies.size() / 20];
  }

  Ledger Of(Interval window) const { return Of(window, window); }
  // Of a part of the window.
  Ledger Of(Interval part, Interval window) const {
    Ledger ledger{};
    for (Ns n = part.start; n < part.end; ++n) ++ledger[static_cast<size_t>(BucketAt(n, window))];
    return ledger;
  }

 private:
  struct Op {
    Ns start, end;
    Bucket bucket;
    uint32_t call;
    bool is_kernel;
  };

  void Add(const GpuOps& ops, const std::vector<uint32_t>& calls, bool kernels) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.process[i] != gpu_.process || ops.device[i] != gpu_.device) continue;
      Bucket bucket = &ops == static_cast<const GpuOps*>(&t_.copies) ? Bucket::kCopy : Bucket::kMemset;
      if (kernels) {
        const std::string_view name = t_.names.View(t_.kernels.name[i]);
        bucket = name == kGemm ? Bucket::kTensor : name == kReduce ? Bucket::kCommunication : Bucket::kOther;
      }
      ops_.push_back({ops.start[i], ops.end[i], bucket, calls[i], kernels});
    }
  }

  bool Busy(Ns n) const {
    return std::any_of(ops_.begin(), ops_.end(), [&](const Op& o) { return o.start <= n && n < o.end; });
  }

  Bucket BucketAt(Ns n, Interval window) const {
    auto best = Bucket::kUnknown;
    for (const Op& op : ops_)
      if (op.start <= n && n < op.end) best = std::min(best, op.bucket);
    if (best != Bucket::kUnknown) return best;
    Interval gap{n, n + 1};
    while (gap.start > window.start && !Busy(gap.start - 1)) --gap.start;
    while (gap.end < window.end && !Busy(gap.end)) ++gap.end;
    const auto ends = std::find_if(ops_.begin(), ops_.end(), [&](const Op& o) { return o.start == gap.end; });
    if (ends == ops_.end()) return Bucket::kUnknown;
    if (ends->call == kNoIndex) return Bucket::kUnknown;
    const Ns call = t_.api_calls.start[ends->call];
    if (n < call) return Starved(n, {gap.start, std::min(call, gap.end)}, t_.api_calls.thread[ends->call]);
    if (n < call + latency_) return Bucket::kLaunchLatency;
    if (n < t_.api_calls.end[ends->call])
      return CallName(ends->call).find("Memcpy") != std::string_view::npos ? Bucket::kIdleCopy
                                                                           : Bucket::kLaunch;
    return Bucket::kDependency;
  }

  // Until the launching thread does something, what the thread did that launched before.
  Bucket Starved(Ns n, Interval starved, uint32_t thread) const {
    const Op* last = nullptr;
    for (const Op& op : ops_)
      if (op.start < starved.start &&
          (!last || std::pair(op.end, -op.start) > std::pair(last->end, -last->start)))
        last = &op;
    const uint32_t before = last && last->call != kNoIndex ? t_.api_calls.thread[last->call] : thread;
    Ns first = starved.end;
    const auto touches = [&](Ns start, Ns end) {
      if (end > starved.start) first = std::min(first, std::max(start, starved.start));
    };
    for (size_t i = 0; i < t_.api_calls.size(); ++i)
      if (t_.api_calls.thread[i] == thread) touches(t_.api_calls.start[i], t_.api_calls.end[i]);
    for (size_t i = 0; i < t_.ranges.size(); ++i)
      if (t_.ranges.thread[i] == thread) touches(t_.ranges.start[i], t_.ranges.end[i]);
    if (before == thread || n >= first) return HostAt(n, starved.start, thread);
    return HostAt(n, starved.start, before);
  }

  std::string_view CallName(size_t call) const { return t_.names.View(t_.api_calls.name[call]); }

  // The queue is empty since `dry`.
  Bucket HostAt(Ns n, Ns dry, uint32_t thread) const {
    const auto in_call = [&](std::string_view name, Ns time) {
      for (size_t i = 0; i < t_.api_calls.size(); ++i)
        if (t_.api_calls.thread[i] == thread && CallName(i) == name && t_.api_calls.start[i] <= time &&
            time < t_.api_calls.end[i])
          return true;
      return false;
    };
    if (in_call("cudaStreamSynchronize", n)) return Bucket::kIdleSync;
    if (in_call("cudaMemcpy", n)) return Bucket::kIdleCopy;
    if (in_call("cudaMalloc", n)) return Bucket::kAllocation;
    if (in_call("cuModuleLoadData", n)) return Bucket::kCompilation;
    for (size_t i = 0; i < t_.overheads.size(); ++i)
      if (t_.overheads.thread[i] == thread && t_.overheads.start[i] <= n && n < t_.overheads.end[i])
        return Bucket::kProfiler;
    for (size_t i = 0; i < t_.ranges.size(); ++i)
      if (t_.ranges.thread[i] == thread && t_.names.View(t_.ranges.name[i]) == "DataLoader" &&
          t_.ranges.start[i] <= n && n < t_.ranges.end[i])
        return Bucket::kInput;
    for (size_t i = 0; i < t_.mpi_calls.size(); ++i)
      if (t_.mpi_calls.thread[i] == thread && t_.mpi_calls.start[i] <= n && n < t_.mpi_calls.end[i])
        return Bucket::kIdleCommunication;
    for (size_t i = 0; i < t_.ranges.size(); ++i)
      if (t_.ranges.thread[i] == thread && t_.names.View(t_.ranges.name[i]) == "save_checkpoint" &&
          t_.ranges.start[i] <= n && n < t_.ranges.end[i])
        return Bucket::kCheckpoint;
    for (size_t i = 0; i < t_.ranges.size(); ++i)
      if (t_.ranges.thread[i] == thread && t_.names.View(t_.ranges.name[i]) == "gc" &&
          t_.ranges.start[i] <= n && n < t_.ranges.end[i])
        return Bucket::kGarbageCollection;
    for (size_t i = 0; i < t_.os_calls.size(); ++i)
      if (t_.os_calls.thread[i] == thread && t_.os_calls.start[i] <= n && n < t_.os_calls.end[i])
        return Bucket::kOs;
    return in_call("cudaStreamSynchronize", dry) ? Bucket::kIdleSync : Bucket::kLaunch;
  }

  const Context& c_;
  const Trace& t_;
  Ranks::Gpu gpu_;
  std::vector<Op> ops_;
  Ns latency_ = 0;
};

// A host program of two threads and a GPU that runs what they launch, with random mishaps.
TraceBuilder RandomTrace(std::mt19937& random, bool with_steps) {
  TraceBuilder b;
  const auto up_to = [&](uint32_t n) { return static_cast<Ns>(random() % n); };
  const uint32_t threads[] = {0, b.AddThread(0, 43)};
  const uint32_t second_gpu = b.AddDevice(1);
  struct Op {
    Ns start, end;
    int kind;
    int64_t correlation;
    uint32_t device;
  };
  std::vector<Op> ops;
  struct Call {
    Ns start, end;
    std::string name;
    int64_t correlation;
    uint32_t thread;
  };
  std::vector<Call> calls, ranges;
  std::array<Ns, 2> host = {up_to(20), up_to(20)}, gpu_free = {0, 0};
  std::array<std::vector<Ns>, 2> starts;
  for (int i = 0; i < 40; ++i) {
    const size_t who = random() % 2;
    Ns& now = host[who];
    const uint32_t thread = threads[who];
    now += up_to(25);
    const Ns length = 1 + up_to(i % 9 == 0 ? 40 : 6);
    switch (random() % 13) {
      case 0:
        calls.push_back({now, now + length, "cudaStreamSynchronize", 0, thread});
        break;
      case 1:
        calls.push_back({now, now + length, "cudaMalloc", 0, thread});
        break;
      case 2:
        b.Overhead(now, now + length, "flush", thread);
        break;
      case 3:
        ranges.push_back({now, now + length, "DataLoader", 0, thread});
        break;
      case 4:
        b.Os(now, now + length, "read", thread);
        break;
      case 5:
        b.Mpi(now, now + length, "MPI_Wait", thread);
        break;
      case 6:
        ranges.push_back({now, now + length, "gc", 0, thread});
        break;
      case 7:
        ranges.push_back({now, now + length, "save_checkpoint", 0, thread});
        break;
      case 8:
        calls.push_back({now, now + length, "cuModuleLoadData", 0, thread});
        break;
      default: {
        const int kind = static_cast<int>(random() % 5);
        const auto device = static_cast<uint32_t>(random() % 4 == 0);
        const int64_t correlation = random() % 12 == 0 ? 0 : i + 1;  // sometimes the call is not recorded
        const char* name = kind == 3   ? (random() % 2 ? "cudaMemcpy" : "cudaMemcpyAsync")
                           : kind == 4 ? "cudaMemsetAsync"
                                       : "cudaLaunchKernel";
        if (correlation > 0) calls.push_back({now, now + length, name, correlation, thread});
        // Starts of one device are distinct, so that it is plain what ends a gap.
        Ns start = std::max(now + 1 + up_to(4), random() % 3 == 0 ? now : gpu_free[device]);
        if (random() % 6 == 0) start += up_to(30);
        while (std::find(starts[device].begin(), starts[device].end(), start) != starts[device].end())
          ++start;
        starts[device].push_back(start);
        const Ns end = start + 1 + up_to(30);
        gpu_free[device] = std::max(gpu_free[device], end);
        ops.push_back({start, end, kind, correlation, device ? second_gpu : 0});
        break;
      }
    }
    now += length;
  }
  std::sort(ops.begin(), ops.end(), [](const Op& x, const Op& y) { return x.start < y.start; });
  std::sort(calls.begin(), calls.end(), [](const Call& x, const Call& y) { return x.start < y.start; });
  const Ns last = std::max(host[0], host[1]);
  if (with_steps)
    for (int step = 0; step < 4; ++step)
      ranges.push_back({step * last / 4, (step + 1) * last / 4, "step " + std::to_string(step), 0, 0});
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Call& x, const Call& y) { return x.start < y.start; });
  for (const Call& r : ranges) b.Range(r.start, r.end, r.name, r.thread);
  for (const Call& c : calls) b.Api(c.start, c.end, c.name, c.correlation, c.thread);
  const char* names[] = {kGemm, "relu", kReduce};
  for (const Op& op : ops) {
    if (op.kind < 3) {
      b.Kernel(op.start, op.end, names[op.kind], op.correlation, 0, op.device);
    } else if (op.kind == 3) {
      b.Copy(op.start, op.end, 8, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
             op.correlation);
      b.trace.copies.device.back() = op.device;
    } else {
      b.Set(op.start, op.end, op.correlation);
      b.trace.sets.device.back() = op.device;
    }
  }
  return b;
}

TEST(Idle, LedgerAgreesWithDecidingEveryNanosecond) {
  std::mt19937 random(31);
  Ledger seen{};
  int steps = 0;
  for (int round = 0; round < 200; ++round) {
    const TraceBuilder b = RandomTrace(random, /*with_steps=*/round % 2 == 1);
    const Context context = test::ContextOf(b.trace);
    const std::vector<GpuTimeline> timelines = ComputeTimelines(context);
    for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
      const GpuTimeline& timeline = timelines[gpu];
      ASSERT_EQ(timeline.window, context.windows[gpu]);
      const Ledger expected = Reference(context, gpu).Of(timeline.window);
      for (size_t i = 0; i < kBuckets; ++i) {
        ASSERT_EQ(timeline.ledger[i], expected[i])
            << BucketName(static_cast<Bucket>(i)) << ", round " << round << ", GPU " << gpu;
        seen[i] += expected[i];
      }
      EXPECT_EQ(Sum(timeline.ledger), timeline.window.length());
      for (const StepLedger& step : timeline.steps) {
        ASSERT_EQ(step.ledger, Reference(context, gpu).Of(step.time, timeline.window))
            << "step " << step.number;
        ++steps;
      }
      for (const IdleGap& gap : timeline.gaps) {
        EXPECT_EQ(Sum(gap.charged), gap.time.length());
        EXPECT_GE(gap.starved_ns, 0);
        EXPECT_LE(gap.starved_ns, gap.time.length());
      }
    }
  }
  for (size_t i = 0; i < kBuckets; ++i)
    EXPECT_GT(seen[i], 0) << BucketName(static_cast<Bucket>(i)) << " was never drawn";
  EXPECT_GT(steps, 100);
}

// Work until 100, and again from 200; the call that launches it runs from `call` to `returned`.
IdleGap GapWithCall(Ns call, Ns returned, const char* name) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");  // the device's latency is 5
  b.Api(call, returned, name, 1);
  b.Kernel(200, 210, "second", 1);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  for (const IdleGap& gap : timeline.gaps)
    if (gap.time == Interval{100, 200}) return gap;
  ADD_FAILURE() << "no such gap";
  return {};
}

TEST(Idle, ALaunchThatLoadsItsModuleIsTheHosts) {
  const IdleGap gap = GapWithCall(110, 190, "cudaLaunchKernel");
  EXPECT_EQ(At(gap.charged, Bucket::kLaunch), 10 + 75);
  EXPECT_EQ(At(gap.charged, Bucket::kLaunchLatency), 5);
  EXPECT_EQ(At(gap.charged, Bucket::kDependency), 10);
  EXPECT_EQ(gap.starved_ns, 10) << "starvation ends with the call's start";
}

TEST(Idle, ACopyThatStagesPageableMemoryIsACopy) {
  const IdleGap gap = GapWithCall(60, 250, "cudaMemcpy");
  EXPECT_EQ(At(gap.charged, Bucket::kIdleCopy), 100);
  EXPECT_EQ(gap.starved_ns, 0);
}

// A gap from 100 to 200, before a launch at 190 by the thread that launched before.
Ledger GapWith(const std::function<void(TraceBuilder&)>& draw) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "first");
  draw(b);
  b.Launch(190, 200, 210, "second");
  const Context context = test::ContextOf(b.trace);
  return ComputeTimelines(context).at(0).gaps.at(0).charged;
}

TEST(Idle, EveryCauseByHand) {
  const std::vector<std::pair<Bucket, std::function<void(TraceBuilder&)>>> causes = {
      {Bucket::kIdleSync, [](TraceBuilder& b) { b.Api(60, 150, "cudaStreamSynchronize", 0); }},
      {Bucket::kIdleCopy, [](TraceBuilder& b) { b.Api(60, 190, "cudaMemcpy", 0); }},
      {Bucket::kAllocation, [](TraceBuilder& b) { b.Api(90, 190, "cudaMalloc", 0); }},
      {Bucket::kCompilation, [](TraceBuilder& b) { b.Api(90, 190, "cuModuleLoadData", 0); }},
      {Bucket::kCompilation, [](TraceBuilder& b) { b.Range(90, 190, "KernelExecutor::compileFusion"); }},
      {Bucket::kProfiler, [](TraceBuilder& b) { b.Overhead(90, 190, "CUPTI buffer flush"); }},
      {Bucket::kInput, [](TraceBuilder& b) { b.Range(90, 190, "enumerate(DataLoader)#__next__"); }},
      {Bucket::kIdleCommunication, [](TraceBuilder& b) { b.Mpi(90, 190, "MPI_Allreduce"); }},
      {Bucket::kIdleCommunication, [](TraceBuilder& b) { b.Range(90, 190, "gloo:all_reduce"); }},
      {Bucket::kCheckpoint, [](TraceBuilder& b) { b.Range(90, 190, "save_checkpoint"); }},
      {Bucket::kGarbageCollection, [](TraceBuilder& b) { b.Range(90, 190, "gc.collect"); }},
      {Bucket::kOs, [](TraceBuilder& b) { b.Os(90, 190, "pthread_cond_wait"); }},
      {Bucket::kLaunch, [](TraceBuilder&) {}},
  };
  for (const auto& [bucket, draw] : causes) {
    const Ledger charged = GapWith(draw);
    EXPECT_EQ(At(charged, bucket), 90) << BucketName(bucket);
    EXPECT_EQ(At(charged, Bucket::kLaunchLatency), 5) << BucketName(bucket);
    EXPECT_EQ(At(charged, Bucket::kDependency), 5) << BucketName(bucket);
  }
}

TEST(Idle, TheMoreTellingDoingWins) {
  // A read inside the data loader is the loader's; a wait inside of an allocation is the allocation's.
  const Ledger charged = GapWith([](TraceBuilder& b) {
    b.Range(100, 150, "DataLoader");
    b.Os(110, 160, "read");
  });
  EXPECT_EQ(At(charged, Bucket::kInput), 50);
  EXPECT_EQ(At(charged, Bucket::kOs), 10);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 30);
}

TEST(Idle, AWaitThatFindsTheGpuIdleLetsNothingRunDry) {
  const Ledger charged = GapWith([](TraceBuilder& b) { b.Api(110, 120, "cudaStreamSynchronize", 0); });
  EXPECT_EQ(At(charged, Bucket::kIdleSync), 10);
  EXPECT_EQ(At(charged, Bucket::kLaunch), 80);
}

TEST(Idle, TheThreadThatHandsOverIsAsked) {
  // The main thread reads a value, then starts the backward pass on a worker, which had been asleep.
  TraceBuilder b;
  const uint32_t worker = b.AddThread(0, 43);
  b.Launch(0, 5, 100, "forward");
  b.Os(0, 180, "pthread_cond_wait", worker);
  b.Api(60, 130, "cudaStreamSynchronize", 0);
  b.Range(170, 195, "backward", worker);
  b.Launch(190, 200, 210, "gradient", worker);
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  const IdleGap& gap = timeline.gaps.at(0);
  EXPECT_EQ(At(gap.charged, Bucket::kIdleSync), 70) << "until the worker begins";
  EXPECT_EQ(At(gap.charged, Bucket::kOs), 10) << "the worker's own, from its range on";
  EXPECT_EQ(At(gap.charged, Bucket::kLaunch), 10);
  EXPECT_EQ(gap.handed_over, 170);
}

TEST(Idle, WhatNothingEndsDoesNotHideStarvation) {
  TraceBuilder b;
  const uint32_t second = b.AddDevice(1);
  b.Launch(0, 5, 100, "a");
  b.Launch(190, 195, 200, "b");
  b.Launch(200, 205, 5000, "c", 0, 0, second);  // goes on without the first GPU
  const Context context = test::ContextOf(b.trace);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(At(timeline.ledger, Bucket::kUnknown), 4800);
  EXPECT_TRUE(timeline.has_launches);
  EXPECT_EQ(At(timeline.ledger, Bucket::kLaunch), 90);
}

TEST(Idle, TooManyUnknownLaunchesHideStarvation) {
  for (const Ns known : {390, 410}) {  // of gaps of 100 and `known` ns
    TraceBuilder b;
    b.Launch(0, 5, 100, "a");
    b.Kernel(200, 210, "launch not recorded", 0);
    b.Launch(210 + known - 5, 210 + known, 1000, "b");
    const Context context = test::ContextOf(b.trace);
    const GpuTimeline timeline = ComputeTimelines(context).at(0);
    EXPECT_EQ(At(timeline.ledger, Bucket::kUnknown), 100);
    EXPECT_EQ(timeline.has_launches, known > 400) << known;
  }
}

TEST(Idle, WithoutStepsTheWindowIsFromFirstToLastOperation) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  for (int step = 0; step < 3; ++step) b.Range(100 * step, 100 * step + 90, "step " + std::to_string(step));
  b.Launch(50, 55, 90, "a");
  b.Launch(150, 155, 190, "a");
  b.Launch(250, 255, 290, "a");
  b.Launch(260, 265, 280, "b", 1, other, device);
  const Context context = test::ContextOf(b.trace);
  const auto timelines = ComputeTimelines(context);
  ASSERT_EQ(timelines.size(), 2u);
  EXPECT_EQ(At(timelines[0].ledger, Bucket::kLaunch), 50 + 60 + 60);
  EXPECT_EQ(timelines[1].window, (Interval{265, 280}));
  EXPECT_EQ(At(timelines[1].ledger, Bucket::kOther), 15);
}

TEST(Idle, GapsAtTheEdgesOfTheWindowAreCut) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    b.Range(1000 * step, 1000 * step + 900, "step " + std::to_string(step));
    b.Launch(1000 * step + 100, 1000 * step + 110, 1000 * step + 800, "k");
  }
  AnalysisOptions options;
  options.steps = {1, 2};
  const Context context = MakeContext(b.trace, options);
  const GpuTimeline timeline = ComputeTimelines(context).at(0);
  EXPECT_EQ(timeline.window, (Interval{800, 2800}));
  ASSERT_EQ(timeline.gaps.size(), 2u);
  EXPECT_EQ(timeline.gaps[0].time, (Interval{800, 1110}));
  EXPECT_EQ(timeline.gaps[1].time, (Interval{1800, 2110}));
  EXPECT_EQ(timeline.window.length() - Length(timeline.idle), 2 * 690);
}

TEST(Idle, ALedgerOfEveryDeviceSumsToItsWindow) {
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    const TraceBuilder b = RandomTrace(random, round % 2 == 0);
    const Context context = test::ContextOf(b.trace);
    const auto timelines = ComputeTimelines(context);
    std::map<std::pair<int64_t, int64_t>, int64_t> total;
    std::map<std::pair<int64_t, int64_t>, double> share;
    for (const TimeLedgerRow& row : ComputeTimeLedger(context, timelines)) {
      total[{row.rank, row.device}] += row.ns.value_or(0);
      share[{row.rank, row.device}] += row.share.value_or(0);
      EXPECT_EQ(row.ns.has_value(), timelines[0].captured[static_cast<size_t>(row.position)]) << row.bucket;
      const int64_t steps = context.StepCount(row.rank);
      EXPECT_EQ(row.ns_per_step.has_value(), row.ns.has_value() && steps > 0);
    }
    ASSERT_EQ(total.size(), timelines.size());
    for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
      const auto key =
          std::pair(context.ranks.gpus[gpu].rank, b.trace.devices[context.ranks.gpus[gpu].device].ordinal);
      EXPECT_EQ(total[key], timelines[gpu].window.length());
      EXPECT_NEAR(share[key], 1, 1e-9);
    }
  }
}

TEST(Idle, WithoutDataLoaderRangesInputIsUnknown) {
  TraceBuilder b;
  b.Launch(0, 5, 100, "a");
  b.Range(0, 50, "forward");
  const Context context = test::ContextOf(b.trace);
  for (const TimeLedgerRow& row : ComputeTimeLedger(context, ComputeTimelines(context)))
    if (row.bucket == "idle/input" || row.bucket == "idle/os") {
      EXPECT_FALSE(row.ns.has_value()) << row.bucket;
    }
}

TEST(Idle, WithoutCallsEveryCauseIsUnknown) {
  TraceBuilder b;
  b.Kernel(50, 100, "a", 1);
  b.Kernel(150, 200, "b", 2);
  b.Range(0, 200, "DataLoader");
  const Context context = test::ContextOf(b.trace);
  std::map<std::string, int64_t> known;
  for (const TimeLedgerRow& row : ComputeTimeLedger(context, ComputeTimelines(context)))
    if (row.ns) known[row.bucket] = *row.ns;
  EXPECT_EQ(known, (std::map<std::string, int64_t>{{"compute/tensor", 0},
                                                   {"compute/other", 100},
                                                   {"communication/exposed", 0},
                                                   {"copy", 0},
                                                   {"memset", 0},
                                                   {"idle/unknown", 50}}));
}

TEST(Idle, TheLongestGapsAreListed) {
  TraceBuilder b;
  const uint32_t other = b.AddDevice(1);
  Ns t = 0;
  for (int i = 0; i < 1500; ++i) {
    b.Range(t, t + 8, "linear");
    b.Launch(t + 4, t + 10, t + 20, i % 2 ? "odd" : "even");
    t += 30 + i;
  }
  b.Launch(t, t + 1, t + 100'000, "other GPU", 0, 0, other);  // the first has nothing more to do
  const Context context = test::ContextOf(b.trace);
  const auto timelines = ComputeTimelines(context);
  const auto rows = ComputeIdleGaps(context, timelines);
  ASSERT_EQ(rows.size(), 1001u) << "1000 of the first GPU, one of the other";
  EXPECT_EQ(rows[0].cause, "idle/unknown");
  EXPECT_EQ(rows[0].ended_by, "");
  EXPECT_FALSE(rows[0].starved_ns || rows[0].range || rows[0].thread);
  EXPECT_EQ(rows[1].cause, "idle/launch");
  EXPECT_EQ(rows[1].ended_by, "odd");
  EXPECT_EQ(rows[1].duration_ns, 1498 + 20);  // the pause before the last launch
  EXPECT_EQ(rows[1].starved_ns, 1498 + 14);
  EXPECT_EQ(rows[1].range, "/linear");
  EXPECT_EQ(rows[1].thread, 42);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(rows[i].end_ns - rows[i].start_ns, rows[i].duration_ns);
    if (i > 0) {
      EXPECT_LE(rows[i].duration_ns, rows[i - 1].duration_ns);
    }
  }
}

TEST(Idle, RangesThatLoadData) {
  for (const char* name : {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data_loader",
                           "[pl][profile]run_training_epoch train_dataloader_next", "get_batch", "getBatch",
                           "_next_data", "data_iterator", "enumerate(train_loader)"})
    EXPECT_EQ(DoingOfRange(name), Bucket::kInput) << name;
  for (const char* name : {"forward", "loader", "batch_norm", "", "data parallel", "load_state_dict"})
    EXPECT_EQ(DoingOfRange(name), Bucket::kLaunch) << name;
}

}  // namespace
}  // namespace dladvisor
