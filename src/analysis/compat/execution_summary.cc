// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/execution_summary.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/analysis/context/profiler_step.h"
#include "src/analysis/family/family.h"
#include "src/capture/capability.h"
#include "src/trace/intervals.h"
#include "src/trace/parallel.h"

namespace dladvisor {

const RelationOf<ExecutionSummaryRow>& ExecutionSummaryRelation() {
  using Row = ExecutionSummaryRow;
  static const auto relation =
      RelationOf<Row>("execution_summary",
                      "Time of each profiled step by what went on in it: each moment counts once, for the "
                      "first of these columns. Warm-up is not left out.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("step", &Row::step, kStepNumber, "Number of the step; 0 where there are none.")
          .Column("start_ns", &Row::start_ns, Unit::kNanoseconds, "Start on the profile's clock.")
          .Column("end_ns", &Row::end_ns, Unit::kNanoseconds, "End on the profile's clock.")
          .Column("kernel_ns", &Row::kernel_ns, Unit::kNanoseconds, "A kernel runs, other than collectives.")
          .Column("memcpy_ns", &Row::memcpy_ns, Unit::kNanoseconds, "A copy runs.")
          .Column("memset_ns", &Row::memset_ns, Unit::kNanoseconds, "A set runs.")
          .Column("communication_ns", &Row::communication_ns, Unit::kNanoseconds,
                  "A collective runs, on the GPU or as an annotation of the host.")
          .Column("runtime_ns", &Row::runtime_ns, Unit::kNanoseconds, "The host is in a CUDA call.",
                  capability::kGpuWork)
          .Column("dataloader_ns", &Row::dataloader_ns, Unit::kNanoseconds, "The host waits for a batch.",
                  capability::kRanges)
          .Column("cpu_ns", &Row::cpu_ns, Unit::kNanoseconds, "The host is in an operator or annotation.",
                  capability::kRanges)
          .Column("other_ns", &Row::other_ns, Unit::kNanoseconds, "The rest of the step.")
          .Column("total_ns", &Row::total_ns, Unit::kNanoseconds, "Length of the step.");
  return relation;
}

const RelationOf<DistributedStepRow>& DistributedStepRelation() {
  using Row = DistributedStepRow;
  static const auto relation =
      RelationOf<Row>("distributed_step",
                      "How computation and communication share each profiled step. Computation is kernels, "
                      "without any operators on the CPU.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("step", &Row::step, kStepNumber, "Number of the step; 0 where there are none.")
          .Column("computation_ns", &Row::computation_ns, Unit::kNanoseconds, "Computation only.")
          .Column("overlap_ns", &Row::overlap_ns, Unit::kNanoseconds, "Both at once.")
          .Column("communication_ns", &Row::communication_ns, Unit::kNanoseconds, "Communication only.")
          .Column("other_ns", &Row::other_ns, Unit::kNanoseconds, "Neither.")
          .Column("synchronizing_ns", &Row::synchronizing_ns, Unit::kNanoseconds,
                  "Of communication, waiting for other ranks; unknown without their profiles.")
          .Column("transfer_ns", &Row::transfer_ns, Unit::kNanoseconds,
                  "Of communication, moving data; unknown as above.");
  return relation;
}

namespace {

// In order of priority; what is in none of them is other.
enum Role : uint8_t { kKernel, kCopy, kSet, kCommunication, kRuntime, kDataLoader, kCpu, kRoles };
using Roles = std::array<IntervalSet, kRoles>;

// What a range of this name is to a step; nothing for the steps themselves and for modules, which say where
// operators are called from.
std::optional<Role> RoleOfRange(std::string_view name, std::string_view domain) {
  if (domain == "nn.Module" || ProfilerStepNumber(name)) return std::nullopt;
  if ((name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
      name.starts_with("enumerate(DataPipe)#"))
    return kDataLoader;
  const bool is_collective = name.starts_with("nccl:") || name.starts_with("gloo:");
  return is_collective ? kCommunication : kCpu;
}

Roles FindRoles(const Context& context, const ProfilerSteps& rank) {
  const Trace& trace = context.trace;
  std::array<std::vector<Interval>, kRoles> times;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    if (context.ranks.gpus[gpu].rank != rank.rank) continue;
    const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows, Role role) {
      for (const uint32_t row : rows) times[role].push_back({ops.start[row], ops.end[row]});
    };
    for (const uint32_t k : context.work[gpu].kernels)
      times[context.kernels[trace.kernels.name[k]].communication ? kCommunication : kKernel].push_back(
          {trace.kernels.start[k], trace.kernels.end[k]});
    add(trace.graph_launches, context.work[gpu].graphs, kKernel);
    add(trace.copies, context.work[gpu].copies, kCopy);
    add(trace.sets, context.work[gpu].sets, kSet);
  }
  const auto is_of_rank = [&](uint32_t thread) {
    return thread != kNoIndex && trace.threads[thread].process == rank.process;
  };
  for (size_t i = 0; i < trace.api_calls.size(); ++i)
    if (is_of_rank(trace.api_calls.thread[i]))
      times[kRuntime].push_back({trace.api_calls.start[i], trace.api_calls.end[i]});
  std::unordered_map<uint64_t, std::optional<Role>> roles;  // by name and domain
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (!is_of_rank(trace.ranges.thread[i]) || trace.ranges.open[i]) continue;
    const auto [role, is_new] =
        roles.try_emplace(uint64_t{trace.ranges.name[i]} << 32 | trace.ranges.domain[i]);
    if (is_new)
      role->second =
          RoleOfRange(trace.names.View(trace.ranges.name[i]), trace.names.View(trace.ranges.domain[i]));
    if (role->second) times[*role->second].push_back({trace.ranges.start[i], trace.ranges.end[i]});
  }
  Roles result;
  for (size_t role = 0; role < kRoles; ++role) result[role] = Union(std::move(times[role]));
  return result;
}

// Of each step, the time that the set has in it. Steps are in order and apart.
std::vector<int64_t> WithinSteps(const IntervalSet& set, const std::vector<ProfilerStep>& steps) {
  std::vector<int64_t> result(steps.size(), 0);
  size_t first = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Interval time = steps[i].time;
    while (first < set.size() && set[first].end <= time.start) ++first;
    for (size_t k = first; k < set.size() && set[k].start < time.end; ++k)
      result[i] += std::min(set[k].end, time.end) - std::max(set[k].start, time.start);
  }
  return result;
}

StepTimes TimesOf(const Context& context, const ProfilerSteps& rank) {
  const Roles roles = FindRoles(context, rank);
  IntervalSet left;
  for (const ProfilerStep& step : rank.steps) Append(left, step.time);
  std::array<std::vector<int64_t>, kRoles> time;
  for (size_t role = 0; role < kRoles; ++role) {
    time[role] = WithinSteps(Intersect(left, roles[role]), rank.steps);
    left = Subtract(left, roles[role]);
  }
  const std::vector<int64_t> other = WithinSteps(left, rank.steps);
  const IntervalSet& computation = roles[kKernel].empty() ? roles[kCpu] : roles[kKernel];
  const auto computing = WithinSteps(computation, rank.steps);
  const auto communicating = WithinSteps(roles[kCommunication], rank.steps);
  const auto both = WithinSteps(Intersect(computation, roles[kCommunication]), rank.steps);
  StepTimes times;
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    ExecutionSummaryRow& row = times.execution.emplace_back();
    row.rank = rank.rank;
    row.step = rank.steps[i].number;
    row.start_ns = rank.steps[i].time.start;
    row.end_ns = rank.steps[i].time.end;
    row.total_ns = rank.steps[i].time.length();
    row.kernel_ns = time[kKernel][i];
    row.memcpy_ns = time[kCopy][i];
    row.memset_ns = time[kSet][i];
    row.communication_ns = time[kCommunication][i];
    if (context.trace.api_calls.size() > 0) row.runtime_ns = time[kRuntime][i];
    if (context.trace.ranges.size() > 0) {
      row.dataloader_ns = time[kDataLoader][i];
      row.cpu_ns = time[kCpu][i];
    }
    row.other_ns = other[i];
    DistributedStepRow& shared = times.distributed.emplace_back();
    shared.rank = row.rank;
    shared.step = row.step;
    shared.computation_ns = computing[i] - both[i];
    shared.overlap_ns = both[i];
    shared.communication_ns = communicating[i] - both[i];
    shared.other_ns = row.total_ns - computing[i] - communicating[i] + both[i];
  }
  return times;
}

}  // namespace

StepTimes ComputeStepTimes(const Context& context) {
  const std::vector<ProfilerSteps> ranks = FindProfilerSteps(context);
  std::vector<StepTimes> by_rank(ranks.size());
  ParallelFor(ranks.size(), [&](size_t i) { by_rank[i] = TimesOf(context, ranks[i]); });
  StepTimes result;
  for (StepTimes& rank : by_rank) {
    result.execution.insert(result.execution.end(), rank.execution.begin(), rank.execution.end());
    result.distributed.insert(result.distributed.end(), rank.distributed.begin(), rank.distributed.end());
  }
  return result;
}

const Family& ExecutionSummaryFamily() {
  static const Family family = FamilyOf(ExecutionSummaryRelation(), &StepTimes::execution).OnDemand();
  return family;
}

const Family& DistributedStepFamily() {
  static const Family family = FamilyOf(DistributedStepRelation(), &StepTimes::distributed).OnDemand();
  return family;
}

}  // namespace dladvisor
