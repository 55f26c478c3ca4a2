// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/summary/run.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"
#include "src/analysis/host/program_duration.h"
#include "src/analysis/summary/program_kind.h"
#include "src/capture/capability.h"
#include "src/trace/intervals.h"

namespace dladvisor {
namespace {

void SetStepTime(const std::vector<double>& durations, RunRow& row) {
  double mean = 0, squares = 0;
  for (const double d : durations) mean += d / static_cast<double>(durations.size());
  for (const double d : durations) squares += (d - mean) * (d - mean);
  if (row.step_ns && *row.step_ns >= mean) return;
  row.step_ns = mean;
  row.step_stddev_ns.reset();
  if (durations.size() > 1)
    row.step_stddev_ns = std::sqrt(squares / static_cast<double>(durations.size() - 1));
}

// Mean and sample deviation of the slowest rank's steady steps.
void AddSteps(const Context& context, const std::vector<StepRow>& steps, RunRow& row) {
  if (!context.steps.source.empty()) row.step_source = context.steps.source;
  if (!context.phases.empty()) row.measured = context.phases.begin()->second.by;
  if (context.steps.by_rank.empty()) return;
  if (!context.steps.range_pattern.empty()) row.step_pattern = context.steps.range_pattern;
  const int64_t first_rank = context.steps.by_rank.front().first;
  for (const auto& [rank, list] : context.steps.by_rank) {
    std::vector<double> durations;
    for (const StepRow& step : steps) {
      if (step.rank != rank) continue;
      row.total_steps += rank == first_rank;
      if (step.warmup) continue;
      durations.push_back(static_cast<double>(step.duration_ns));
      if (rank != first_rank) continue;
      ++row.steps;
      if (!row.first_step) row.first_step = step.step;
      row.last_step = step.step;
    }
    if (!durations.empty()) SetStepTime(durations, row);
  }
}

// Of a program without GPU work, whose steps are ranges of the profiler.
void AddHostSteps(const std::vector<StepRow>& steps, RunRow& row) {
  if (steps.empty()) return;
  std::vector<double> durations;
  for (const StepRow& step : steps) durations.push_back(static_cast<double>(step.duration_ns));
  SetStepTime(durations, row);
  row.steps = row.total_steps = static_cast<int64_t>(steps.size());
  row.first_step = steps.front().step;
  row.last_step = steps.back().step;
  row.step_source = "ranges";
  row.step_pattern = "ProfilerStep#";
}

// What takes long in a first call whatever it does. Calls that pin memory, move data, wait or load code take
// long for that; cudaFree before any work frees nothing.
bool DoesNextToNothing(std::string_view name, ApiKind kind) {
  if (kind != ApiKind::kAllocation && kind != ApiKind::kOther) return false;
  static const RE2 work(R"(Host|Register|Import|Memcpy|Memset|Prefetch|Graph|Record|Wait|Query|Synchronize)");
  return !RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), work);
}

constexpr Ns kShortestFirstUse = 10'000'000;  // creating a context takes more
constexpr int64_t kFewestSamples = 20;        // of a call, from which they say what it does

Ns FirstWork(const Trace& trace) {
  Ns works = std::numeric_limits<Ns>::max();
  for (const GpuOperations* ops :
       {static_cast<const GpuOperations*>(&trace.kernels), static_cast<const GpuOperations*>(&trace.copies),
        static_cast<const GpuOperations*>(&trace.sets),
        static_cast<const GpuOperations*>(&trace.graph_launches)})
    if (ops->size() > 0) works = std::min(works, ops->start[0]);
  return works;
}

void AddFirstUse(const Context& context, RunRow& run) {
  const Trace& trace = context.trace;
  const Ns works = FirstWork(trace);
  const std::vector<ApiKind>& kinds = context.api_kinds;
  const ApiCalls& calls = trace.api_calls;
  std::vector<Interval> times;
  Ns longest = 0;
  for (size_t i = 0; i < calls.size() && calls.start[i] < works; ++i) {
    const Interval time{calls.start[i], std::min(calls.end[i], works)};
    if (time.length() < kShortestFirstUse) continue;
    const std::string_view name = ApiBaseName(trace.names.View(calls.name[i]));
    if (!DoesNextToNothing(name, kinds[calls.name[i]])) continue;
    times.push_back(time);
    if (time.length() <= longest) continue;
    longest = time.length();
    run.first_use_call = name;
  }
  if (!times.empty()) run.first_use_ns = Length(Union(std::move(times)));
}

