// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/time_ledger.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/analysis/context/op_path.h"
#include "src/analysis/family/family.h"
#include "src/analysis/timeline/awaited_input.h"
#include "src/analysis/timeline/host_activity.h"
#include "src/analysis/timeline/host_buckets.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

// What the host did is known by the names of its ranges and functions, or by its calls.
constexpr char kCapture[] =
    "gpu-work ranges:idle/input,idle/checkpoint,idle/garbage-collection "
    "python-calls:idle/input,idle/checkpoint,idle/garbage-collection os-calls:idle/os "
    "message-calls:idle/communication";

// What a GPU copies to the host.
class Fetches {
 public:
  Fetches(const Context& context, size_t gpu)
      : copies_(context.trace.copies), kernels_(context.trace.kernels), work_(context.work[gpu]) {
    for (const uint32_t i : work_.copies) {
      if (copies_.direction[i] != CopyDirection::kDeviceToHost) continue;
      starts_.push_back(copies_.start[i]);
      ends_.push_back(copies_.end[i]);
      bytes_before_.push_back(total_);
      total_ += std::max<int64_t>(0, copies_.bytes[i]);
    }
    bytes_before_.push_back(total_);
  }

  // Since the last kernel, by a copy that ends then and those before it; 0 where none does.
  int64_t UpTo(Ns time) const {
    const auto next = std::ranges::lower_bound(starts_, time);
    if (next == starts_.begin() || ends_[static_cast<size_t>(next - starts_.begin()) - 1] != time) return 0;
    const auto kernel =
        std::ranges::lower_bound(work_.kernels, time, {}, [&](uint32_t k) { return kernels_.start[k]; });
    const Ns last =
        kernel == work_.kernels.begin() ? std::numeric_limits<Ns>::min() : kernels_.start[*std::prev(kernel)];
    const auto first = std::ranges::lower_bound(starts_, last);
    return bytes_before_[static_cast<size_t>(next - starts_.begin())] -
           bytes_before_[static_cast<size_t>(first - starts_.begin())];
  }

 private:
  const Copies& copies_;
  const Kernels& kernels_;
  const GpuWork& work_;
  std::vector<Ns> starts_, ends_;
  std::vector<int64_t> bytes_before_;
  int64_t total_ = 0;
};

}  // namespace

