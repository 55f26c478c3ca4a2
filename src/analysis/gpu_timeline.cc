#include "src/analysis/gpu_timeline.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/analysis/host_activity.h"
#include "src/analysis/launches.h"

namespace dladvisor {
namespace {

constexpr double kMinKnownGaps = 0.8;  // share of idle time that ends whose launch must be known

// A GPU operation that may end a gap.
struct Operation {
  Ns start, end;
  uint32_t call;
  NameId name;
  std::string_view kind;
};

class TimelineBuilder {
 public:
  TimelineBuilder(const Context& context, const HostActivity& host, size_t gpu)
      : context_(context), trace_(context.trace), host_(host), work_(context.work[gpu]) {
    timeline_.window = context.windows[gpu];
    for (const auto& [rank, steps] : context.steps.by_rank)
      if (rank == context.ranks.gpus[gpu].rank)
        for (const Step& step : steps)
          if (!step.warmup && step.time.start >= timeline_.window.start &&
              step.time.end <= timeline_.window.end)
            timeline_.steps.push_back({step.number, step.time, {}});
  }

  GpuTimeline Build() {
    CollectBusy();
    CollectOperations();
    FindLatency();
    FindGaps();
    FillLedger();
    for (size_t b = 0; b < kBuckets; ++b) timeline_.captured[b] = host_.IsCaptured(static_cast<Bucket>(b));
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
        operations_.push_back({ops.start[i], ops.end[i], calls[i], names ? (*names)[i] : kNoName, kind});
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
    auto seen = operations_.begin();
    const Operation* last = nullptr;  // of those before the gap the one that ends last
    for (const Interval& idle : timeline_.idle) {
      IdleGap& gap = timeline_.gaps.emplace_back();
      gap.time = idle;
      const auto next = std::lower_bound(operations_.begin(), operations_.end(), idle.end,
                                         [](const Operation& o, Ns time) { return o.start < time; });
      for (; seen != next; ++seen)
        if (!last || seen->end > last->end) last = &*seen;
      if (next == operations_.end() || next->start != idle.end) {
        Charge(gap, Bucket::kUnknown, idle);
        continue;
      }
      gap.call = next->call;
      gap.ended_by = next->name;
      gap.ended_by_kind = next->kind;
      ended_ns += idle.length();
      if (gap.call == kNoIndex) {
        Charge(gap, Bucket::kUnknown, idle);
      } else {
        known_ns += idle.length();
        ChargeByLaunch(gap, last && last->call != kNoIndex ? trace_.api_calls.thread[last->call] : kNoIndex);
      }
    }
    timeline_.has_launches = trace_.api_calls.size() > 0 &&
                             static_cast<double>(known_ns) >= kMinKnownGaps * static_cast<double>(ended_ns);
  }

  // `before` is the thread that launched what ran before the gap.
  void ChargeByLaunch(IdleGap& gap, uint32_t before) {
    const ApiCalls& calls = trace_.api_calls;
    const Interval idle = gap.time;
    const Ns launched = std::clamp(calls.start[gap.call], idle.start, idle.end);
    gap.starved_ns = launched - idle.start;
    const auto charge = [&](Bucket bucket, Interval time) { Charge(gap, bucket, time); };
    gap.thread = calls.thread[gap.call];
    gap.handed_over = idle.start;
    if (before != kNoIndex && before != gap.thread && gap.starved_ns > 0) {
      gap.before = before;
      gap.handed_over = host_.FirstDoing(gap.thread, {idle.start, launched});
      host_.Split(before, {idle.start, gap.handed_over}, charge);
    }
    host_.Split(gap.thread, {gap.handed_over, launched}, charge);
    // From the launch itself, so that a launch before the gap has used up its latency by then.
    const Ns latency_end =
        std::clamp(calls.start[gap.call] + timeline_.min_latency_ns.value_or(0), launched, idle.end);
    const Ns returned = std::clamp(calls.end[gap.call], latency_end, idle.end);
    const ApiKind kind = ClassifyApi(trace_.names.View(calls.name[gap.call]));
    const bool copies = kind == ApiKind::kCopy || kind == ApiKind::kAsyncCopy;
    Charge(gap, Bucket::kLaunchLatency, {launched, latency_end});
    Charge(gap, copies ? Bucket::kIdleCopy : Bucket::kLaunch, {latency_end, returned});
    Charge(gap, Bucket::kDependency, {returned, idle.end});
  }

  void Charge(IdleGap& gap, Bucket bucket, Interval time) {
    gap.charged[static_cast<size_t>(bucket)] += time.length();
    AddToSteps(bucket, time);
  }

  void AddToSteps(Bucket bucket, Interval time) {
    if (time.length() <= 0) return;
    auto step = std::lower_bound(timeline_.steps.begin(), timeline_.steps.end(), time.start,
                                 [](const StepLedger& s, Ns t) { return s.time.end <= t; });
    for (; step != timeline_.steps.end() && step->time.start < time.end; ++step)
      step->ledger[static_cast<size_t>(bucket)] +=
          std::min(step->time.end, time.end) - std::max(step->time.start, time.start);
  }

  void FillLedger() {
    IntervalSet rest{timeline_.window};
    if (timeline_.window.length() <= 0) return;
    const auto take = [&](Bucket bucket, const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, set);
      timeline_.ledger[static_cast<size_t>(bucket)] = Length(part);
      for (const Interval& time : part) AddToSteps(bucket, time);
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
                                                                   "idle/communication",
                                                                   "idle/checkpoint",
                                                                   "idle/garbage-collection",
                                                                   "idle/os",
                                                                   "idle/profiler",
                                                                   "idle/launch",
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

}  // namespace dladvisor