// Of the calls before the GPU's first work what samples of their threads show in the driver's compiler.
void AddPtxCompiling(const Context& context, RunRow& run) {
  const Trace& trace = context.trace;
  const CpuSamples& samples = trace.cpu_samples;
  const auto compiles = [&](uint32_t chain) {
    return chain != kNoIndex && std::ranges::any_of(samples.chains[chain], [&](NameId frame) {
             return trace.names.View(frame).starts_with(kPtxCompiler);
           });
  };
  const Ns works = FirstWork(trace);
  const ApiCalls& calls = trace.api_calls;
  std::unordered_map<uint32_t, Ns>
      counted;  // end of what is counted, by thread: a call may be within another
  double compiling = 0;
  for (size_t i = 0; i < calls.size() && calls.start[i] < works; ++i) {
    const Interval time{calls.start[i], std::min(calls.end[i], works)};
    Ns& end = counted.try_emplace(calls.thread[i], time.start).first->second;
    if (time.length() < kShortestFirstUse || time.start < end) continue;
    end = time.end;
    int64_t all = 0, within = 0;
    const auto first = std::ranges::lower_bound(samples.time, time.start);
    for (auto s = static_cast<size_t>(first - samples.time.begin());
         s < samples.size() && samples.time[s] < time.end; ++s) {
      if (samples.thread[s] != calls.thread[i]) continue;
      ++all;
      within += compiles(samples.chain[s]) ? 1 : 0;
    }
    if (within >= kFewestSamples)
      compiling +=
          static_cast<double>(time.length()) * static_cast<double>(within) / static_cast<double>(all);
  }
  if (compiling > 0) run.ptx_compiling_ns = static_cast<int64_t>(compiling);
}

void AddTraining(const std::vector<TrainingRow>& trainings, RunRow& run) {
  if (trainings.empty() || run.gpus > 0 || run.step_ns) return;
  const TrainingRow& training = trainings.front();
  run.samples_per_second = training.samples_per_second;
  if (!training.mean_ns) return;
  run.step_ns = training.mean_ns;
  run.step_stddev_ns = training.stddev_ns;
  run.step_source = "training log";
  run.steps = training.steady_iterations.value_or(0);
  run.total_steps = training.iterations.value_or(0);
  run.first_step = training.first_steady_iteration;
  run.last_step = training.last_iteration;
}

}  // namespace

