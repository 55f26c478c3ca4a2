// SPDX-License-Identifier: Apache-2.0
// The ledger against a reference that decides every unit of time by itself, on randomly drawn programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/timeline/gpu_timeline.h"
#include "src/analysis/timeline/host_buckets.h"
#include "src/analysis/timeline/time_ledger.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using Ledger = std::array<int64_t, kBuckets>;

constexpr Ns kUnit = 10'000;  // of all times: what a launch costs is given in microseconds
constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

int64_t Sum(const Ledger& ledger) {
  int64_t sum = 0;
  for (const int64_t ns : ledger) sum += ns;
  return sum;
}

// Decides the bucket of each unit of a GPU's window from the definitions in gpu_timeline.h alone.
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
    if (!latencies.empty()) latency_ = std::min<Ns>(latencies[latencies.size() / 20], 10 * kUnit);
    std::map<NameId, uint32_t> first;
    for (size_t i = 0; i < t_.kernels.size(); ++i)
      if (const uint32_t call = c_.launches.kernel[i]; call != kNoIndex) {
        uint32_t& of_name = first.try_emplace(t_.kernels.name[i], call).first->second;
        of_name = std::min(of_name, call);
      }
    for (const auto& [name, call] : first) first_.insert(call);
    for (const auto* calls : {&c_.launches.kernel, &c_.launches.copy, &c_.launches.set})
      for (const uint32_t call : *calls)
        if (call != kNoIndex) launching_.insert(call);
  }

  Ledger Of(Interval window) const { return Of(window, window); }
  // Of a part of the window.
  Ledger Of(Interval part, Interval window) const {
    Ledger ledger{};
    for (Ns n = part.start; n < part.end; n += kUnit)
      ledger[static_cast<size_t>(BucketAt(n, window))] += kUnit;
    return ledger;
  }

 private:
  struct Op {
    Ns start, end;
    Bucket bucket;
    uint32_t call;
    bool is_kernel;
  };

  void Add(const GpuOperations& ops, const std::vector<uint32_t>& calls, bool kernels) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops.process[i] != gpu_.process || ops.device[i] != gpu_.device) continue;
      Bucket bucket = &ops == static_cast<const GpuOperations*>(&t_.copies) ? Bucket::kCopy : Bucket::kMemset;
      if (kernels) {
        const std::string_view name = t_.names.View(t_.kernels.name[i]);
        bucket = name == test::kGemm ? Bucket::kTensor
                 : name == kReduce   ? Bucket::kCommunication
                                     : Bucket::kOther;
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
    Interval gap{n, n + kUnit};
    while (gap.start > window.start && !Busy(gap.start - kUnit)) gap.start -= kUnit;
    while (gap.end < window.end && !Busy(gap.end)) gap.end += kUnit;
    const auto ends = std::find_if(ops_.begin(), ops_.end(), [&](const Op& o) { return o.start == gap.end; });
    if (ends == ops_.end()) return Bucket::kUnknown;
    if (ends->call == kNoIndex) return Bucket::kUnknown;
    const Ns call = t_.api_calls.start[ends->call];
    if (n < call) return Starved(n, {gap.start, std::min(call, gap.end)}, t_.api_calls.thread[ends->call]);
    if (n < call + latency_) return Bucket::kLaunchLatency;
    if (n >= t_.api_calls.end[ends->call]) return Bucket::kDependency;
    if (CallName(ends->call).find("Memcpy") != std::string_view::npos) return Bucket::kIdleCopy;
    const Ns running = std::min(t_.api_calls.end[ends->call], gap.end) - std::max(call + latency_, gap.start);
    return running >= (first_.count(ends->call) ? 10 : 100) * kUnit ? Bucket::kCompilation : Bucket::kLaunch;
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
    if (before == thread) return HostAt(n, starved, starved.start, thread);
    if (n >= first) return HostAt(n, {first, starved.end}, starved.start, thread);
    return HostAt(n, {starved.start, first}, starved.start, before);
  }

  // Of a stretch of a thread's time that ends with a launch. The queue is empty since `dry`.
  Bucket HostAt(Ns n, Interval stretch, Ns dry, uint32_t thread) const {
    if (const Bucket bucket = ActivityAt(n, thread); bucket != Bucket::kHost) return bucket;
    Ns before = 0, after = 0;  // time of no known activity
    for (Ns m = stretch.start; m < stretch.end; m += kUnit)
      if (ActivityAt(m, thread) == Bucket::kHost) (m < n ? before : after) += kUnit;
    if (before < WaitedAt(dry, thread)) return Bucket::kIdleSync;
    Ns launches = 1;
    for (size_t i = 0; i < t_.api_calls.size(); ++i)
      launches += t_.api_calls.thread[i] == thread && launching_.count(i) &&
                  t_.api_calls.start[i] >= stretch.start && t_.api_calls.start[i] < stretch.end;
    return after <= launches * DispatchOf(thread) ? Bucket::kLaunch : Bucket::kHost;
  }

  Ns WaitedAt(Ns dry, uint32_t thread) const {
    if (!InCall("cudaStreamSynchronize", dry, thread)) return 0;
    Ns start = dry, end = dry;
    while (InCall("cudaStreamSynchronize", start - kUnit, thread)) start -= kUnit;
    while (InCall("cudaStreamSynchronize", end, thread)) end += kUnit;
    return end - start;
  }

  Ns DispatchOf(uint32_t thread) const {
    std::vector<Ns> between;
    Ns launched = -1;
    for (size_t i = 0; i < t_.api_calls.size(); ++i) {
      if (t_.api_calls.thread[i] != thread) continue;
      const std::string_view name = CallName(i);
      if (name == "cudaStreamSynchronize" || name == "cudaMalloc" || name == "cuModuleLoadData")
        launched = -1;
      if (!launching_.count(i)) continue;
      if (launched >= 0 && !first_.count(i))
        between.push_back(std::max<Ns>(0, t_.api_calls.start[i] - launched));
      launched = t_.api_calls.end[i];
    }
    if (between.size() < 20) return 5 * kUnit;
    std::sort(between.begin(), between.end());
    return std::clamp<Ns>(8 * between[between.size() / 2], 5 * kUnit, 100 * kUnit);
  }

  // Whether the thread goes on to load code before it calls for anything else.
  bool LeadsToLoading(Ns n, uint32_t thread) const {
    for (size_t i = 0; i < t_.api_calls.size(); ++i) {
      if (t_.api_calls.thread[i] != thread || t_.api_calls.end[i] <= n) continue;
      return CallName(i) == "cuModuleLoadData" && t_.api_calls.start[i] > n &&
             t_.api_calls.start[i] - n <= 1000 * kUnit;
    }
    return false;
  }

  bool InCall(std::string_view name, Ns time, uint32_t thread) const {
    for (size_t i = 0; i < t_.api_calls.size(); ++i)
      if (t_.api_calls.thread[i] == thread && CallName(i) == name && t_.api_calls.start[i] <= time &&
          time < t_.api_calls.end[i])
        return true;
    return false;
  }

  // Whether calls of copies that the thread is in wait, all of them, for kernels of the copy's GPU.
  bool IsBehindKernels(Ns n, uint32_t thread) const {
    bool all = true;
    for (size_t i = 0; i < t_.copies.size(); ++i) {
      const uint32_t call = c_.launches.copy[i];
      if (call == kNoIndex || t_.api_calls.thread[call] != thread || t_.api_calls.start[call] > n ||
          n >= t_.api_calls.end[call])
        continue;
      Ns last = t_.api_calls.start[call];
      for (size_t k = 0; k < t_.kernels.size(); ++k)
        if (t_.kernels.device[k] == t_.copies.device[i] && t_.kernels.start[k] < t_.copies.start[i])
          last = std::max(last, std::min(t_.kernels.end[k], t_.copies.start[i]));
      all = all && last < t_.api_calls.end[call] && n < last;
    }
    return all;
  }

  std::string_view CallName(size_t call) const { return t_.names.View(t_.api_calls.name[call]); }

  Bucket ActivityAt(Ns n, uint32_t thread) const {
    if (InCall("cudaStreamSynchronize", n, thread)) return Bucket::kIdleSync;
    // All copies are drawn of pageable memory.
    if (InCall("cudaMemcpy", n, thread) || InCall("cudaMemcpyAsync", n, thread))
      return IsBehindKernels(n, thread) ? Bucket::kIdleSync : Bucket::kIdleCopy;
    if (InCall("cudaMalloc", n, thread)) return Bucket::kAllocation;
    if (InCall("cuModuleLoadData", n, thread)) return Bucket::kCompilation;
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
    if (LeadsToLoading(n, thread)) return Bucket::kCompilation;
    for (size_t i = 0; i < t_.os_calls.size(); ++i)
      if (t_.os_calls.thread[i] == thread && t_.os_calls.start[i] <= n && n < t_.os_calls.end[i])
        return Bucket::kOs;
    return Bucket::kHost;
  }

  const Context& c_;
  const Trace& t_;
  Ranks::Gpu gpu_;
  std::vector<Op> ops_;
  Ns latency_ = 0;
  std::set<size_t> launching_, first_;  // calls that launch, and those that do so first for some kernel
};

