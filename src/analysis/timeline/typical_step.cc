// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/typical_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<TypicalStepRow>& TypicalStepRelation() {
  static const auto relation =
      RelationOf<TypicalStepRow>(
          "typical_step",
          "What each GPU and the threads that launch for it did in the steady step of median length and in "
          "the longest one, in the worst one of a job where the GPU is compared, or in the analysed window "
          "where there are no steps, on lanes of at most 240 boxes: what is shorter is drawn as one event of "
          "a cell, the one that takes more than half where there is such.")
          .Key("rank", &TypicalStepRow::rank, kRankNumber, "Rank.")
          .Key("device", &TypicalStepRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("lane", &TypicalStepRow::lane, Unit::kNone, "Lane, from 0 at the top.")
          .Key("start_ns", &TypicalStepRow::start_ns, Unit::kNanoseconds, "Start on the profile's clock.")
          .Column("lane_name", &TypicalStepRow::lane_name, Unit::kText,
                  "compute, communication, copies, idle, or thread ID: a lane for each depth of its ranges.")
          .Column("name", &TypicalStepRow::name, Unit::kText,
                  "Kernel, kind of copy, or range; of idle time its cause.")
          .Column("bucket", &TypicalStepRow::bucket, Unit::kText,
                  "As in time_ledger; communication, exposed or not; range for ranges.")
          .Column("duration_ns", &TypicalStepRow::duration_ns, Unit::kNanoseconds,
                  "From the first event's start to the last one's end.")
          .Column("busy_ns", &TypicalStepRow::busy_ns, Unit::kNanoseconds,
                  "Sum of the events in it: less than duration_ns where they leave gaps.")
          .Column("step", &TypicalStepRow::step, kStepNumber, "Number of the step; unknown without steps.")
          .Column("step_start_ns", &TypicalStepRow::step_start_ns, Unit::kNanoseconds, "Its start.")
          .Column("step_ns", &TypicalStepRow::step_ns, Unit::kNanoseconds, "Its length.");
  return relation;
}

namespace {

// Of kernels that communicate, whether something computes beside them or not.
constexpr std::string_view kCommunication = "communication";
constexpr size_t kMostThreads = 2, kMostDepth = 3;
// A thread is shown that launches this part of the step's kernels.
constexpr size_t kLeastOfLaunches = 10;

enum GpuLane { kCompute, kCommunicationLane, kCopies, kIdle, kGpuLanes };
constexpr std::array<const char*, kGpuLanes> kGpuLaneNames = {"compute", "communication", "copies", "idle"};

// The events of a lane, of which each cell keeps how much time they take and, if any does, which one takes
// more than half of that.
class LaneCells {
 public:
  explicit LaneCells(Interval step)
      : step_(step), width_(std::max<Ns>(step.length() / static_cast<Ns>(kTimelineCells), 1)) {}

  void Add(Interval time, std::string_view name, std::string_view bucket) {
    time.start = std::max(time.start, step_.start);
    time.end = std::min(time.end, step_.end);
    if (time.length() <= 0) return;
    for (size_t cell = CellAt(time.start); cell <= CellAt(time.end - 1); ++cell) {
      const Ns from = step_.start + static_cast<Ns>(cell) * width_;
      const Interval part{std::max(time.start, from),
                          cell + 1 == kTimelineCells ? time.end : std::min(time.end, from + width_)};
      cells_[cell].Add(part, name, bucket);
    }
  }

  template <class Emit>  // emit(Interval, busy, name, bucket) of neighbours that show the same
  void Boxes(Emit emit) const {
    for (size_t first = 0, end = 0; first < kTimelineCells; first = end) {
      end = first + 1;
      if (cells_[first].busy == 0) continue;
      Cell box = cells_[first];
      for (; end < kTimelineCells && cells_[end].busy > 0 && cells_[end].name == box.name &&
             cells_[end].bucket == box.bucket && cells_[end].time.start - box.time.end < width_;
           ++end) {
        box.time.end = cells_[end].time.end;
        box.busy += cells_[end].busy;
      }
      emit(box.time, box.busy, box.name, box.bucket);
    }
  }

 private:
  struct Cell {
    Interval time;
    Ns busy = 0, lead = 0;
    std::string_view name, bucket;

    void Add(Interval part, std::string_view event, std::string_view of_bucket) {
      time = busy == 0 ? part : Interval{std::min(time.start, part.start), std::max(time.end, part.end)};
      busy += part.length();
      if (event == name && of_bucket == bucket) {
        lead += part.length();
      } else if (part.length() > lead) {
        name = event;
        bucket = of_bucket;
        lead = part.length() - lead;
      } else {
        lead -= part.length();
      }
    }
  };

  size_t CellAt(Ns when) const {
    return std::min(static_cast<size_t>((when - step_.start) / width_), kTimelineCells - 1);
  }

