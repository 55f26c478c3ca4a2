// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"
#include "src/analysis/timeline/left_out.h"

namespace dladvisor {
namespace {

constexpr size_t kMostCalls = 300'000;
constexpr double kMostUnlaunched = 0.1, kMostError = 0.05;
// What a wait takes that finds the GPU done.
constexpr Ns kShortestWait = 3000;
// Of the operations that a queue of CUDA holds, somewhat more than 1,000, half: with more before it on its
// stream a launch that takes longer than others waits for a free place.
constexpr size_t kFullQueue = 512;

using Stream = std::pair<uint32_t, int64_t>;  // device and stream

struct Operation {
  uint32_t call, stream;  // stream: index into those of the replay
  Ns start, duration;
  bool is_kernel;  // or graph
};

// A call of the host, in order of start; calls within another call are part of it.
struct Call {
  Ns before, duration;  // since the end of the one before
  Ns end;
  uint32_t thread;
  enum class Waits : uint8_t { kNot, kForItsWork, kForStream, kForDevice } waits = Waits::kNot;
  bool reads_scalar = false, is_wait = false;  // a wait that reads none
  size_t queued = 0;  // of a launch into a full queue: operations of its stream, its own too, that are not
                      // done at its end
  Ns returning = 0;   // from the end of its copy; less than 0 where it returns before that
  size_t first_operation = 0, end_operation = 0;
  std::array<Ns, kChangeNames.size()> left_out_before{}, left_out_within{};
};

class Replay {
 public:
  Replay(const Context& context, const std::vector<GpuTimeline>& timelines,
         const RecomputedSegments& recomputed, int64_t rank)
      : context_(context),
        trace_(context.trace),
        recomputed_(recomputed),
        kinds_(context.api_kinds),
        steps_(context.StepCount(rank)),
        window_(context.HostOfSteps(rank)) {
    for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu)
      busy_ |= context.ranks.gpus[gpu].rank == rank && timelines[gpu].kernel_busy_ns > 0;
    if (trace_.api_calls.size() > kMostCalls ||
        !(busy_ || HasSomethingToLeaveOut(context, kinds_, recomputed)))
      return;
    for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu)
      if (context.ranks.gpus[gpu].rank == rank) {
        latency_ = timelines[gpu].min_latency_ns.value_or(0);
        CollectOperations(gpu);
      }
    if (unlaunched_ > 0) LaunchWithTheNext();
    SortByCall();
    if (!operations_.empty()) CollectCalls();
    if (!calls_.empty()) FindFullQueues();
  }

  bool IsKnown() const {
    return !calls_.empty() &&
           static_cast<double>(unlaunched_) <= kMostUnlaunched * static_cast<double>(operations_.size());
  }
  double Steps() const { return static_cast<double>(std::max<int64_t>(steps_, 1)); }
  // How many waits or ranges a change leaves out of the analysed steps.
  int64_t Count(Change change) const {
    if (change == kKernels) return busy_ ? std::ranges::count_if(operations_, &Operation::is_kernel) : 0;
    if (change == kScalarReads || change == kReadCalls || change == kWaits)
      return std::count_if(calls_.begin() + static_cast<ptrdiff_t>(first_call_),
                           calls_.begin() + static_cast<ptrdiff_t>(end_call_),
                           [&](const Call& c) { return change == kWaits ? c.is_wait : c.reads_scalar; });
    return std::ranges::count_if(left_out_[change], [&](Interval time) {
      return time.start >= window_.start && time.start < window_.end;
    });
  }

  // Whether a replay without it differs: what stands before the first launch, and in no step, is not played.
  bool Reaches(Change change) const {
    return change == kKernels ||
           std::any_of(calls_.begin() + static_cast<ptrdiff_t>(first_call_),
                       calls_.begin() + static_cast<ptrdiff_t>(end_call_), [&](const Call& c) {
                         return change == kScalarReads || change == kReadCalls ? c.reads_scalar
                                : change == kWaits
                                    ? c.is_wait
                                    : c.left_out_before[change] + c.left_out_within[change] > 0;
                       });
  }