const RelationOf<RunRow>& RunRelation() {
  static const auto relation =
      RelationOf<RunRow>("run", "The run as a whole: one row.")
          .Column("name", &RunRow::name, Unit::kText, "Name of the profile's file, without extension.")
          .Column(
              "kind", &RunRow::kind, Unit::kText,
              "Kind of program: training, inference, serving (an inference server), computing (other GPU "
              "work), graph-capture (launches written into a graph that did not run), one-shot (GPU work "
              "that does not repeat: a test, a demonstration, one cold call), accelerator (one whose events "
              "are not read), host (a program that uses no GPU), or log; unknown where no GPU work was "
              "recorded.")
          .Column("kind_evidence", &RunRow::kind_evidence, Unit::kText,
                  "What shows the kind: a name, or counts.")
          .Column("ranks", &RunRow::ranks, Unit::kCount, "Processes with GPU work.")
          .Column("gpus", &RunRow::gpus, Unit::kCount, "GPUs with work, counted once per rank.")
          .Column(
              "wall_ns", &RunRow::wall_ns, Unit::kNanoseconds,
              "From the first API call, range or GPU operation to the last one's end; where there is none "
              "of them, of the host's functions, system calls or turns on a CPU, else of the recording.")
          .Column("program_ns", &RunRow::program_ns, Unit::kNanoseconds,
                  "From the first to the last that is known of the processes that use the GPU, calls of the "
                  "operating system, samples and turns on a CPU included; unknown where the profile holds "
                  "none of these three.")
          .Column("gpu_span_ns", &RunRow::gpu_span_ns, Unit::kNanoseconds,
                  "From the first API call or GPU operation to the last one's end; unknown without any.")
          .Column("before_work_ns", &RunRow::before_work_ns, Unit::kNanoseconds,
                  "Of program_ns, before the first GPU operation.", capability::kGpuWork)
          .Column("after_work_ns", &RunRow::after_work_ns, Unit::kNanoseconds,
                  "Of program_ns, after the last GPU operation.", capability::kGpuWork)
          .Column("start_up_ns", &RunRow::start_up_ns, Unit::kNanoseconds,
                  "Time before the longest analysed window; unknown without GPU work.", capability::kGpuWork)
          .Column("first_use_ns", &RunRow::first_use_ns, Unit::kNanoseconds,
                  "Time before the GPU's first work in calls of 10 ms and more that do next to nothing "
                  "themselves: the first use of CUDA or HIP, which creates the context, and of libraries. "
                  "Unknown without such calls.")
          .Column("first_use_call", &RunRow::first_use_call, Unit::kText,
                  "The longest of them; unknown where first_use_ns is.")
          .Column(
              "ptx_compiling_ns", &RunRow::ptx_compiling_ns, Unit::kNanoseconds,
              "Time before the GPU's first work in which the driver compiles PTX, the portable code, within "
              "calls of 10 ms and more, by the samples of CPU stacks in them; unknown where none show it.")
          .Column("window_ns", &RunRow::window_ns, Unit::kNanoseconds,
                  "Longest analysed window; unknown without GPU work.", capability::kGpuWork)
          .Column("window_start_ns", &RunRow::window_start_ns, Unit::kNanoseconds,
                  "Its start on the profile's clock.", capability::kGpuWork)
          .Column("window_end_ns", &RunRow::window_end_ns, Unit::kNanoseconds,
                  "Its end on the profile's clock.", capability::kGpuWork)
          .Column("steps", &RunRow::steps, Unit::kCount,
                  "Steady steps analysed, of the first rank; 0 where none were found.")
          .Column("total_steps", &RunRow::total_steps, Unit::kCount,
                  "Steps found of the first rank, warm-up included.")
          .Column("first_step", &RunRow::first_step, Unit::kNone,
                  "Number of the first steady step; unknown without steps.")
          .Column("last_step", &RunRow::last_step, Unit::kNone,
                  "Number of the last one; unknown without steps.")
          .Column("step_ns", &RunRow::step_ns, Unit::kNanoseconds,
                  "Mean steady step of the slowest rank; unknown without steps.")
          .Column("step_stddev_ns", &RunRow::step_stddev_ns, Unit::kNanoseconds,
                  "Standard deviation of that rank's steady steps.")
          .Column("step_source", &RunRow::step_source, Unit::kText,
                  "Source of the steps: ranges, passes (forward, backward), kernel sequence, optimizer "
                  "steps, or the training log of a "
                  "run without a trace; none where the whole profile was asked for; unknown where none were "
                  "found.")
          .Column("step_pattern", &RunRow::step_pattern, Unit::kText,
                  "The range that is a step, its number replaced by #.")
          .Column(
              "measured", &RunRow::measured, Unit::kText,
              "The range by which the program says what it measures, or that it has warmed up, or the call "
              "in which it waited for input: the window is of what follows; unknown where none does.")
          .Column("gpu_utilization", &RunRow::gpu_utilization, Unit::kRatio,
                  "Mean over GPUs of the share of the window with a kernel running.", capability::kGpuWork)
          .Column("tensor_core_efficiency", &RunRow::tensor_core_efficiency, Unit::kRatio,
                  "Tensor-core kernel time over kernel time of eligible ops; unknown without such ops, and "
                  "where names do not show it for half of it.")
          .Column("kernel_ns", &RunRow::kernel_ns, Unit::kNanoseconds,
                  "Summed kernel time in the windows of all GPUs.", capability::kGpuWork)
          .Column("eligible_ops", &RunRow::eligible_ops, Unit::kCount, "Ops that could use tensor cores.",
                  capability::kGpuWork)
          .Column("eligible_half_ops", &RunRow::eligible_half_ops, Unit::kCount,
                  "Of those, working on FP16, BF16, FP8 or INT8.", capability::kGpuWork)
          .Column("half_kernel_ns", &RunRow::half_kernel_ns, Unit::kNanoseconds,
                  "Time of kernels whose names show FP16, BF16, FP8 or INT8.", capability::kGpuWork)
          .Column("launches_through_graphs", &RunRow::launches_through_graphs, Unit::kCount,
                  "CUDA graph launches traced as a whole.")
          .Column("memory_used_share", &RunRow::memory_used_share, Unit::kRatio,
                  "Most used share of a GPU's memory.", capability::kDeviceMemory)
          .Column("samples_per_second", &RunRow::samples_per_second, Unit::kNone,
                  "Throughput, where a training's log reports it; profiles do not record the batch size.")
          .Column(
              "known_work_share", &RunRow::known_work_share, Unit::kRatio,
              "Share of the kernel time without collectives whose operators' FLOPs or bytes are known: what "
              "mfu, hfu and speed_of_light rest on.",
              capability::kOperatorShapes)
          .Column(
              "mfu", &RunRow::mfu, Unit::kRatio,
              "Model FLOPs utilisation: the time that the model's FLOPs would take at the dense peak of the "
              "precision that each operator computes in, over the analysed window of all GPUs. Without what "
              "is computed a second time (activation checkpointing, the scores in attention's backward "
              "pass). Attention counts in full where it is not recorded whether it is causal. Unknown where "
              "the "
              "GPU is, or less than half of the kernel time is of known work: nothing is extrapolated.",
              capability::kOperatorShapes)
          .Column("hfu", &RunRow::hfu, Unit::kRatio,
                  "Hardware FLOPs utilisation: the same with what is computed a second time.",
                  capability::kOperatorShapes)
          .Column("speed_of_light", &RunRow::speed_of_light, Unit::kRatio,
                  "Sum of op_efficiency.attainable_ns over the analysed window of all GPUs: the share of the "
                  "time that the known work needs at least. Unknown as mfu is.",
                  capability::kOperatorShapes)
          .Column("cost", &RunRow::cost, Unit::kNone,
                  "Price of the run; needs the price of a GPU hour, which profiles do not hold.");
  return relation;
}