  Interval step_;
  Ns width_;
  std::array<Cell, kTimelineCells> cells_;
};

// Calls use(row) for the operations, in order of start, that run in `time`.
template <class Use>
void ForEachIn(const std::vector<uint32_t>& rows, const GpuOperations& operations, Interval time, Use use) {
  for (const uint32_t row : rows) {
    if (operations.start[row] >= time.end) return;
    if (operations.end[row] > time.start) use(row);
  }
}

class Picture {
 public:
  // Of the analysed window without a `step`.
  Picture(const Context& context, const GpuTimeline& timeline, const StepLedger* step, size_t gpu,
          std::vector<TypicalStepRow>& rows)
      : context_(context), trace_(context.trace), timeline_(timeline), gpu_(gpu), rows_(rows) {
    const auto& of_gpu = context.ranks.gpus[gpu];
    row_.rank = of_gpu.rank;
    row_.device = trace_.devices[of_gpu.device].ordinal;
    time_ = step == nullptr ? timeline.window : step->time;
    if (step != nullptr) row_.step = step->number;
    row_.step_start_ns = time_.start;
    row_.step_ns = time_.length();
  }

  void Draw() {
    if (time_.length() <= 0) return;
    DrawGpu();
    DrawIdle();
    DrawRanges();
  }

 private:
  std::string_view Name(NameId name) const { return trace_.names.View(name); }

  void Emit(const LaneCells& cells, std::string name) {
    row_.lane_name = std::move(name);
    cells.Boxes([&](Interval time, Ns busy, std::string_view what, std::string_view bucket) {
      row_.start_ns = time.start;
      row_.duration_ns = time.length();
      row_.busy_ns = std::min(busy, time.length());
      row_.name = what;
      row_.bucket = bucket;
      rows_.push_back(row_);
    });
    ++row_.lane;
  }

  void CountLaunch(uint32_t call) {
    if (call == kNoIndex) return;
    if (const uint32_t thread = trace_.api_calls.thread[call]; thread != kNoIndex) ++launches_[thread];
  }

  void DrawGpu() {
    const GpuWork& work = context_.work[gpu_];
    std::array<LaneCells, 3> lanes = {LaneCells(time_), LaneCells(time_), LaneCells(time_)};
    ForEachIn(work.kernels, trace_.kernels, time_, [&](uint32_t row) {
      const KernelTraits& traits = context_.kernels[trace_.kernels.name[row]];
      const std::string_view bucket =
          traits.communication
              ? kCommunication
              : BucketName(traits.tensor_core.value_or(false) ? Bucket::kTensor : Bucket::kOther);
      lanes[traits.communication ? kCommunicationLane : kCompute].Add(
          {trace_.kernels.start[row], trace_.kernels.end[row]}, Name(trace_.kernels.name[row]), bucket);
      CountLaunch(context_.launches.kernel[row]);
    });
    ForEachIn(work.graphs, trace_.graph_launches, time_, [&](uint32_t row) {
      CountLaunch(context_.launches.graph[row]);
      lanes[kCompute].Add({trace_.graph_launches.start[row], trace_.graph_launches.end[row]}, "CUDA graph",
                          BucketName(Bucket::kOther));
    });
    ForEachIn(work.copies, trace_.copies, time_, [&](uint32_t row) {
      lanes[kCopies].Add({trace_.copies.start[row], trace_.copies.end[row]},
                         CopyDirectionName(trace_.copies.direction[row]), BucketName(Bucket::kCopy));
    });
    ForEachIn(work.sets, trace_.sets, time_, [&](uint32_t row) {
      lanes[kCopies].Add({trace_.sets.start[row], trace_.sets.end[row]}, "memset",
                         BucketName(Bucket::kMemset));
    });
    for (size_t lane = 0; lane < lanes.size(); ++lane) Emit(lanes[lane], kGpuLaneNames[lane]);
  }

  // Gaps that are too many to be kept each by itself have the cause of most of their time: of what the ledger
  // of the step has besides the gaps that are kept.
  Bucket CauseOfRest() const {
    const auto step =
        std::ranges::find(timeline_.steps, time_.start, [](const StepLedger& s) { return s.time.start; });
    if (step == timeline_.steps.end()) return Bucket::kUnknown;
    std::array<int64_t, kBuckets> rest = step->ledger;
    for (const IdleGap& gap : timeline_.gaps)
      if (gap.time.start < time_.end && gap.time.end > time_.start)
        for (size_t bucket = 0; bucket < kBuckets; ++bucket) rest[bucket] -= gap.charged[bucket];
    auto most = static_cast<size_t>(Bucket::kUnknown);
    for (size_t bucket = 0; bucket < kBuckets; ++bucket)
      if (BucketName(static_cast<Bucket>(bucket)).starts_with("idle/") && rest[bucket] > rest[most])
        most = bucket;
    return static_cast<Bucket>(most);
  }