  // The analysed steps, from the end of what was launched before them to the end of what they launch;
  // without steps from the first call to the last end.
  Ns Recorded() const {
    Ns before = first_, end = first_;
    for (const Operation& operation : operations_) {
      const Ns launched = trace_.api_calls.start[operation.call];
      if (launched < window_.start) before = std::max(before, operation.start + operation.duration);
      if (launched < window_.end) end = std::max(end, operation.start + operation.duration);
    }
    return steps_ > 0 ? std::max(before, end) - before : last_ - first_;
  }
  // The same time as if played again.
  Ns Run(Change without) const {
    std::vector<Ns> done(streams_.size(), 0);
    std::vector<std::vector<Ns>> ends(queues_fill_ ? streams_.size() : 0);  // of the operations of each
    std::vector<uint32_t> last_stream(trace_.threads.size(), kNoIndex);     // that a thread gave work to
    Ns now = 0, all_done = 0, before = 0;
    for (size_t c = 0; c < end_call_; ++c) {
      const Call& call = calls_[c];
      if (c == first_call_) before = all_done;
      now += call.before - call.left_out_before[without];
      if (without == kReadCalls && call.reads_scalar) continue;
      Ns own_work = 0;
      for (size_t i = call.first_operation; i < call.end_operation; ++i) {
        Ns& of_stream = done[operations_[i].stream];
        const bool runs = !(without == kKernels && operations_[i].is_kernel) &&
                          (!LeavesOutKernels(without) || call.left_out_within[without] == 0);
        of_stream = std::max(of_stream, now + latency_) + (runs ? operations_[i].duration : 0);
        if (queues_fill_) ends[operations_[i].stream].push_back(of_stream);
        own_work = std::max(own_work, of_stream);
        all_done = std::max(all_done, of_stream);
        last_stream[call.thread] = operations_[i].stream;
      }
      if (call.queued > 0) {
        now += std::max<Ns>(0, std::min(call.duration, launch_) - call.left_out_within[without]);
        const std::vector<Ns>& of_stream = ends[last_stream[call.thread]];
        if (of_stream.size() > call.queued)
          now = std::max(now, of_stream[of_stream.size() - 1 - call.queued]);
        continue;
      }
      if (call.waits == Call::Waits::kNot) {
        now += call.duration - call.left_out_within[without];
        continue;
      }
      now += std::min(call.duration, kShortestWait);
      if (without == kScalarReads && call.reads_scalar) continue;
      if (without == kWaits && call.is_wait) continue;
      const uint32_t stream = last_stream[call.thread];
      if (call.waits == Call::Waits::kForItsWork)
        now = std::max(now, own_work + call.returning);
      else if (call.waits == Call::Waits::kForStream && stream != kNoIndex)
        now = std::max(now, done[stream]);
      else
        now = std::max(now, all_done);
    }
    return steps_ > 0 ? all_done - before : std::max(now, all_done);
  }

 private:
  void CollectOperations(size_t gpu) {
    const auto add = [&](const GpuOperations& table, const std::vector<uint32_t>& rows,
                         const std::vector<uint32_t>& calls, bool is_kernel) {
      for (const uint32_t i : rows) {
        unlaunched_ += calls[i] == kNoIndex;
        operations_.push_back({calls[i], IndexOf({table.device[i], table.stream[i]}), table.start[i],
                               table.end[i] - table.start[i], is_kernel});
        last_ = std::max(last_, table.end[i]);
      }
    };
    const GpuWork& work = context_.work[gpu];
    operations_.reserve(operations_.size() + work.kernels.size() + work.copies.size() + work.sets.size() +
                        work.graphs.size());
    add(trace_.kernels, work.kernels, context_.launches.kernel, true);
    add(trace_.copies, work.copies, context_.launches.copy, false);
    add(trace_.sets, work.sets, context_.launches.set, false);
    add(trace_.graph_launches, work.graphs, context_.launches.graph, true);
  }

  uint32_t IndexOf(const Stream& stream) {
    if (last_found_ == kNoIndex || streams_[last_found_] != stream) {
      const auto [found, is_new] = stream_index_.try_emplace(stream, static_cast<uint32_t>(streams_.size()));
      if (is_new) streams_.push_back(stream);
      last_found_ = found->second;
    }
    return last_found_;
  }

