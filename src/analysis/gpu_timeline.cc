#include "src/analysis/gpu_timeline.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "src/analysis/launches.h"

namespace dladvisor {
namespace {

constexpr double kMinKnownGaps = 0.8;  // share of idle time that ends whose launch must be known

// What a host thread did, by kind, for charging gaps.
struct ThreadActivity {
  IntervalSet sync, copy, allocation, profiler, input;
};

// The part of `set` inside `window`, by binary search.
IntervalSet Within(const IntervalSet& set, Interval window) {
  auto first = std::lower_bound(set.begin(), set.end(), window.start,
                                [](const Interval& i, int64_t t) { return i.end <= t; });
  IntervalSet inside;
  for (; first != set.end() && first->start < window.end; ++first)
    inside.push_back({std::max(first->start, window.start), std::min(first->end, window.end)});
  return inside;
}

// The activity of the threads that launch GPU work, built once per trace.
class HostActivity {
 public:
  explicit HostActivity(const Trace& trace)
      : trace_(trace), kinds_(ClassifyApis(trace)), threads_(trace.threads.size()) {
    const ApiCalls& calls = trace.api_calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls.thread[i] == kNoIndex) continue;
      ThreadActivity& thread = threads_[calls.thread[i]];
      const Interval time{calls.start[i], calls.end[i]};
      switch (kinds_[calls.name[i]]) {
        case ApiKind::kSync:
          thread.sync.push_back(time);
          break;
        case ApiKind::kCopy:
          thread.copy.push_back(time);
          break;
        case ApiKind::kAllocation:
          thread.allocation.push_back(time);
          break;
        default:
          break;
      }
    }
    for (size_t i = 0; i < trace.overheads.size(); ++i)
      if (trace.overheads.thread[i] != kNoIndex)
        threads_[trace.overheads.thread[i]].profiler.push_back(
            {trace.overheads.start[i], trace.overheads.end[i]});
    std::unordered_map<NameId, bool> input;
    for (size_t i = 0; i < trace.ranges.size(); ++i) {
      if (trace.ranges.thread[i] == kNoIndex || trace.ranges.open[i]) continue;
      const auto [entry, is_new] = input.try_emplace(trace.ranges.name[i], false);
      if (is_new) entry->second = IsInputRange(trace.names.View(trace.ranges.name[i]));
      if (entry->second) {
        threads_[trace.ranges.thread[i]].input.push_back({trace.ranges.start[i], trace.ranges.end[i]});
      }
    }
    for (ThreadActivity& thread : threads_)
      for (IntervalSet* set :
           {&thread.sync, &thread.copy, &thread.allocation, &thread.profiler, &thread.input})
        *set = Union(std::move(*set));
  }

  // Charges the time before a launch to what the launching thread did in it.
  void Charge(uint32_t thread, Interval time, IdleGap& gap) const {
    if (thread == kNoIndex) return gap.Charge(Bucket::kLaunch, time.length());
    const ThreadActivity& activity = threads_[thread];
    IntervalSet rest{time};
    const auto take = [&](Bucket bucket, const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, Within(set, time));
      gap.Charge(bucket, Length(part));
      rest = Subtract(rest, part);
    };
    take(Bucket::kIdleSync, activity.sync);
    take(Bucket::kIdleCopy, activity.copy);
    take(Bucket::kAllocation, activity.allocation);
    take(Bucket::kProfiler, activity.profiler);
    take(Bucket::kInput, activity.input);
    // The host time between a wait and the next launch is the wait's doing: it let the queue run dry.
    const IntervalSet waits = Within(activity.sync, time);
    if (!waits.empty()) take(Bucket::kIdleSync, {{waits.front().end, time.end}});
    gap.Charge(Bucket::kLaunch, Length(rest));
  }

  bool Copies(uint32_t call) const {
    const ApiKind kind = kinds_[trace_.api_calls.name[call]];
    return kind == ApiKind::kCopy || kind == ApiKind::kAsyncCopy;
  }

 private:
  const Trace& trace_;
  std::vector<ApiKind> kinds_;  // by name id
  std::vector<ThreadActivity> threads_;
};

