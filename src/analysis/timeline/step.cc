// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/step.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/profiler_step.h"
#include "src/analysis/context/warm_up.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// Length of a set's part in each of the steps, which are in order and disjoint.
std::vector<int64_t> LengthPerStep(const IntervalSet& set, const std::vector<Step>& steps) {
  std::vector<int64_t> lengths(steps.size(), 0);
  size_t first = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    while (first < set.size() && set[first].end <= steps[i].time.start) ++first;
    for (size_t j = first; j < set.size() && set[j].start < steps[i].time.end; ++j)
      lengths[i] += std::min(set[j].end, steps[i].time.end) - std::max(set[j].start, steps[i].time.start);
  }
  return lengths;
}

// Index of the step that holds `time`, or nothing.
std::optional<size_t> StepAt(const std::vector<Step>& steps, Ns time) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                      [](Ns t, const Step& s) { return t < s.time.start; });
  if (after == steps.begin() || time >= std::prev(after)->time.end) return std::nullopt;
  return static_cast<size_t>(std::prev(after) - steps.begin());
}

IntervalSet UnionOf(const GpuOperations& ops, const std::vector<uint32_t>& rows) {
  IntervalSet set;
  set.reserve(rows.size());
  for (const uint32_t i : rows) Append(set, {ops.start[i], ops.end[i]});
  return set;
}

}  // namespace