  // An operation whose launch was not recorded was launched before the next one of its stream. Those before
  // the first of their stream that was are what the recording found in its queue: none is missing for them.
  void LaunchWithTheNext() {
    std::sort(operations_.begin(), operations_.end(),
              [](const Operation& a, const Operation& b) { return a.start > b.start; });
    struct Of {
      uint32_t next = kNoIndex;
      size_t waiting = 0;  // without a launch, of those before `next` or without one
    };
    std::vector<Of> streams(streams_.size());
    for (Operation& operation : operations_) {
      Of& of = streams[operation.stream];
      if (operation.call == kNoIndex) {
        operation.call = of.next;
        ++of.waiting;
      } else {
        of = {operation.call, 0};
      }
    }
    for (const Of& of : streams)
      if (of.next != kNoIndex) unlaunched_ -= of.waiting;
    std::erase_if(operations_, [](const Operation& operation) { return operation.call == kNoIndex; });
  }

  // By call, then start. The operations of a call are few, or of one graph and in order already.
  void SortByCall() {
    std::vector<size_t> next(trace_.api_calls.size() + 1, 0);
    for (const Operation& operation : operations_) ++next[operation.call + 1];
    for (size_t call = 1; call < next.size(); ++call) next[call] += next[call - 1];
    std::vector<Operation> sorted(operations_.size());
    for (const Operation& operation : operations_) sorted[next[operation.call]++] = operation;
    const auto is_before = [](const Operation& a, const Operation& b) { return a.start < b.start; };
    for (size_t call = 0, first = 0; call + 1 < next.size(); first = next[call++]) {
      const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(next[call]);
      if (!std::is_sorted(begin, end, is_before)) std::stable_sort(begin, end, is_before);
    }
    operations_ = std::move(sorted);
  }