// A GPU operation that may end a gap.
struct Operation {
  Ns start;
  uint32_t call;
  NameId name;
  std::string_view kind;
};

class TimelineBuilder {
 public:
  TimelineBuilder(const Context& context, const HostActivity& host, size_t gpu)
      : context_(context),
        trace_(context.trace),
        host_(host),
        work_(context.work[gpu]),
        has_steps_(context.StepCount(context.ranks.gpus[gpu].rank) > 0) {
    timeline_.window = context.windows[gpu];
  }

  GpuTimeline Build() {
    CollectBusy();
    CollectOperations();
    FindLatency();
    FindGaps();
    FillLedger();
    return std::move(timeline_);
  }

 private:
  IntervalSet Clipped(const GpuOps& ops, const std::vector<uint32_t>& rows) const {
    std::vector<Interval> intervals;
    intervals.reserve(rows.size());
    for (const uint32_t i : rows) intervals.push_back({ops.start[i], ops.end[i]});
    return Clip(Union(std::move(intervals)), timeline_.window);
  }

  void CollectBusy() {
    std::vector<uint32_t> tensor, other, communication;
    for (const uint32_t i : work_.kernels) {
      const KernelTraits& traits = context_.kernels[trace_.kernels.name[i]];
      (traits.communication ? communication : traits.tensor_core == true ? tensor : other).push_back(i);
    }
    GpuTimeline& t = timeline_;
    t.tensor = Clipped(trace_.kernels, tensor);
    // A graph traced as a whole is compute of an unknown kind.
    t.other = Union(Clipped(trace_.kernels, other), Clipped(trace_.graph_launches, work_.graphs));
    t.communication = Clipped(trace_.kernels, communication);
    t.copies = Clipped(trace_.copies, work_.copies);
    t.sets = Clipped(trace_.sets, work_.sets);
    t.kernels = Union(Union(t.tensor, t.other), t.communication);
    t.busy = Union(Union(t.kernels, t.copies), t.sets);
    t.idle = Subtract({t.window}, t.busy);
  }

  void CollectOperations() {
    const auto add = [&](const GpuOps& ops, const std::vector<uint32_t>& rows,
                         const std::vector<uint32_t>& calls, const std::vector<NameId>* names,
                         std::string_view kind) {
      for (const uint32_t i : rows)
        operations_.push_back({ops.start[i], calls[i], names ? (*names)[i] : kNoName, kind});
    };
    add(trace_.kernels, work_.kernels, context_.launches.kernel, &trace_.kernels.name, "kernel");
    add(trace_.copies, work_.copies, context_.launches.copy, nullptr, "copy");
    add(trace_.sets, work_.sets, context_.launches.set, nullptr, "set");
    add(trace_.graph_launches, work_.graphs, context_.launches.graph, nullptr, "graph");
    std::stable_sort(operations_.begin(), operations_.end(),
                     [](const Operation& a, const Operation& b) { return a.start < b.start; });
  }