// A host program of two threads and a GPU that runs what they launch, with random mishaps.
TraceBuilder RandomTrace(std::mt19937& random, bool with_steps, int operations = 40) {
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
  for (int i = 0; i < operations; ++i) {
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
  const char* names[] = {test::kGemm, "relu", kReduce};
  for (const Op& op : ops) {
    if (op.kind < 3) {
      b.Kernel(op.start, op.end, names[op.kind], op.correlation, 0, op.device);
    } else if (op.kind == 3) {
      b.Copy(op.start, op.end, 8, CopyDirection::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
             op.correlation);
      b.trace.copies.device.Set(b.trace.copies.size() - 1, op.device);
    } else {
      b.Set(op.start, op.end, op.correlation);
      b.trace.sets.device.Set(b.trace.sets.size() - 1, op.device);
    }
  }
  const auto scale = [](auto& events) {
    for (Ns& time : events.start) time *= kUnit;
    for (Ns& time : events.end) time *= kUnit;
  };
  Trace& t = b.trace;
  scale(t.ranges), scale(t.api_calls), scale(t.kernels), scale(t.copies), scale(t.sets);
  scale(t.overheads), scale(t.mpi_calls), scale(t.os_calls);
  return b;
}

TEST(IdleProperty, LedgerAgreesWithDecidingEveryUnit) {
  std::mt19937 random(31);
  Ledger seen{};
  int steps = 0;
  for (int round = 0; round < 100; ++round) {
    const TraceBuilder b = RandomTrace(random, /*with_steps=*/round % 2 == 1, round % 50 == 0 ? 150 : 40);
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

TEST(IdleProperty, ALedgerOfEveryDeviceSumsToItsWindow) {
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

}  // namespace
}  // namespace dladvisor