  void CollectCalls() {
    const ApiCalls& calls = trace_.api_calls;
    std::vector<uint8_t> launches(trace_.threads.size(), 0);
    for (const Operation& operation : operations_)
      if (calls.thread[operation.call] != kNoIndex) launches[calls.thread[operation.call]] = 1;
    left_out_ = FindLeftOut(context_, kinds_, recomputed_, launches);
    const std::vector<Copying> copies = CopiesThatWait();
    std::vector<uint8_t> read_before(trace_.threads.size(), 0);  // the thread's last call read a scalar
    Ns end = 0;
    size_t operation = 0;
    bool is_first = true;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      while (operation < operations_.size() && operations_[operation].call < i) ++operation;
      const size_t first_operation = operation;
      while (operation < operations_.size() && operations_[operation].call == i) ++operation;
      const uint32_t thread = calls.thread[i];
      if (thread == kNoIndex || !launches[thread]) continue;
      if (is_first) {
        if (first_operation == operation) continue;  // what stands before the first launch
        // But what its step does before it, loading a batch above all, each step does.
        const bool is_of_step = steps_ > 0 && window_.start < calls.start[i];
        first_ = end = is_of_step ? window_.start : calls.start[i];
      }
      is_first = false;
      Call call;
      call.before = std::max<Ns>(0, calls.start[i] - end);
      call.duration = std::max<Ns>(0, calls.end[i] - std::max(calls.start[i], end));
      call.end = calls.end[i];
      call.thread = thread;
      for (const Change change : {kReadCalls, kLoading, kZeroGrad, kOptimizer, kAllocation, kRecomputation}) {
        if (left_out_[change].empty()) continue;
        call.left_out_before[change] =
            Within(left_out_[change], {calls.start[i] - call.before, calls.start[i]});
        call.left_out_within[change] =
            Within(left_out_[change], {calls.end[i] - call.duration, calls.end[i]});
      }
      call.first_operation = first_operation;
      call.end_operation = operation;
      if (copies[i] != Copying::kNot) {
        call.reads_scalar = copies[i] == Copying::kReadsScalar || copies[i] == Copying::kReadsScalarAndWaits;
        if (operation > first_operation) {
          call.returning =
              calls.end[i] - operations_[operation - 1].start - operations_[operation - 1].duration;
          if (copies[i] != Copying::kWaitsForStream) call.returning = std::max<Ns>(0, call.returning);
        }
        if (copies[i] != Copying::kReadsScalar) call.waits = Call::Waits::kForItsWork;
      } else if (kinds_[calls.name[i]] == ApiKind::kSync) {
        const std::string_view name = trace_.names.View(calls.name[i]);
        call.waits =
            name.find("Stream") != std::string_view::npos || name.find("Event") != std::string_view::npos
                ? Call::Waits::kForStream
                : Call::Waits::kForDevice;
        call.reads_scalar = read_before[thread] != 0;
        call.is_wait = !call.reads_scalar;
      }
      read_before[thread] = copies[i] == Copying::kReadsScalar || copies[i] == Copying::kReadsScalarAndWaits;
      end = std::max(end, calls.end[i]);
      last_ = std::max(last_, calls.end[i]);
      calls_.push_back(call);
      if (steps_ > 0 && calls.start[i] < window_.start) first_call_ = calls_.size();
      if (steps_ == 0 || calls.start[i] < window_.end) end_call_ = calls_.size();
    }
  }

  // Launches that wait until the GPU takes something from the queue.
  void FindFullQueues() {
    std::vector<std::vector<Ns>> ends(streams_.size());  // of the operations of each that are launched so far
    std::vector<Ns> launches;                            // what those into other queues take
    for (Call& call : calls_) {
      for (size_t i = call.first_operation; i < call.end_operation; ++i) {
        std::vector<Ns>& of_stream = ends[operations_[i].stream];
        const Ns end = operations_[i].start + operations_[i].duration;
        of_stream.push_back(of_stream.empty() ? end : std::max(end, of_stream.back()));
      }
      if (call.waits != Call::Waits::kNot || call.first_operation == call.end_operation) continue;
      const std::vector<Ns>& of_stream = ends[operations_[call.end_operation - 1].stream];
      const auto done = std::ranges::upper_bound(of_stream, call.end);
      const auto queued = static_cast<size_t>(of_stream.end() - done);
      if (queued < kFullQueue)
        launches.push_back(call.duration);
      else
        call.queued = queued;
    }
    if (launches.empty())
      for (const Call& call : calls_)
        if (call.queued > 0) launches.push_back(call.duration);
    if (launches.empty()) return;
    const auto middle = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2);
    std::ranges::nth_element(launches, middle);
    launch_ = *middle;
    for (Call& call : calls_) {
      if (call.duration <= launch_) call.queued = 0;
      queues_fill_ = queues_fill_ || call.queued > 0;
    }
  }

  static Ns Within(const IntervalSet& set, Interval time) {
    Ns total = 0;
    auto i = std::lower_bound(set.begin(), set.end(), time.start,
                              [](const Interval& interval, Ns t) { return interval.end <= t; });
    for (; i != set.end() && i->start < time.end; ++i)
      total += std::min(i->end, time.end) - std::max(i->start, time.start);
    return total;
  }

  // Whether the next call of its thread waits.
  bool WaitsNext(uint32_t call) const {
    const ApiCalls& calls = trace_.api_calls;
    for (uint32_t next = call + 1; next < calls.size(); ++next)
      if (calls.thread[next] == calls.thread[call]) return kinds_[calls.name[next]] == ApiKind::kSync;
    return false;
  }

  // What calls do that copy to pageable memory of the host: most wait until it is done, some leave that to
  // the synchronisation after them, as PyTorch does that reads single values into pinned memory. From such
  // memory they return once the data is staged, which they begin behind the work in front of it: those that
  // return after the copy's start have waited for that.
  enum class Copying : uint8_t { kNot, kWaits, kWaitsForStream, kReadsScalar, kReadsScalarAndWaits };
  std::vector<Copying> CopiesThatWait() const {
    const Copies& copies = trace_.copies;
    std::vector<Copying> of_call(trace_.api_calls.size(), Copying::kNot);
    for (uint32_t i = 0; i < copies.size(); ++i) {
      const uint32_t call = context_.launches.copy[i];
      if (call == kNoIndex) continue;
      const Ns returned = trace_.api_calls.end[call];
      if (copies.direction[i] == CopyDirection::kHostToDevice && copies.source[i] == MemoryKind::kPageable) {
        if (returned > copies.start[i]) of_call[call] = Copying::kWaitsForStream;
        continue;
      }
      if (copies.direction[i] != CopyDirection::kDeviceToHost) continue;
      const bool reads_scalar = IsOfAtMost(copies.bytes[i], kScalarBytes);
      if (copies.destination[i] != MemoryKind::kPageable && !(reads_scalar && WaitsNext(call))) continue;
      const bool waits = returned >= copies.end[i];
      if (reads_scalar)
        of_call[call] = waits ? Copying::kReadsScalarAndWaits : Copying::kReadsScalar;
      else if (waits)
        of_call[call] = Copying::kWaits;
    }
    return of_call;
  }

  const Context& context_;
  const Trace& trace_;
  const RecomputedSegments& recomputed_;
  const std::vector<ApiKind>& kinds_;     // by name of a call
  const int64_t steps_;                   // that are analysed, 0 where there are none
  const Interval window_;                 // in which the host works on them
  size_t first_call_ = 0, end_call_ = 0;  // of calls_, in that window
  Ns latency_ = 0, first_ = 0, last_ = 0;
  Ns launch_ = 0;             // what a launch takes
  bool queues_fill_ = false;  // any
  bool busy_ = false;         // any GPU of the rank
  size_t unlaunched_ = 0;
  std::map<Stream, uint32_t> stream_index_;
  std::vector<Stream> streams_;
  uint32_t last_found_ = kNoIndex;  // of the streams
  std::vector<Operation> operations_;
  std::vector<Call> calls_;
  LeftOut left_out_;
};

}  // namespace