  void FindLatency() {
    std::vector<int64_t> latencies;
    for (const Operation& operation : operations_)
      if (operation.kind == "kernel" && operation.call != kNoIndex)
        latencies.push_back(std::max<int64_t>(0, operation.start - trace_.api_calls.start[operation.call]));
    if (latencies.empty()) return;
    const auto fifth = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 20);
    std::nth_element(latencies.begin(), fifth, latencies.end());
    timeline_.min_latency_ns = *fifth;
  }

  void FindGaps() {
    int64_t ended_ns = 0, known_ns = 0;
    for (const Interval& idle : timeline_.idle) {
      IdleGap& gap = timeline_.gaps.emplace_back();
      gap.time = idle;
      const auto next = std::lower_bound(operations_.begin(), operations_.end(), idle.end,
                                         [](const Operation& o, Ns time) { return o.start < time; });
      if (next == operations_.end() || next->start != idle.end) {
        gap.Charge(Bucket::kUnknown, idle.length());
        continue;
      }
      gap.call = next->call;
      gap.ended_by = next->name;
      gap.ended_by_kind = next->kind;
      ended_ns += idle.length();
      if (next == operations_.begin() && !has_steps_) {
        known_ns += idle.length();
        gap.Charge(Bucket::kStartUp, idle.length());
      } else if (gap.call == kNoIndex) {
        gap.Charge(Bucket::kUnknown, idle.length());
      } else {
        known_ns += idle.length();
        ChargeByLaunch(gap);
      }
    }
    timeline_.has_launches = trace_.api_calls.size() > 0 &&
                             static_cast<double>(known_ns) >= kMinKnownGaps * static_cast<double>(ended_ns);
  }

  void ChargeByLaunch(IdleGap& gap) const {
    const ApiCalls& calls = trace_.api_calls;
    const Interval idle = gap.time;
    const Ns launched = std::clamp(calls.start[gap.call], idle.start, idle.end);
    gap.starved_ns = launched - idle.start;
    if (gap.starved_ns > 0) host_.Charge(calls.thread[gap.call], {idle.start, launched}, gap);
    // From the launch itself, so that a launch before the gap has used up its latency by then.
    const Ns latency_end =
        std::clamp(calls.start[gap.call] + timeline_.min_latency_ns.value_or(0), launched, idle.end);
    const Ns returned = std::clamp(calls.end[gap.call], latency_end, idle.end);
    gap.Charge(Bucket::kLaunchLatency, latency_end - launched);
    gap.Charge(host_.Copies(gap.call) ? Bucket::kIdleCopy : Bucket::kLaunch, returned - latency_end);
    gap.Charge(Bucket::kDependency, idle.end - returned);
  }

  void FillLedger() {
    IntervalSet rest{timeline_.window};
    if (timeline_.window.length() <= 0) return;
    const auto take = [&](Bucket bucket, const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, set);
      timeline_.ledger[static_cast<size_t>(bucket)] = Length(part);
      rest = Subtract(rest, part);
    };
    take(Bucket::kTensor, timeline_.tensor);
    take(Bucket::kOther, timeline_.other);
    take(Bucket::kCommunication, timeline_.communication);
    take(Bucket::kCopy, timeline_.copies);
    take(Bucket::kMemset, timeline_.sets);
    for (const IdleGap& gap : timeline_.gaps)
      for (size_t b = 0; b < kBuckets; ++b) timeline_.ledger[b] += gap.charged[b];
  }

  const Context& context_;
  const Trace& trace_;
  const HostActivity& host_;
  const GpuWork& work_;
  const bool has_steps_;
  std::vector<Operation> operations_;
  GpuTimeline timeline_;
};

}  // namespace

std::string_view BucketName(Bucket bucket) {
  static constexpr std::array<std::string_view, kBuckets> names = {"compute/tensor",
                                                                   "compute/other",
                                                                   "communication/exposed",
                                                                   "copy",
                                                                   "memset",
                                                                   "idle/launch-latency",
                                                                   "idle/dependency",
                                                                   "idle/sync",
                                                                   "idle/copy",
                                                                   "idle/allocation",
                                                                   "idle/input",
                                                                   "idle/os",
                                                                   "idle/profiler",
                                                                   "idle/launch",
                                                                   "idle/start-up",
                                                                   "idle/unknown"};
  return names[static_cast<size_t>(bucket)];
}

Bucket IdleGap::Cause() const {
  return static_cast<Bucket>(std::max_element(charged.begin(), charged.end()) - charged.begin());
}

std::vector<GpuTimeline> ComputeTimelines(const Context& context) {
  const HostActivity host(context.trace);
  std::vector<GpuTimeline> timelines;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu)
    timelines.push_back(TimelineBuilder(context, host, gpu).Build());
  return timelines;
}

bool IsInputRange(std::string_view name) {
  static const RE2 pattern(R"((?i)data_?loader|_next_data|get_?batch|data_iterator|enumerate\(.*loader)");
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern);
}

}  // namespace dladvisor
