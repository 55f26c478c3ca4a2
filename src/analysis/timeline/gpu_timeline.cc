// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/gpu_timeline.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/timeline/host_buckets.h"
#include "src/analysis/timeline/host_operators.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr Ns kLoadsModule = 1'000'000, kFirstLoadsModule = 100'000;
constexpr Ns kMostLatency = 100'000;
constexpr Ns kFirstUse = 10'000'000;   // launching takes microseconds
constexpr double kMinKnownGaps = 0.8;  // share of idle time that ends whose launch must be known

// The operations of a GPU in order of start; of those that start together, kernels, copies, sets, graphs.
class Operations {
 public:
  enum Kinds : size_t { kKernel, kCopy, kSet, kGraph };
  Operations(const Context& context, const GpuWork& work)
      : kinds_{{{context.trace.kernels, work.kernels, context.launches.kernel},
                {context.trace.copies, work.copies, context.launches.copy},
                {context.trace.sets, work.sets, context.launches.set},
                {context.trace.graph_launches, work.graphs, context.launches.graph}}} {
    Choose();
  }

  bool AtEnd() const { return start() == kNever; }
  Ns start() const { return kinds_[first_].Start(); }
  Ns end() const { return kinds_[first_].ops.end[row()]; }
  uint32_t row() const { return kinds_[first_].rows[kinds_[first_].next]; }
  uint32_t call() const { return kinds_[first_].calls[row()]; }
  size_t kind() const { return first_; }
  void Next() {
    ++kinds_[first_].next;
    Choose();
  }

 private:
  static constexpr Ns kNever = std::numeric_limits<Ns>::max();
  struct Kind {
    const GpuOperations& ops;
    const std::vector<uint32_t>&rows, &calls;
    size_t next = 0;
    Ns Start() const { return next < rows.size() ? ops.start[rows[next]] : kNever; }
  };
  void Choose() {
    first_ = 0;
    for (size_t k = 1; k < kinds_.size(); ++k)
      if (kinds_[k].Start() < kinds_[first_].Start()) first_ = k;
  }

  std::array<Kind, 4> kinds_;
  size_t first_ = 0;  // the kind whose next operation is the first
};

constexpr std::array<std::string_view, 4> kNamesOfKinds = {"kernel", "copy", "set", "graph"};

// Of two gaps the one to be kept.
bool IsLonger(const IdleGap& a, const IdleGap& b) {
  return std::pair(-a.time.length(), a.time.start) < std::pair(-b.time.length(), b.time.start);
}

Bucket BucketOfKernel(const KernelTraits& traits) {
  return traits.communication         ? Bucket::kCommunication
         : traits.tensor_core == true ? Bucket::kTensor
                                      : Bucket::kOther;
}

class TimelineBuilder {
 public:
  TimelineBuilder(const Context& context, const HostBuckets& host, const std::vector<Bucket>& buckets,
                  size_t gpu)
      : context_(context),
        trace_(context.trace),
        host_(host),
        api_kinds_(context.api_kinds),
        buckets_(buckets),
        work_(context.work[gpu]),
        operators_(context.trace) {
    timeline_.window = context.windows[gpu];
    const ApiCalls& calls = trace_.api_calls;
    for (uint32_t i = 0; i < calls.size(); ++i)
      if (api_kinds_[calls.name[i]] == ApiKind::kPrefetch && calls.thread[i] != kNoIndex &&
          trace_.threads[calls.thread[i]].process == context.ranks.gpus[gpu].process)
        prefetches_.push_back(i);
    for (const auto& [rank, steps] : context.steps.by_rank)
      if (rank == context.ranks.gpus[gpu].rank)
        for (const Step& step : steps)
          if (!step.warmup && step.time.start >= timeline_.window.start &&
              step.time.end <= timeline_.window.end)
            timeline_.steps.push_back({step.number, step.time, {}});
  }

