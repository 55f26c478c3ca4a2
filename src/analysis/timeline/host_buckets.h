// SPDX-License-Identifier: Apache-2.0
// What the threads of the host did over time: the base for saying why a GPU had nothing to do.
//
// Each moment of a thread's time is of one bucket, the first of: blocking synchronisation (idle/sync),
// blocking copies, of any GPU (idle/copy), without their waits for kernels (idle/sync), allocation
// (idle/allocation), loading and compiling GPU code, the start of CUDA and its libraries, and capturing
// graphs (idle/compilation), the profiler (idle/profiler), data loading (idle/input), collectives of the host
// (idle/communication), saving a checkpoint (idle/checkpoint), garbage collection (idle/garbage-collection),
// host time that ends in loading GPU code, or in the first launches of an operator whose later calls take a
// fiftieth (idle/compilation, too: code was compiled or looked up, a library started), calls of the operating
// system (idle/os). What is left is, in this order:
// - of a synchronisation that was waiting when the queue ran dry, as far as it had waited: in that time
//   the host could have done what it did afterwards (idle/sync);
// - dispatch (idle/launch), ranges of a runtime that do nothing else and the last part before the launch, up
// to the cost of a launch for each one made:
//   eight times the median time that the thread takes from one launch to the next, first launches of kernels
//   left out, between 50 us and 1 ms;
// - other work of the host (idle/host).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/context.h"
#include "src/analysis/timeline/bucket.h"
#include "src/trace/intervals.h"
#include "src/trace/trace.h"

namespace dladvisor {

class HostBuckets {
 public:
  explicit HostBuckets(const Context& context);

  // Calls charge(bucket, interval) for disjoint intervals that cover `time`, by what `thread` did before it
  // launched again at the end of `time`. The queue is empty since `dry`.
  template <class Charge>
  void Split(uint32_t thread, Interval time, Ns dry, Charge charge) const {
    if (time.length() <= 0) return;
    IntervalSet rest{time};
    const auto take = [&](Bucket bucket, const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, set);
      for (const Interval& i : part) charge(bucket, i);
      rest = Subtract(rest, part);
    };
    if (thread != kNoIndex) {
      const auto& by_activity = threads_[thread].by_activity;
      for (size_t k = 0; k < kActivities.size(); ++k)
        if (const IntervalSet part = Within(by_activity[k], time); !part.empty()) take(kActivities[k], part);
      if (const Ns waited = WaitedAt(thread, dry); waited > 0) take(Bucket::kIdleSync, First(rest, waited));
      take(Bucket::kLaunch, Within(threads_[thread].dispatching, time));
    }
    if (!rest.empty()) take(Bucket::kLaunch, Last(rest, DispatchIn(thread, time)));
    for (const Interval& i : rest) charge(Bucket::kHost, i);
  }

  // When the thread first does something in `time`: a CUDA call or a range of the program that touches it;
  // time.end where it does nothing. Waiting in the operating system to be given work is no activity.
  Ns FirstActivity(uint32_t thread, Interval time) const;

  // When the thread begins with what it does at the end of `time`: since then it was in calls and ranges
  // without a break.
  Ns BeginOfTask(uint32_t thread, Interval time) const;

  // The thread whose program a worker (Thread::is_worker) runs: that of its process with most functions and
  // calls. Any other thread is its own.
  uint32_t OwnerOf(uint32_t thread) const { return thread == kNoIndex ? kNoIndex : owner_[thread]; }

  // Whether the call is the first that launches some kernel.
  bool IsFirstOfKernel(uint32_t call) const { return (calls_[call] & kFirstOfKernel) != 0; }

  // Whether the profile has what identifies the bucket.
  bool IsCaptured(Bucket bucket) const { return captured_[static_cast<size_t>(bucket)]; }

 private:
  static constexpr std::array kActivities = {
      Bucket::kIdleSync,    Bucket::kIdleCopy,          Bucket::kIdleSync,    Bucket::kAllocation,
      Bucket::kCompilation, Bucket::kProfiler,          Bucket::kInput,       Bucket::kIdleCommunication,
      Bucket::kCheckpoint,  Bucket::kGarbageCollection, Bucket::kCompilation, Bucket::kOs};
  static constexpr uint8_t kLaunches = 1, kFirstOfKernel = 2;                     // in calls_
  static constexpr size_t kWaiting = 0, kBehindKernels = 2, kBeforeLoading = 10;  // in kActivities
  struct Thread {
    std::array<IntervalSet, kActivities.size()> by_activity;
    IntervalSet calls_and_ranges;
    IntervalSet dispatching;  // in ranges that do nothing else
    Ns dispatch = 0;          // what a launch costs
  };
  void Add(uint32_t thread, Bucket bucket, Interval time);
  void FindOwners();
  // By thread: only of those that launch, and of the threads that own these, it matters what they do.
  std::vector<uint8_t> LaunchingThreads() const;
  void AddCalls(const std::vector<ApiKind>& kinds);
  // Ranges and functions of Python, by what their names say.
  void AddNamed(const std::vector<uint8_t>& launching);
  // What threads of the framework's own wait for, in the name of those that launch.
  void AddAwaitedInput(const std::vector<uint8_t>& launching);
  void JoinCallsAndRanges(const std::vector<uint8_t>& launching);
  void MarkCaptured();
  void FindCaptures();
  void FindLaunches();
  void FindDispatch(const std::vector<ApiKind>& kinds);
  void FindTimeBeforeLoading(const std::vector<ApiKind>& kinds);
  void FindFirstCalls();
  // How long the synchronisation lasts that waits at `time`; 0 where none does.
  Ns WaitedAt(uint32_t thread, Ns time) const;
  // What launching costs in `time`, with the launch at its end.
  Ns DispatchIn(uint32_t thread, Interval time) const;
  // The part of `set` inside `window`.
  static IntervalSet Within(const IntervalSet& set, Interval window);
  // The first, or last, part of `set` of this length in all.
  static IntervalSet First(const IntervalSet& set, Ns length);
  static IntervalSet Last(const IntervalSet& set, Ns length);

  const Context& context_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> owner_;
  std::vector<uint8_t> calls_;  // by API call: whether it gives a GPU work, and is the first for a kernel
  std::array<bool, kBuckets> captured_{};
};

// What the name of a Python function, "FILE(LINE): FUNCTION", says that the program does; as BucketOfRange.
Bucket BucketOfFunction(std::string_view name);

// What the name of a range says that the program does: kInput, kIdleCommunication, kCheckpoint, kCompilation,
// kGarbageCollection; kLaunch where it hands compiled code to the GPU; kHost where it says nothing of these.
Bucket BucketOfRange(std::string_view name);

}  // namespace dladvisor
