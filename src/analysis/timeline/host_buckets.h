// SPDX-License-Identifier: Apache-2.0
// What the threads of the host did over time: the base for saying why a GPU had nothing to do.
//
// Each moment of a thread's time is of one bucket, the first of: blocking synchronisation (idle/sync),
// blocking copies (idle/copy), allocation (idle/allocation), loading and compiling GPU code
// (idle/compilation), the profiler (idle/profiler), data loading (idle/input), collectives of the host
// (idle/communication), saving a checkpoint (idle/checkpoint), garbage collection (idle/garbage-collection),
// calls of the operating system (idle/os). What is left after a synchronisation that was waiting when the
// queue ran dry is of it, too: nothing could be launched ahead; the rest is the program's (idle/launch).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/timeline/bucket.h"
#include "src/trace/intervals.h"
#include "src/trace/trace.h"

namespace dladvisor {

class HostBuckets {
 public:
  explicit HostBuckets(const Context& context);

  // Calls charge(bucket, interval) for disjoint intervals that cover `time`, by what `thread` did. The queue
  // is empty since `dry`.
  template <class Charge>
  void Split(uint32_t thread, Interval time, Ns dry, Charge charge) const {
    if (time.length() <= 0) return;
    if (thread == kNoIndex) return charge(Bucket::kLaunch, time);
    IntervalSet rest{time};
    const auto take = [&](Bucket bucket, const IntervalSet& set) {
      const IntervalSet part = Intersect(rest, set);
      for (const Interval& i : part) charge(bucket, i);
      rest = Subtract(rest, part);
    };
    const IntervalSet waits = Within(threads_[thread].by_bucket[0], time);
    if (!waits.empty()) take(Bucket::kIdleSync, waits);
    for (size_t k = 1; k < kHostBuckets.size(); ++k)
      if (const IntervalSet part = Within(threads_[thread].by_bucket[k], time); !part.empty())
        take(kHostBuckets[k], part);
    if (!Within(threads_[thread].by_bucket[0], {dry, dry + 1}).empty()) take(Bucket::kIdleSync, {time});
    for (const Interval& i : rest) charge(Bucket::kLaunch, i);
  }

  // When the thread first does something in `time`: a CUDA call or a range of the program that touches it;
  // time.end where it does nothing. Waiting in the operating system to be given work is no activity.
  Ns FirstActivity(uint32_t thread, Interval time) const;

  // Whether the profile has what identifies the bucket.
  bool IsCaptured(Bucket bucket) const { return captured_[static_cast<size_t>(bucket)]; }

 private:
  static constexpr std::array kHostBuckets = {
      Bucket::kIdleSync,          Bucket::kIdleCopy, Bucket::kAllocation,        Bucket::kCompilation,
      Bucket::kProfiler,          Bucket::kInput,    Bucket::kIdleCommunication, Bucket::kCheckpoint,
      Bucket::kGarbageCollection, Bucket::kOs};
  struct Thread {
    std::array<IntervalSet, kHostBuckets.size()> by_bucket;
    IntervalSet calls_and_ranges;
  };
  // The part of `set` inside `window`.
  static IntervalSet Within(const IntervalSet& set, Interval window);

  std::vector<Thread> threads_;
  std::array<bool, kBuckets> captured_{};
};

// What the name of a Python function, "FILE(LINE): FUNCTION", says that the program does; as BucketOfRange.
Bucket BucketOfFunction(std::string_view name);

// What the name of a range says that the program does: kInput, kIdleCommunication, kCheckpoint, kCompilation,
// kGarbageCollection; kLaunch where it says nothing of these.
Bucket BucketOfRange(std::string_view name);

}  // namespace dladvisor
