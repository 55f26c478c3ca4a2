// SPDX-License-Identifier: Apache-2.0
// What the families of facts share: computed once per profile, in this order, and then only read.
// Each part has a file of its own (rank_assignment.h, launch_join.h, op_path.h, attribution.h, tensor_core.h,
// step_detection.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/values.h"
#include "src/hardware/precision.h"
#include "src/trace/intervals.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct Hardware;  // src/hardware/hardware.h

struct AnalysisOptions {
  std::string step_range;                            // regex of the range that is a step, or "" to find it
  std::optional<std::pair<int64_t, int64_t>> steps;  // only these steps, inclusive
  bool whole = false;                                // no steps: from the first GPU operation to the last
  std::string pipeline;         // regex of the ranges of a pipeline's passes, see pipeline_name.h, or ""
  std::optional<int64_t> rank;  // rank of the file's first GPU process, where the caller knows it
  std::shared_ptr<const Hardware> hardware;  // what a project declares of its GPUs, or null
  std::vector<int64_t>
      drawn;  // starts of the steps that typical_step shows, in place of those that it chooses
};

// A rank is a process with GPU work; ranks of one file are numbered in order of (device ordinal, pid), from
// the RANK of the profiled process's environment where there is just one such process, else from 0.
struct Ranks {
  std::vector<int64_t> of_process;  // by process index; -1 where the process has no GPU work
  struct Gpu {
    int64_t rank;
    uint32_t process, device;  // indices into the trace
  };
  std::vector<Gpu> gpus;  // every (rank, device) with GPU work, sorted
};

// The GPU operations of one of Ranks::gpus, as indices into the trace's tables, in order of start.
struct GpuWork {
  std::vector<uint32_t> kernels, copies, sets, graphs;
};

// The API call that launched each GPU operation (index into api_calls, or kNoIndex), joined on
// (process, correlation).
struct Launches {
  std::vector<uint32_t> kernel, copy, set, graph;
};

// Where GPU operations and API calls belong among the ranges: indices into trace.ranges, or kNoIndex.
// Only push/pop and framework ranges nest; marks and start/end ranges own nothing.
struct Attribution {
  std::vector<uint32_t> range_parent;  // enclosing range on the same thread
  std::vector<uint32_t> api_range;     // innermost range open on the calling thread at the call's start
  std::vector<uint32_t> kernel_range, copy_range, set_range;  // through the launching call
  std::vector<uint8_t> kernel_inherited;  // 1 where the launching thread had none open and it was inherited
};

// What the texts of ranges contain. See range_text.h.
class RangeTexts;

// Names of ops: a path of enclosing ranges, interned. See op_path.h.
class OpPaths;

// What a kernel's name shows.
struct KernelTraits {
  std::optional<bool> tensor_core;  // uses tensor cores; nothing where the name does not show it
  bool eligible = false;            // a GEMM, convolution or attention kernel
  bool communication = false;       // NCCL, RCCL, NVSHMEM collectives
  Precision precision = Precision::kUnknown;
  std::string_view kind;  // see kernel_kind.h
};

// By name id of `trace.kernels.name`, as far as there are such; ids that name no kernel hold defaults.
using KernelTraitsByName = std::vector<KernelTraits>;

struct Step {
  int64_t number = 0;     // as its range is numbered, else from 0
  Interval time;          // half-open share of the process's time: see step_detection.h
  Interval gpu;           // from its first GPU operation's start to its last one's end; empty if none
  size_t operations = 0;  // of the GPU that it launched
  bool warmup = false;    // excluded from the window as an outlier at the start
  Interval host{};        // in which the host launched it, from the end of the step before
};

struct Steps {
  // By rank, in order of time. Empty where none were found.
  std::vector<std::pair<int64_t, std::vector<Step>>> by_rank;
  // "ranges", "passes", "kernel sequence", "optimizer steps", "none" where none are wanted, "" where none
  // were found
  std::string source;
  std::string range_pattern;  // the range name with its number replaced by #, e.g. "ProfilerStep#"
};

// What ranges say of a rank's phases. See program_phase.h.
struct Phases {
  Interval counted;     // host time of the launches that count
  IntervalSet warm_up;  // in ranges of a warm-up
  std::string by;  // the range that says so: the first that measures, else the last of the warm-up; or the
                   // call that waits for input
  bool Counts(Ns launched) const { return launched >= counted.start && launched < counted.end; }
};

struct Context {
  const Trace& trace;
  const AnalysisOptions& options;
  Interval activity;  // from the first API call, range or GPU operation to the last one's end; all processes
  Ranks ranks;
  std::vector<GpuWork> work;  // by index into ranks.gpus
  Launches launches;
  Attribution attribution;
  std::shared_ptr<const RangeTexts> texts;
  std::shared_ptr<const OpPaths> paths;  // refers to `texts`
  KernelTraitsByName kernels;
  std::vector<ApiKind> api_kinds;    // by name id of api_calls.name
  std::map<int64_t, Phases> phases;  // by rank; absent where ranges say nothing of it
  Steps steps;
  // The analysed window of each of ranks.gpus (same order): the steady steps of the rank where steps were
  // found, else from the rank's first to its last GPU operation, of those that its phases count.
  std::vector<Interval> windows;

  // The window in which the host worked for it: the steady steps of the rank, else what its phases count of
  // `activity`, since the first GPU operation was launched before it began, and the last one is waited for
  // after it ended.
  Interval HostWindowOf(int64_t rank) const {
    for (size_t i = 0; i < ranks.gpus.size(); ++i)
      if (ranks.gpus[i].rank == rank && StepCount(rank) > 0) return windows[i];
    return CountedActivity(rank);
  }
  // What the host did for the steady steps of the rank, which may be long before the GPU works on them; as
  // above where there are no steps.
  Interval HostOfSteps(int64_t rank) const {
    for (const auto& [r, list] : steps.by_rank)
      if (r == rank)
        for (const Step& step : list)
          if (!step.warmup) return {step.host.start, list.back().host.end};
    return CountedActivity(rank);
  }
  Interval CountedActivity(int64_t rank) const {
    const auto of_rank = phases.find(rank);
    if (of_rank == phases.end()) return activity;
    const Interval& counted = of_rank->second.counted;
    return {std::max(activity.start, counted.start), std::min(activity.end, counted.end)};
  }
  int64_t RankOfThread(uint32_t thread) const {
    const uint32_t process = thread == kNoIndex ? kNoIndex : trace.threads[thread].process;
    return process == kNoIndex ? -1 : ranks.of_process[process];
  }
  // Steady steps of a rank; 0 where none were found.
  int64_t StepCount(int64_t rank) const {
    for (const auto& [r, list] : steps.by_rank)
      if (r == rank) return std::count_if(list.begin(), list.end(), [](const Step& s) { return !s.warmup; });
    return 0;
  }
};

// What the families share. Refers to both arguments, which must outlive it. Throws Error where the options
// name steps that the trace does not have.
Context MakeContext(const Trace& trace, const AnalysisOptions& options);

template <>
inline constexpr Given kValue<Trace>{"trace"};
template <>
inline constexpr Given kValue<AnalysisOptions>{"options"};
template <>
inline constexpr Computed kValue<Context>{"context", MakeContext};

}  // namespace dladvisor