const RelationOf<TimeLedgerRow>& TimeLedgerRelation() {
  static const auto relation =
      RelationOf<TimeLedgerRow>(
          "time_ledger", "Wall time of each GPU's analysed window in exclusive buckets, which sum to it.")
          .Key("rank", &TimeLedgerRow::rank, kRankNumber, "Rank.")
          .Key("device", &TimeLedgerRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("bucket", &TimeLedgerRow::bucket, Unit::kText,
               "compute/tensor, compute/other, communication/exposed, copy, memset, or idle/CAUSE; where "
               "several run at once the first counts.")
          .Column("position", &TimeLedgerRow::position, Unit::kNone, "Order of the bucket.")
          .Column("ns", &TimeLedgerRow::ns, Unit::kNanoseconds,
                  "Time in the bucket; unknown where its cause was not captured.", kCapture)
          .Column("ns_per_step", &TimeLedgerRow::ns_per_step, Unit::kNanoseconds,
                  "Of that, per steady step; unknown without steps.")
          .Column("share", &TimeLedgerRow::share, Unit::kRatio, "Of the window.", kCapture)
          .Column("recurring_ns", &TimeLedgerRow::recurring_ns, Unit::kNanoseconds,
                  "ns_per_step of three steps and more, without a step that has more of it than all others "
                  "together: what happens once does not recur. Otherwise as ns_per_step.");
  return relation;
}

Ledger TimeLedger() {
  Ledger ledger{"time_ledger", "bucket", "coalesce(ns_per_step, ns)", {}, {}, "SELECT steps FROM run"};
  ledger.single =
      "SELECT 'gpu', 'the GPU', 0 FROM run WHERE ranks = 1 AND gpus = 1 UNION ALL "
      "SELECT 'rank', 'the program', 1 FROM run WHERE ranks = 1 OR ranks = 0 AND (SELECT count(*) FROM "
      "profile) "
      "= 1";
  // A profiler slows the host: one of operators by half as much again and more, one that records calls alone,
  // as Nsight Systems, by a third at most. A GPU that idles less than that tells little of a run without one.
  ledger.work_limit =
      "SELECT rank, saves_ns FROM what_if WHERE change = 'kernels' AND (SELECT gpu_utilization <= "
      "iif((SELECT min(format = 'nsys') FROM profile) OR NOT EXISTS (SELECT 1 FROM range_name), 0.75, 0.6) "
      "FROM run)";
  ledger.work_as_recorded = "SELECT rank, saves_ns FROM what_if WHERE change = 'kernels'";
  ledger.pace = {std::string(BucketName(Bucket::kLaunch)), std::string(BucketName(Bucket::kLaunchLatency))};
  // Of copies to or from the host those of the kind that takes longest: a link is no faster for faster
  // kernels.
  ledger.work_beside =
      "SELECT rank, device, ratio(max(window_ns - exposed_ns), max(coalesce((SELECT steps FROM run), 0), 1)) "
      "FROM copy_kind WHERE source IN ('pageable', 'pinned') OR destination IN ('pageable', 'pinned') GROUP "
      "BY "
      "rank, device";
  // What loads outside of the training loop, in workers or in a framework's threads, loads no faster for a
  // faster loop. Waits that do not recur are not of a pace, nor what it takes to fetch a batch that is there.
  ledger.paced_from_outside =
      "SELECT count(*) > 0 FROM time_ledger AS l WHERE l.bucket = 'idle/input' "
      "AND l.share * coalesce(ratio(l.recurring_ns, l.ns_per_step), 1) > 0.02 "
      "AND NOT EXISTS (SELECT 1 FROM range_name AS r "
      "WHERE r.rank = l.rank AND r.name LIKE '%SingleProcessDataLoaderIter%')";
  for (size_t b = 0; b < kBuckets; ++b) ledger.buckets.emplace_back(BucketName(static_cast<Bucket>(b)));
  for (const Bucket bucket : {Bucket::kTensor, Bucket::kOther}) ledger.work.emplace_back(BucketName(bucket));
  return ledger;
}

namespace {

constexpr size_t kLeastStepsToRecur = 3;

// Of a bucket's time in steps the mean of those that are like others.
double RecurringPerStep(const std::vector<StepLedger>& steps, size_t bucket, double per_step) {
  if (steps.size() < kLeastStepsToRecur) return per_step;
  Ns all = 0, most = 0;
  for (const StepLedger& step : steps) {
    all += step.ledger[bucket];
    most = std::max(most, step.ledger[bucket]);
  }
  return 2 * most > all ? static_cast<double>(all - most) / static_cast<double>(steps.size() - 1) : per_step;
}

}  // namespace

std::vector<TimeLedgerRow> ComputeTimeLedger(const Context& context,
                                             const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  std::vector<TimeLedgerRow> rows;
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    const int64_t window = timelines[gpu].window.length();
    const int64_t steps = context.StepCount(context.ranks.gpus[gpu].rank);
    for (size_t b = 0; b < kBuckets; ++b) {
      const auto bucket = static_cast<Bucket>(b);
      TimeLedgerRow row;
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.bucket = BucketName(bucket);
      row.position = static_cast<int64_t>(b);
      if (timelines[gpu].captured[b]) {
        row.ns = timelines[gpu].ledger[b];
        if (steps > 0) {
          row.ns_per_step = static_cast<double>(*row.ns) / static_cast<double>(steps);
          row.recurring_ns = RecurringPerStep(timelines[gpu].steps, b, *row.ns_per_step);
        }
        if (window > 0) row.share = static_cast<double>(*row.ns) / static_cast<double>(window);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const RelationOf<IdleGapRow>& IdleGapRelation() {
  static const auto relation =
      RelationOf<IdleGapRow>(
          "idle_gap", "The 1000 longest times in which a GPU of a rank ran nothing, in the analysed window.")
          .Key("rank", &IdleGapRow::rank, kRankNumber, "Rank.")
          .Key("device", &IdleGapRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("start_ns", &IdleGapRow::start_ns, Unit::kNanoseconds, "Start on the profile's clock.")
          .Column("end_ns", &IdleGapRow::end_ns, Unit::kNanoseconds, "End on the profile's clock.")
          .Column("duration_ns", &IdleGapRow::duration_ns, Unit::kNanoseconds, "end_ns - start_ns.")
          .Column("cause", &IdleGapRow::cause, Unit::kText, "Bucket of the ledger with most of its time.")
          .Column("starved_ns", &IdleGapRow::starved_ns, Unit::kNanoseconds,
                  "Part before the launch of what ends it.", capability::kGpuWork)
          .Column("ended_by", &IdleGapRow::ended_by, Unit::kText,
                  "Kernel, or kind of operation, that ends it; empty at the window's end.")
          .Column("range", &IdleGapRow::range, Unit::kText, "Path of the op that launches what ends it.",
                  capability::kRangesOfGpuWork)
          .Column("host_activity", &IdleGapRow::host_activity, Unit::kText,
                  "Python function, range, or call in which the thread that launches it was for most of the "
                  "time until it had launched it; unknown where that is not most of the gap.",
                  capability::kGpuWork)
          .Column("thread", &IdleGapRow::thread, Unit::kNone, "Thread that launches it.",
                  capability::kGpuWork)
          .Column("fetched_bytes", &IdleGapRow::fetched_bytes, Unit::kBytes,
                  "What was copied to the host since the last kernel, where such a copy ends as the gap "
                  "begins; else 0.");
  return relation;
}

std::vector<IdleGapRow> ComputeIdleGaps(const Context& context, const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  std::vector<IdleGapRow> rows;
  std::vector<ThreadTime> starved;  // by row
  constexpr size_t kMostAwaits = 20;
  std::map<size_t, ThreadTime> awaits;  // by row: of the longest gaps for input
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    std::vector<const IdleGap*> longest;
    for (const IdleGap& gap : timelines[gpu].gaps) longest.push_back(&gap);
    std::sort(longest.begin(), longest.end(), [](const IdleGap* a, const IdleGap* b) {
      return std::pair(-a->time.length(), a->time.start) < std::pair(-b->time.length(), b->time.start);
    });
    const Fetches fetches(context, gpu);
    for (const IdleGap* gap : longest) {
      IdleGapRow row;
      row.fetched_bytes = fetches.UpTo(gap->time.start);
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.start_ns = gap->time.start;
      row.end_ns = gap->time.end;
      row.duration_ns = gap->time.length();
      row.cause = BucketName(gap->Cause());
      row.ended_by = gap->ended_by != kNoName ? trace.names.View(gap->ended_by) : gap->ended_by_kind;
      if (gap->operator_name != kNoName) row.host_activity = trace.names.View(gap->operator_name);
      if (gap->call != kNoIndex) {
        row.starved_ns = gap->starved_ns;
        const uint32_t range = context.attribution.api_range[gap->call];
        if (range != kNoIndex) row.range = OpPathText(context, range);
        if (const uint32_t thread = trace.api_calls.thread[gap->call]; thread != kNoIndex)
          row.thread = trace.threads[thread].tid;
      }
      // Most of the starvation is charged to one of two threads.
      const Ns handed_over = std::clamp(gap->handed_over, gap->time.start, gap->time.end);
      const Ns returned = gap->call == kNoIndex ? gap->time.start : trace.api_calls.end[gap->call];
      const Interval before{gap->time.start, handed_over},
          after{handed_over, std::min(gap->time.end, std::max(gap->time.start + gap->starved_ns, returned))};
      const ThreadTime most =
          before.length() > after.length() ? ThreadTime{gap->before, before} : ThreadTime{gap->thread, after};
      // Of a gap that the launched operation itself waits through, the host's activity says nothing.
      if (gap->Cause() == Bucket::kInput && awaits.size() < kMostAwaits)
        awaits.emplace(rows.size(), ThreadTime{gap->thread, gap->time});
      starved.push_back(2 * most.time.length() >= row.duration_ns ? most : ThreadTime{});
      rows.push_back(std::move(row));
    }
  }
  const std::vector<std::string> activities = HostActivities(context, starved);
  for (size_t i = 0; i < rows.size(); ++i)
    if (!activities[i].empty()) rows[i].host_activity = activities[i];
  // What another thread waits in says more of a gap than what the launching one lies in.
  for (const auto& [row, gap] : awaits) {
    std::optional<std::string>& activity = rows[row].host_activity;
    if (gap.thread == kNoIndex || (activity && (BucketOfRange(*activity) == Bucket::kInput ||
                                                BucketOfFunction(*activity) == Bucket::kInput)))
      continue;
    const NameId name = AwaitedIn(context, trace.threads[gap.thread].process, gap.time);
    if (name != kNoName) activity = trace.names.View(name);
  }
  return rows;
}

const Family& IdleGapFamily() {
  static const Family family = FamilyOf(IdleGapRelation(), ComputeIdleGaps).Detail();
  return family;
}

const Family& TimeLedgerFamily() {
  static const Family family = FamilyOf(TimeLedgerRelation(), ComputeTimeLedger);
  return family;
}

}  // namespace dladvisor