const RelationOf<StepRow>& StepRelation() {
  static const auto relation =
      RelationOf<StepRow>("step", "One row per rank and step; none where no steps were found.")
          .Key("rank", &StepRow::rank, kRankNumber, "Rank.")
          .Key("step", &StepRow::step, kStepNumber, "Number, as the program's range has it.")
          .Column("start_ns", &StepRow::start_ns, Unit::kNanoseconds,
                  "Start on the profile's clock: the end of the GPU work of the step before.")
          .Column("end_ns", &StepRow::end_ns, Unit::kNanoseconds, "End of its own GPU work.")
          .Column("duration_ns", &StepRow::duration_ns, Unit::kNanoseconds, "end_ns - start_ns.")
          .Column("gpu_start_ns", &StepRow::gpu_start_ns, Unit::kNanoseconds,
                  "Start of its first GPU operation; unknown without GPU work.")
          .Column("gpu_end_ns", &StepRow::gpu_end_ns, Unit::kNanoseconds,
                  "End of its last GPU operation; unknown without GPU work.")
          .Column("busy_ns", &StepRow::busy_ns, Unit::kNanoseconds,
                  "Time with a kernel, copy, set or graph on the rank's first device.")
          .Column("kernel_busy_ns", &StepRow::kernel_busy_ns, Unit::kNanoseconds,
                  "Time with a kernel or graph on it.")
          .Column("idle_ns", &StepRow::idle_ns, Unit::kNanoseconds, "duration_ns - busy_ns.")
          .Column("kernels", &StepRow::kernels, Unit::kCount, "Kernels that start in the step.")
          .Column("kernel_ns", &StepRow::kernel_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("tensor_core_ns", &StepRow::tensor_core_ns, Unit::kNanoseconds, "Of that, on tensor cores.")
          .Column("copies", &StepRow::copies, Unit::kCount, "Copies that start in the step.")
          .Column("syncs", &StepRow::syncs, Unit::kCount, "Synchronising API calls that start in the step.")
          .Column("warmup", &StepRow::warmup, Unit::kNone,
                  "1 where it is excluded from the window as warm-up.");
  return relation;
}

namespace {

// Whether a range other than a step is within the time.
bool HoldsWork(const Trace& trace, Interval time) {
  const Ranges& ranges = trace.ranges;
  for (size_t i = 0; i < ranges.size(); ++i)
    if (!ranges.open[i] && ranges.start[i] >= time.start && ranges.end[i] <= time.end &&
        !ProfilerStepNumber(trace.names.View(ranges.name[i])))
      return true;
  return false;
}

// Of a program without GPU work: the ranges of the profiler, of the process with the most of them. The last
// may be what is left between its last step() and its end.
std::vector<StepRow> HostSteps(const Trace& trace) {
  std::vector<ProfilerStep> most;
  for (std::vector<ProfilerStep>& steps : ProfilerStepRanges(trace))
    if (steps.size() > most.size()) most = std::move(steps);
  const Interval always{std::numeric_limits<Ns>::min(), std::numeric_limits<Ns>::max()};
  if (!most.empty() && !HoldsWork(trace, most.back().host) && HoldsWork(trace, always)) most.pop_back();
  std::vector<Step> marked;
  for (const ProfilerStep& step : most) {
    Step& to = marked.emplace_back();
    to.number = step.number;
    to.time = step.host;
  }
  MarkWarmup(marked);
  std::vector<StepRow> rows;
  for (size_t i = 0; i < most.size(); ++i) {
    const ProfilerStep& step = most[i];
    StepRow& row = rows.emplace_back();
    row.step = step.number;
    row.warmup = marked[i].warmup;
    row.start_ns = step.host.start;
    row.end_ns = step.host.end;
    row.duration_ns = step.host.length();
  }
  return rows;
}

}  // namespace

std::vector<StepRow> ComputeSteps(const Context& context) {
  const Trace& trace = context.trace;
  if (context.ranks.gpus.empty()) return HostSteps(trace);
  const std::vector<ApiKind>& api_kinds = context.api_kinds;
  std::vector<uint32_t> syncs;  // in api_calls
  for (uint32_t i = 0; i < trace.api_calls.size(); ++i)
    if (api_kinds[trace.api_calls.name[i]] == ApiKind::kSync) syncs.push_back(i);
  std::vector<StepRow> rows;
  for (const auto& [rank, steps] : context.steps.by_rank) {
    const size_t first_row = rows.size();
    for (const Step& step : steps) {
      StepRow row;
      row.rank = rank;
      row.step = step.number;
      row.start_ns = step.time.start;
      row.end_ns = step.time.end;
      row.duration_ns = step.time.length();
      if (step.gpu.end > step.gpu.start) {
        row.gpu_start_ns = step.gpu.start;
        row.gpu_end_ns = step.gpu.end;
      }
      row.warmup = step.warmup;
      rows.push_back(row);
    }
    bool first_device = true;
    for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
      if (context.ranks.gpus[gpu].rank != rank) continue;
      const GpuWork& work = context.work[gpu];
      for (const uint32_t k : work.kernels)
        if (const auto at = StepAt(steps, trace.kernels.start[k])) {
          StepRow& row = rows[first_row + *at];
          const int64_t duration = trace.kernels.end[k] - trace.kernels.start[k];
          ++row.kernels;
          row.kernel_ns += duration;
          if (context.kernels[trace.kernels.name[k]].tensor_core == true) row.tensor_core_ns += duration;
        }
      for (const uint32_t c : work.copies)
        if (const auto at = StepAt(steps, trace.copies.start[c])) ++rows[first_row + *at].copies;
      if (!first_device) continue;
      first_device = false;
      const IntervalSet kernels =
          Union(UnionOf(trace.kernels, work.kernels), UnionOf(trace.graph_launches, work.graphs));
      const IntervalSet busy =
          Union(kernels, Union(UnionOf(trace.copies, work.copies), UnionOf(trace.sets, work.sets)));
      const std::vector<int64_t> kernel_ns = LengthPerStep(kernels, steps),
                                 busy_ns = LengthPerStep(busy, steps);
      for (size_t i = 0; i < steps.size(); ++i) {
        rows[first_row + i].kernel_busy_ns = kernel_ns[i];
        rows[first_row + i].busy_ns = busy_ns[i];
        rows[first_row + i].idle_ns = rows[first_row + i].duration_ns - busy_ns[i];
      }
    }
    for (const uint32_t i : syncs)
      if (context.RankOfThread(trace.api_calls.thread[i]) == rank)
        if (const auto at = StepAt(steps, trace.api_calls.start[i])) ++rows[first_row + *at].syncs;
  }
  return rows;
}

const Family& StepFamily() {
  static const Family family = FamilyOf<std::vector<StepRow>>(StepRelation());
  return family;
}

}  // namespace dladvisor