  GpuTimeline Build() {
    CollectBusy();
    FindLatency();
    FindGaps();
    for (size_t b = 0; b < kBuckets; ++b)
      timeline_.captured[b] = host_.IsCaptured(static_cast<Bucket>(b)) || timeline_.ledger[b] > 0;
    return std::move(timeline_);
  }

 private:
  // Where several run at once, the first bucket counts: each has what it adds to the union of those before.
  void CollectBusy() {
    GpuTimeline& t = timeline_;
    t.idle.reserve(work_.kernels.size() + 1);  // mostly too much, which costs nothing until it is used
    // Kernels and graphs where they may hide copies; all of these but communication where they may hide that.
    IntervalSet kernels, compute;
    // An interval comes when all that starts before its end has been seen.
    const auto may_hide = [](const IntervalSet& set, Interval time) {
      return !set.empty() && set.back().end > time.start;
    };
    constexpr size_t kBusy = static_cast<size_t>(Bucket::kMemset) + 1;
    std::array<RunningUnion, kBusy> until;  // of all operations up to a bucket
    const auto emit = [&](size_t bucket) {
      return [&, bucket](Interval time) {
        Add(static_cast<Bucket>(bucket), time);
        if (bucket == static_cast<size_t>(Bucket::kOther) && may_hide(t.communication, time))
          compute.push_back(time);
        if (bucket == static_cast<size_t>(Bucket::kCommunication)) {
          t.kernel_busy_ns += time.length();
          if (may_hide(t.copies, time)) kernels.push_back(time);
        }
        if (bucket + 1 == kBusy) {
          Append(t.idle, {idle_from_, time.start});
          idle_from_ = time.end;
        }
      };
    };
    idle_from_ = t.window.start;
    for (Operations operations(context_, work_); !operations.AtEnd(); operations.Next()) {
      const Interval time{std::max(operations.start(), t.window.start),
                          std::min(operations.end(), t.window.end)};
      const Bucket own = BucketOf(operations);
      if (own == Bucket::kCommunication) Append(t.communication, time);
      if (own == Bucket::kCopy) Append(t.copies, time);
      if (own == Bucket::kMemset) Append(t.sets, time);
      for (size_t b = static_cast<size_t>(own); b < kBusy; ++b) until[b].Add(time, emit(b));
    }
    for (size_t b = 0; b < kBusy; ++b) until[b].Finish(emit(b));
    Append(t.idle, {idle_from_, t.window.end});
    t.exposed_communication = Subtract(t.communication, compute);
    t.exposed_copies = Subtract(t.copies, kernels);
    const auto subtract_before = [](auto& ledger) {
      for (size_t b = kBusy; b-- > 1;) ledger[b] -= ledger[b - 1];
    };
    subtract_before(t.ledger);
    for (StepLedger& step : t.steps) subtract_before(step.ledger);
  }

  Bucket BucketOf(const Operations& operation) const {
    switch (operation.kind()) {
      case Operations::kCopy:
        return Bucket::kCopy;
      case Operations::kSet:
        return Bucket::kMemset;
      case Operations::kGraph:
        return Bucket::kOther;  // as a whole, compute of an unknown kind
      default:
        return buckets_[trace_.kernels.name[operation.row()]];
    }
  }