namespace {

// Of a profile without calls, ranges and GPU work: from the first to the last of what else it holds of the
// host, or as long as was recorded.
Ns HostTimeOf(const Trace& trace) {
  std::optional<Interval> all;
  const auto add = [&](const auto& events) {
    for (size_t i = 0; i < events.start.size(); ++i) {
      if (!all) all = Interval{events.start[i], events.end[i]};
      all->start = std::min(all->start, events.start[i]);
      all->end = std::max(all->end, events.end[i]);
    }
  };
  add(trace.frames);
  add(trace.os_calls);
  add(trace.cpu_runs);
  if (all && all->length() > 0) return all->length();
  return std::max<Ns>(0, trace.session_duration_ns.value_or(0));
}

void AddProgramTime(const Context& context, RunRow& row) {
  if (const auto span = GpuSpan(context.trace)) row.gpu_span_ns = span->length();
  const auto program = ProgramDuration(context);
  if (!program) return;
  row.program_ns = program->length();
  const auto work = GpuWorkSpan(context.trace);
  if (!work) return;
  row.before_work_ns = std::max<Ns>(0, work->start - program->start);
  row.after_work_ns = std::max<Ns>(0, program->end - work->end);
}

}  // namespace

RunRow ComputeRun(const Context& context, const std::vector<GpuRow>& gpus, const std::vector<StepRow>& steps,
                  const OpFamilies& ops, const OpEfficiencies& efficiencies,
                  const std::vector<TrainingRow>& trainings, const std::vector<GpuKernels>& kernels,
                  const std::optional<ProgramKind>& kind) {
  const Trace& trace = context.trace;
  RunRow row;
  row.name = std::filesystem::path(trace.path).stem().string();
  row.ranks = std::count_if(context.ranks.of_process.begin(), context.ranks.of_process.end(),
                            [](int64_t r) { return r >= 0; });
  row.gpus = static_cast<int64_t>(gpus.size());
  row.wall_ns = context.activity.length() > 0 ? context.activity.length() : HostTimeOf(trace);
  AddProgramTime(context, row);
  row.launches_through_graphs = static_cast<int64_t>(trace.graph_launches.size());
  if (kind) {
    row.kind = kind->kind;
    row.kind_evidence = kind->evidence;
  }
  AddSteps(context, steps, row);
  if (gpus.empty()) {
    AddHostSteps(steps, row);
    AddTraining(trainings, row);
    return row;
  }

  for (const Interval& window : context.windows) {
    if (row.window_ns && *row.window_ns >= window.length()) continue;
    row.window_ns = window.length();
    row.window_start_ns = window.start;
    row.start_up_ns = window.start - context.activity.start;
    row.window_end_ns = window.end;
  }
  AddFirstUse(context, row);
  AddPtxCompiling(context, row);
  double utilization = 0;
  int64_t known = 0, eligible = 0, eligible_unknown = 0, tensor_core = 0;
  row.kernel_ns = 0;
  for (size_t i = 0; i < gpus.size(); ++i) {
    *row.kernel_ns += gpus[i].kernel_ns;
    if (gpus[i].gpu_utilization) {
      utilization += *gpus[i].gpu_utilization;
      ++known;
    }
    eligible += ops.eligible_ns[i];
    eligible_unknown += gpus[i].eligible_unknown_ns;
    tensor_core += ops.eligible_tensor_core_ns[i];
    if (gpus[i].memory_used_share)
      row.memory_used_share = std::max(row.memory_used_share.value_or(0), *gpus[i].memory_used_share);
  }
  if (known > 0) row.gpu_utilization = utilization / static_cast<double>(known);
  const RunEfficiency& efficiency = efficiencies.run;
  row.known_work_share = efficiency.known_work_share;
  row.mfu = efficiency.mfu;
  row.hfu = efficiency.hfu;
  row.speed_of_light = efficiency.speed_of_light;
  if (2 * eligible_unknown < eligible)
    row.tensor_core_efficiency = static_cast<double>(tensor_core) / static_cast<double>(eligible);
  row.eligible_ops = row.eligible_half_ops = row.half_kernel_ns = 0;
  for (const OpRow& op : ops.ops) {
    if (!op.tensor_core_eligible) continue;
    ++*row.eligible_ops;
    *row.eligible_half_ops += op.half == true;
  }
  for (const GpuKernels& gpu : kernels) *row.half_kernel_ns += gpu.half_ns;
  return row;
}