  void DrawIdle() {
    LaneCells cells(time_);
    const std::string_view rest = BucketName(CauseOfRest());
    auto next = std::ranges::upper_bound(timeline_.idle, time_.start, {}, &Interval::end);
    for (; next != timeline_.idle.end() && next->start < time_.end; ++next) {
      const Interval idle{std::max(next->start, time_.start), next->end};
      const auto gap = std::ranges::upper_bound(timeline_.gaps, idle.start, {},
                                                [](const IdleGap& g) { return g.time.start; });
      const bool known = gap != timeline_.gaps.begin() && std::prev(gap)->time.end > idle.start;
      const std::string_view bucket = known ? BucketName(std::prev(gap)->Cause()) : rest;
      cells.Add(idle, known ? bucket : "short gaps", bucket);
    }
    Emit(cells, kGpuLaneNames[kIdle]);
  }

  void DrawRanges() {
    size_t all = 0;
    std::vector<std::pair<size_t, uint32_t>> threads;
    for (const auto& [thread, launches] : launches_) {
      all += launches;
      threads.emplace_back(launches, thread);
    }
    std::ranges::sort(threads, std::greater());
    for (size_t i = 0; i < std::min(kMostThreads, threads.size()); ++i)
      if (threads[i].first * kLeastOfLaunches >= all) DrawThread(threads[i].second);
  }

  // The ranges of steps themselves, and what is around them, say nothing of a step.
  bool IsAroundSteps(size_t row) const {
    const Ranges& ranges = trace_.ranges;
    if (ranges.start[row] <= time_.start && ranges.end[row] >= time_.end) return true;
    const std::string_view prefix =
        std::string_view(context_.steps.range_pattern).substr(0, context_.steps.range_pattern.find('#'));
    std::string_view name = Name(ranges.name[row]);
    if (prefix.empty() || !name.starts_with(prefix)) return false;
    name.remove_prefix(prefix.size());
    if (name.starts_with('#')) name.remove_prefix(1);  // ProfilerStep#7
    return !name.empty() && name[0] >= '0' && name[0] <= '9';
  }

  void DrawThread(uint32_t thread) {
    const Ranges& ranges = trace_.ranges;
    std::vector<LaneCells> lanes(kMostDepth, LaneCells(time_));
    std::vector<Ns> open;  // ends of the ranges around the next one
    for (size_t row = 0; row < ranges.size() && ranges.start[row] < time_.end; ++row) {
      if (ranges.thread[row] != thread || ranges.kind[row] != RangeKind::kPushPop ||
          ranges.end[row] <= time_.start || IsAroundSteps(row))
        continue;
      while (!open.empty() && open.back() <= ranges.start[row]) open.pop_back();
      if (open.size() < kMostDepth)
        lanes[open.size()].Add({ranges.start[row], ranges.end[row]}, Name(ranges.name[row]), "range");
      open.push_back(ranges.end[row]);
    }
    for (size_t depth = 0; depth < kMostDepth; ++depth)
      Emit(lanes[depth], fmt::format("thread {}", trace_.threads[thread].tid));
  }

  const Context& context_;
  const Trace& trace_;
  const GpuTimeline& timeline_;
  size_t gpu_;
  std::vector<TypicalStepRow>& rows_;
  TypicalStepRow row_;
  Interval time_;
  std::map<uint32_t, size_t> launches_;  // of the step, by thread
};

// Those that are asked for; else the one of median length, and the longest.
std::vector<const StepLedger*> DrawnSteps(const GpuTimeline& timeline, const std::vector<int64_t>& asked) {
  if (timeline.steps.empty()) return {nullptr};
  std::vector<const StepLedger*> steps, found;
  for (const StepLedger& step : timeline.steps) {
    steps.push_back(&step);
    if (std::ranges::find(asked, step.time.start) != asked.end()) found.push_back(&step);
  }
  if (!found.empty()) return found;
  std::ranges::sort(steps, {},
                    [](const StepLedger* step) { return std::pair(step->time.length(), step->number); });
  const StepLedger* middle = steps[(steps.size() - 1) / 2];
  if (steps.back() == middle) return {middle};
  return {middle, steps.back()};
}

}  // namespace

std::vector<TypicalStepRow> ComputeTypicalStep(const Context& context,
                                               const std::vector<GpuTimeline>& timelines) {
  std::vector<TypicalStepRow> rows;
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu)
    for (const StepLedger* step : DrawnSteps(timelines[gpu], context.options.drawn))
      Picture(context, timelines[gpu], step, gpu, rows).Draw();
  return rows;
}

const Family& TypicalStepFamily() {
  static const Family family = FamilyOf(TypicalStepRelation(), ComputeTypicalStep).Detail();
  return family;
}

}  // namespace dladvisor