  void FindLatency() {
    std::vector<uint32_t> latencies;  // no more than counts of each
    latencies.reserve(work_.kernels.size());
    for (const uint32_t i : work_.kernels)
      if (const uint32_t call = context_.launches.kernel[i]; call != kNoIndex)
        latencies.push_back(static_cast<uint32_t>(
            std::clamp<int64_t>(trace_.kernels.start[i] - trace_.api_calls.start[call], 0, kMostLatency)));
    if (latencies.empty()) return;
    const auto fifth = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 20);
    std::nth_element(latencies.begin(), fifth, latencies.end());
    timeline_.min_latency_ns = *fifth;
  }

  void FindGaps() {
    int64_t ended_ns = 0, known_ns = 0;
    Operations operations(context_, work_);
    bool is_first = true;
    Ns last_end = std::numeric_limits<Ns>::min();  // of the operations before the gap
    uint32_t last_call = kNoIndex;                 // that launched the one which ends last
    uint32_t launcher = kNoIndex;                  // thread that made the last launch
    for (const Interval& idle : timeline_.idle) {
      IdleGap gap;
      gap.time = idle;
      for (; !operations.AtEnd() && operations.start() < idle.end; operations.Next()) {
        if (is_first || operations.end() > last_end) {
          last_end = operations.end();
          last_call = operations.call();
        }
        is_first = false;
        if (operations.call() != kNoIndex) launcher = trace_.api_calls.thread[operations.call()];
      }
      if (operations.AtEnd() || operations.start() != idle.end) {
        Charge(gap, Bucket::kUnknown, idle);
        Keep(gap);
        continue;
      }
      gap.call = operations.call();
      gap.ended_by_kind = kNamesOfKinds[operations.kind()];
      if (operations.kind() == Operations::kKernel) gap.ended_by = trace_.kernels.name[operations.row()];
      ended_ns += idle.length();
      if (gap.call == kNoIndex && launcher != kNoIndex &&
          // A page of managed memory that the host has touched: it was at work, and no call brings the page.
          IsTo(operations, CopyDirection::kUnifiedDeviceToHost)) {
        known_ns += idle.length();
        gap.thread = launcher;
        gap.handed_over = idle.start;
        gap.starved_ns = idle.length();
        ++timeline_.starved_gaps;
        // No launch ends the gap.
        Starve(launcher, idle, idle.start, [&](Bucket bucket, Interval time) {
          Charge(gap, bucket == Bucket::kLaunch ? Bucket::kHost : bucket, time);
        });
      } else if (gap.call == kNoIndex) {
        const uint32_t prefetch = IsTo(operations, CopyDirection::kUnifiedHostToDevice)
                                      ? LastPrefetch(operations.start())
                                      : kNoIndex;
        if (prefetch != kNoIndex) {
          known_ns += idle.length();
          ChargeByPrefetch(gap, prefetch);
        } else {
          ChargeByOperator(gap);
        }
      } else {
        known_ns += idle.length();
        ChargeByLaunch(gap, last_call != kNoIndex ? trace_.api_calls.thread[last_call] : kNoIndex,
                       operations.kind() == Operations::kCopy && !Blocks(operations.row()));
      }
      Keep(gap);
    }
    std::sort(timeline_.gaps.begin(), timeline_.gaps.end(),
              [](const IdleGap& a, const IdleGap& b) { return a.time.start < b.time.start; });
    timeline_.has_launches = trace_.api_calls.size() > 0 &&
                             static_cast<double>(known_ns) >= kMinKnownGaps * static_cast<double>(ended_ns);
  }

  // The last call before a time that prefetches managed memory; kNoIndex if none does.
  uint32_t LastPrefetch(Ns before) const {
    const auto next =
        std::upper_bound(prefetches_.begin(), prefetches_.end(), before,
                         [&](Ns time, uint32_t call) { return time < trace_.api_calls.start[call]; });
    return next == prefetches_.begin() ? kNoIndex : *(next - 1);
  }

  bool IsTo(const Operations& operation, CopyDirection direction) const {
    return operation.kind() == Operations::kCopy && trace_.copies.direction[operation.row()] == direction;
  }

  // The shortest of the gaps that are kept is on top of a heap.
  void Keep(const IdleGap& gap) {
    std::vector<IdleGap>& gaps = timeline_.gaps;
    if (gaps.size() == kMostGaps) {
      if (!IsLonger(gap, gaps.front())) return;
      std::pop_heap(gaps.begin(), gaps.end(), IsLonger);
      gaps.pop_back();
    }
    gaps.push_back(gap);
    std::push_heap(gaps.begin(), gaps.end(), IsLonger);
  }

  // Before the prefetch was called the gap is the host's, which launched nothing; from then on its pages are
  // waited for.
  void ChargeByPrefetch(IdleGap& gap, uint32_t call) {
    const ApiCalls& calls = trace_.api_calls;
    const Ns called = std::clamp(calls.start[call], gap.time.start, gap.time.end);
    gap.thread = calls.thread[call];
    gap.handed_over = gap.time.start;
    gap.starved_ns = called - gap.time.start;
    timeline_.starved_gaps += gap.starved_ns > 0;
    Starve(gap.thread, {gap.time.start, called}, gap.time.start, [&](Bucket bucket, Interval time) {
      Charge(gap, bucket == Bucket::kLaunch ? Bucket::kHost : bucket, time);
    });
    Charge(gap, Bucket::kIdleCopy, {called, gap.time.end});
  }

  // No launch is known: an operator of the host that lasts as long. One that ends in its own kernel starts a
  // library or looks for an algorithm in so long a time, which is first use.
  void ChargeByOperator(IdleGap& gap) {
    const uint32_t range = operators_.Through(gap.time);
    if (range == kNoIndex) return Charge(gap, Bucket::kUnknown, gap.time);
    const Ranges& ranges = trace_.ranges;
    gap.operator_name = ranges.name[range];
    const Interval through{std::max(ranges.start[range], gap.time.start),
                           std::min(ranges.end[range], gap.time.end)};
    const bool is_first_use =
        gap.operator_name == gap.ended_by && ranges.end[range] - ranges.start[range] >= kFirstUse;
    const Bucket named = BucketOfRange(trace_.names.View(gap.operator_name));
    // A collective of TensorFlow's waits in its operator for other GPUs.
    static const RE2 waits("^(Nccl|Collective)");
    const std::string_view name = trace_.names.View(gap.operator_name);
    const Bucket bucket = named == Bucket::kInput ? named
                          : is_first_use          ? Bucket::kCompilation
                          : RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), waits)
                              ? Bucket::kUnknown
                              : Bucket::kHost;
    Charge(gap, Bucket::kUnknown, {gap.time.start, through.start});
    Charge(gap, bucket, through);
    Charge(gap, Bucket::kUnknown, {through.end, gap.time.end});
  }

  // Whether the host may wait in the call that makes the copy: one of pinned memory, or within the GPU, is
  // only launched where it is asked for so.
  bool Blocks(uint32_t copy) const {
    const auto returns = [](MemoryKind kind) {
      return kind == MemoryKind::kPinned || kind == MemoryKind::kDevice || kind == MemoryKind::kArray;
    };
    return !returns(trace_.copies.source[copy]) || !returns(trace_.copies.destination[copy]);
  }

  // `before` is the thread that launched what ran before the gap; `only_launched` is a copy that does not
  // block.
  void ChargeByLaunch(IdleGap& gap, uint32_t before, bool only_launched) {
    const ApiCalls& calls = trace_.api_calls;
    const Interval idle = gap.time;
    const Ns launched = std::clamp(calls.start[gap.call], idle.start, idle.end);
    gap.starved_ns = launched - idle.start;
    const auto charge = [&](Bucket bucket, Interval time) { Charge(gap, bucket, time); };
    gap.thread = calls.thread[gap.call];
    gap.handed_over = idle.start;
    before = host_.OwnerOf(trace_.threads[gap.thread].is_worker ? gap.thread : before);
    if (before != kNoIndex && before != gap.thread && gap.starved_ns > 0) {
      gap.before = before;
      gap.handed_over = trace_.threads[gap.thread].is_worker
                            ? host_.BeginOfTask(gap.thread, {idle.start, launched})
                            : host_.FirstActivity(gap.thread, {idle.start, launched});
      Starve(before, {idle.start, gap.handed_over}, idle.start, charge);
    }
    Starve(gap.thread, {gap.handed_over, launched}, idle.start, charge);
    timeline_.starved_gaps += gap.starved_ns > 0;
    // From the launch itself, so that a launch before the gap has used up its latency by then.
    const Ns latency_end =
        std::clamp(calls.start[gap.call] + timeline_.min_latency_ns.value_or(0), launched, idle.end);
    const Ns returned = std::clamp(calls.end[gap.call], latency_end, idle.end);
    const ApiKind kind = api_kinds_[calls.name[gap.call]];
    const bool copies = kind == ApiKind::kCopy || (kind == ApiKind::kAsyncCopy && !only_launched);
    Charge(gap, Bucket::kLaunchLatency, {launched, latency_end});
    const Ns loads = host_.IsFirstOfKernel(gap.call) ? kFirstLoadsModule : kLoadsModule;
    const bool loading = returned - latency_end >= loads && kind != ApiKind::kAsyncCopy;
    const Bucket running = copies ? Bucket::kIdleCopy : loading ? Bucket::kCompilation : Bucket::kLaunch;
    Charge(gap, running, {latency_end, returned});
    Charge(gap, Bucket::kDependency, {returned, idle.end});
  }

  template <class ChargeTo>
  void Starve(uint32_t thread, Interval time, Ns dry, ChargeTo charge) {
    if (time.length() <= 0) return;
    timeline_.starvation.push_back({time, thread});
    host_.Split(thread, time, dry, charge);
  }

  void Charge(IdleGap& gap, Bucket bucket, Interval time) {
    gap.charged[static_cast<size_t>(bucket)] += time.length();
    Add(bucket, time);
  }

  // To the ledgers of the window and of its steps. Mostly in order of time, so that the step at hand is
  // mostly that of the time before.
  void Add(Bucket bucket, Interval time) {
    if (time.length() <= 0) return;
    timeline_.ledger[static_cast<size_t>(bucket)] += time.length();
    std::vector<StepLedger>& steps = timeline_.steps;
    const auto ends_before = [](const StepLedger& s, Ns t) { return s.time.end <= t; };
    if (step_ < steps.size() &&
        (steps[step_].time.start > time.start || ends_before(steps[step_], time.start)))
      step_ = steps.size();
    if (step_ == steps.size())
      step_ = static_cast<size_t>(std::lower_bound(steps.begin(), steps.end(), time.start, ends_before) -
                                  steps.begin());
    for (size_t s = step_; s < steps.size() && steps[s].time.start < time.end; ++s)
      steps[s].ledger[static_cast<size_t>(bucket)] +=
          std::min(steps[s].time.end, time.end) - std::max(steps[s].time.start, time.start);
  }

  const Context& context_;
  const Trace& trace_;
  const HostBuckets& host_;
  const std::vector<ApiKind>& api_kinds_;  // by name id
  const std::vector<Bucket>& buckets_;     // of kernels, by name id
  const GpuWork& work_;
  const HostOperators operators_;
  std::vector<uint32_t> prefetches_;  // calls that prefetch managed memory, of the GPU's process
  size_t step_ = 0;                   // where the last time was added
  Ns idle_from_ = 0;                  // end of what is busy so far
  GpuTimeline timeline_;
};

}  // namespace

Bucket IdleGap::Cause() const {
  return static_cast<Bucket>(std::max_element(charged.begin(), charged.end()) - charged.begin());
}

std::vector<GpuTimeline> ComputeTimelines(const Context& context) {
  const HostBuckets host(context);
  std::vector<Bucket> buckets(context.kernels.size());
  std::transform(context.kernels.begin(), context.kernels.end(), buckets.begin(), BucketOfKernel);
  std::vector<GpuTimeline> timelines(context.ranks.gpus.size());
  ParallelFor(timelines.size(),
              [&](size_t gpu) { timelines[gpu] = TimelineBuilder(context, host, buckets, gpu).Build(); });
  return timelines;
}

}  // namespace dladvisor