namespace {

// Means of ratios over the time of all GPUs, and of the share of known work over their kernel time; unknown
// where those of runs with GPUs are.
void MergeEfficiencies(const std::vector<RunRow>& runs, RunRow& merged) {
  const auto mean = [&](std::optional<double> RunRow::*ratio, auto weight_of) -> std::optional<double> {
    double sum = 0, weights = 0;
    for (const RunRow& run : runs) {
      const double weight = weight_of(run);
      if (weight <= 0) continue;
      if (!(run.*ratio)) return std::nullopt;
      sum += *(run.*ratio) * weight;
      weights += weight;
    }
    if (weights <= 0) return std::nullopt;
    return sum / weights;
  };
  const auto window = [](const RunRow& run) {
    return static_cast<double>(run.window_ns.value_or(0)) * static_cast<double>(run.gpus);
  };
  merged.known_work_share = mean(&RunRow::known_work_share, [](const RunRow& run) {
    return static_cast<double>(run.kernel_ns.value_or(0));
  });
  for (const auto ratio : {&RunRow::mfu, &RunRow::hfu, &RunRow::speed_of_light})
    merged.*ratio = mean(ratio, window);
}

}  // namespace

RunRow MergeRuns(const std::vector<RunRow>& runs, const std::vector<GpuRow>& gpus) {
  RunRow merged;
  const auto add = [](const std::optional<int64_t>& from, std::optional<int64_t>& to) {
    if (from) to = to.value_or(0) + *from;
  };
  const bool traced = std::ranges::any_of(runs, [](const RunRow& run) { return run.gpus > 0; });
  for (const RunRow& run : runs) {
    if (!merged.samples_per_second) merged.samples_per_second = run.samples_per_second;
    if (traced && run.gpus == 0) continue;
    if (run.kind && (!merged.kind || StrongerKind(*merged.kind, *run.kind) != *merged.kind)) {
      merged.kind = run.kind;
      merged.kind_evidence = run.kind_evidence;
    }
    merged.ranks += run.ranks;
    merged.gpus += run.gpus;
    merged.wall_ns = std::max(merged.wall_ns, run.wall_ns);
    if (run.program_ns && *run.program_ns > merged.program_ns.value_or(0)) {
      merged.program_ns = run.program_ns;
      merged.before_work_ns = run.before_work_ns;
      merged.after_work_ns = run.after_work_ns;
    }
    if (run.gpu_span_ns) merged.gpu_span_ns = std::max(merged.gpu_span_ns.value_or(0), *run.gpu_span_ns);
    merged.launches_through_graphs += run.launches_through_graphs;
    if (run.window_ns && (!merged.window_ns || *run.window_ns > *merged.window_ns)) {
      merged.window_ns = run.window_ns;
      merged.window_start_ns = run.window_start_ns;
      merged.window_end_ns = run.window_end_ns;
      merged.start_up_ns = run.start_up_ns;
    }
    if (run.first_use_ns && (!merged.first_use_ns || *run.first_use_ns > *merged.first_use_ns)) {
      merged.first_use_ns = run.first_use_ns;
      merged.first_use_call = run.first_use_call;
    }
    if (run.ptx_compiling_ns)
      merged.ptx_compiling_ns = std::max(merged.ptx_compiling_ns.value_or(0), *run.ptx_compiling_ns);
    if (run.measured && !merged.measured) merged.measured = run.measured;
    if (run.step_source == "none") merged.step_source = run.step_source;
    if (run.steps > 0 && merged.steps == 0) {
      merged.steps = run.steps;
      merged.total_steps = run.total_steps;
      merged.first_step = run.first_step;
      merged.last_step = run.last_step;
      merged.step_source = run.step_source;
      merged.step_pattern = run.step_pattern;
    }
    if (run.step_ns && (!merged.step_ns || *run.step_ns > *merged.step_ns)) {
      merged.step_ns = run.step_ns;
      merged.step_stddev_ns = run.step_stddev_ns;
    }
    add(run.kernel_ns, merged.kernel_ns);
    add(run.half_kernel_ns, merged.half_kernel_ns);
    // Ranks of a job run the same ops.
    for (const auto count : {&RunRow::eligible_ops, &RunRow::eligible_half_ops})
      if (run.*count) merged.*count = std::max((merged.*count).value_or(0), *(run.*count));
    if (run.memory_used_share)
      merged.memory_used_share = std::max(merged.memory_used_share.value_or(0), *run.memory_used_share);
  }
  MergeEfficiencies(runs, merged);
  double utilization = 0, eligible = 0, tensor_core = 0;
  int64_t known = 0;
  for (const GpuRow& gpu : gpus) {
    if (gpu.gpu_utilization) {
      utilization += *gpu.gpu_utilization;
      ++known;
    }
    if (gpu.tensor_core_efficiency) {
      eligible += static_cast<double>(gpu.eligible_ns);
      tensor_core += *gpu.tensor_core_efficiency * static_cast<double>(gpu.eligible_ns);
    }
  }
  if (known > 0) merged.gpu_utilization = utilization / static_cast<double>(known);
  if (eligible > 0) merged.tensor_core_efficiency = tensor_core / eligible;
  return merged;
}

namespace {

std::vector<RunRow> MergeProfiles(const std::vector<ProfileRows<RunRow>>& profiles,
                                  const FleetTables& fleet) {
  std::vector<RunRow> runs;
  for (const ProfileRows<RunRow>& profile : profiles)
    runs.insert(runs.end(), profile.rows.begin(), profile.rows.end());
  return {MergeRuns(runs, fleet.RowsOf(GpuRelation()))};
}

}  // namespace

const Family& RunFamily() {
  static const Family family = FamilyOf(RunRelation(), ComputeRun).MergedBy(RunRelation(), MergeProfiles);
  return family;
}

}  // namespace dladvisor