const RelationOf<WhatIfRow>& WhatIfRelation() {
  static const auto relation =
      RelationOf<WhatIfRow>(
          "what_if",
          "What the analysed steps would take without some of what the host does, by replaying it "
          "(replay.h), per step; the whole profile where there are no steps.")
          .Key("rank", &WhatIfRow::rank, kRankNumber, "Rank.")
          .Key("change", &WhatIfRow::change, Unit::kText,
               "What is left out: scalar reads (waits for single values), reads with their calls (these, "
               "their copies "
               "and the operators that make them), waits (all others but those of copies), data loading, "
               "zero_grad (with its kernels), optimizer on the host (its kernels "
               "stay), allocation (calls that allocate and free), recomputation (with its kernels), or all "
               "kernels, which leaves what host and copies take.")
          .Column("calls", &WhatIfRow::calls, Unit::kCount,
                  "Waits or ranges that are left out of it, of all steps; or all kernels.")
          .Column("recorded_ns", &WhatIfRow::recorded_ns, Unit::kNanoseconds,
                  "From the end of the work before the steps, or from the begin of the first (without steps "
                  "from the first launch), to the end of all work, as recorded.")
          .Column("replayed_ns", &WhatIfRow::replayed_ns, Unit::kNanoseconds, "The same, replayed unchanged.")
          .Column("predicted_ns", &WhatIfRow::predicted_ns, Unit::kNanoseconds, "Replayed with the change.")
          .Column("saves_ns", &WhatIfRow::saves_ns, Unit::kNanoseconds,
                  "replayed_ns - predicted_ns; unknown where the replay is not like the recording, or plays "
                  "nothing of "
                  "what is left out.");
  return relation;
}

std::vector<WhatIfRow> ComputeWhatIfs(const Context& context, const std::vector<GpuTimeline>& timelines,
                                      const RecomputedSegments& recomputed) {
  std::vector<WhatIfRow> rows;
  int64_t last_rank = -1;
  for (const Ranks::Gpu& gpu : context.ranks.gpus) {
    if (gpu.rank == last_rank) continue;
    last_rank = gpu.rank;
    const Replay replay(context, timelines, recomputed, gpu.rank);
    if (!replay.IsKnown()) continue;
    const double steps = replay.Steps();
    const auto recorded = static_cast<double>(replay.Recorded());
    std::optional<double> replayed;
    for (const Change change : {kScalarReads, kReadCalls, kWaits, kLoading, kZeroGrad, kOptimizer,
                                kAllocation, kRecomputation, kKernels}) {
      WhatIfRow row;
      row.rank = gpu.rank;
      row.change = kChangeNames[change];
      row.calls = replay.Count(change);
      if (row.calls == 0) continue;
      if (!replayed) replayed = static_cast<double>(replay.Run(kNothing));
      row.recorded_ns = recorded / steps;
      row.replayed_ns = *replayed / steps;
      if (replay.Reaches(change) && std::abs(*replayed - recorded) <= kMostError * recorded) {
        const auto predicted = static_cast<double>(replay.Run(change));
        row.predicted_ns = predicted / steps;
        row.saves_ns = std::max(0.0, *replayed - predicted) / steps;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const Family& WhatIfFamily() {
  static const Family family = FamilyOf(WhatIfRelation(), ComputeWhatIfs).Detail();
  return family;
}

}  // namespace dladvisor
