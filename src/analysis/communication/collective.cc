// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/analysis/work/element_type.h"
#include "src/capture/capability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" -> "AllReduce"; "" where the name does not show it, as with
// RCCL's one kernel for all.
std::string CollectiveOfKernel(std::string_view name) {
  static const RE2 pattern(
      R"((?i)(AllReduce|AllGather|ReduceScatter|Broadcast|SendRecv|AllToAll|Reduce|Gather|Scatter))");
  std::string found;
  RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern, &found);
  return found;
}

// How PyTorch names a collective: "allreduce", "_allgather_base", "reduce_scatter_tensor_coalesced".
std::string CollectiveOfFramework(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kinds = {
      {{"allreduce", "AllReduce"},
       {"allgather", "AllGather"},
       {"reducescatter", "ReduceScatter"},
       {"broadcast", "Broadcast"},
       {"alltoall", "AllToAll"},
       {"send", "SendRecv"},
       {"recv", "SendRecv"},
       {"reduce", "Reduce"},
       {"gather", "Gather"}}};
  std::string letters;
  for (const char c : name)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [part, kind] : kinds)
    if (letters.find(part) != std::string::npos) return std::string(kind);
  return "";
}

// A call that takes this many times as long as is usual at its place in the step waits.
constexpr int64_t kLate = 2;
// Less than this beyond the fastest is the latency of launches.
constexpr int64_t kLeastWaitNs = 100'000;

struct Lateness {
  int64_t ns = 0, steps = 0;
  int64_t over_fastest_ns = 0;  // of calls that take kLate times as long as the fastest at their place
};

// Collectives of one kind differ in size, those at one place in the step do not. `members` are in order of
// start.
std::optional<Lateness> LatenessOf(const Context& context, int64_t rank,
                                   const std::vector<uint32_t>& members) {
  const Kernels& kernels = context.trace.kernels;
  std::vector<std::vector<int64_t>> by_step;
  for (const auto& [of, steps] : context.steps.by_rank) {
    if (of != rank) continue;
    for (const Step& step : steps) {
      if (step.warmup) continue;
      std::vector<int64_t>& durations = by_step.emplace_back();
      const auto first = std::lower_bound(members.begin(), members.end(), step.time.start,
                                          [&](uint32_t k, Ns time) { return kernels.start[k] < time; });
      for (auto k = first; k != members.end() && kernels.start[*k] < step.time.end; ++k)
        durations.push_back(kernels.end[*k] - kernels.start[*k]);
    }
  }
  if (by_step.size() < 3) return std::nullopt;
  for (const auto& durations : by_step)
    if (durations.size() != by_step[0].size()) return std::nullopt;
  std::vector<int64_t> of_step(by_step.size(), 0), usual(by_step.size(), 0);
  Lateness late;
  for (size_t place = 0; place < by_step[0].size(); ++place) {
    std::vector<int64_t> same;
    for (const auto& durations : by_step) same.push_back(durations[place]);
    const int64_t median = IntegerMedian(same), fastest = *std::ranges::min_element(same);
    for (size_t step = 0; step < same.size(); ++step) {
      usual[step] += median;
      if (same[step] >= kLate * median) of_step[step] += same[step] - median;
      if (same[step] >= std::max(kLate * fastest, fastest + kLeastWaitNs))
        late.over_fastest_ns += same[step] - fastest;
    }
  }
  // Single short calls that wait make no late step.
  for (size_t step = 0; step < of_step.size(); ++step) {
    late.ns += of_step[step];
    late.steps += 10 * of_step[step] > usual[step];
  }
  return late;
}

}  // namespace

std::optional<int64_t> BytesOf(const Trace& trace, const Collective& recorded) {
  if (recorded.dtype == kNoName) return std::nullopt;
  const auto type = ParseElementType(trace.names.View(recorded.dtype));
  const int64_t elements = std::max(recorded.in_elements, recorded.out_elements);
  return elements > 0 && type ? std::optional(elements * type->bytes) : std::nullopt;
}

double BusFactor(std::string_view collective, double ranks) {
  return (collective == "AllReduce" ? 2 : 1) * (ranks - 1) / ranks;
}

const std::string& CollectiveNames::Of(uint32_t k) {
  const Trace& trace = context_.trace;
  const auto of =
      trace.kernels.collective.size() == 0 ? size_t{0} : static_cast<size_t>(trace.kernels.collective[k]);
  const auto [name, is_new] = names_.try_emplace({trace.kernels.name[k], of});
  if (is_new) {
    std::string& kind = name->second;
    kind = CollectiveOfKernel(trace.names.View(trace.kernels.name[k]));
    // The kernel of an all-to-all sends and receives.
    if ((kind.empty() || kind == "SendRecv") && of > 0)
      if (std::string named = CollectiveOfFramework(trace.names.View(trace.collectives[of].name));
          !named.empty())
        kind = std::move(named);
    if (kind.empty()) kind = trace.names.View(trace.kernels.short_name[k]);
  }
  return name->second;
}

const RelationOf<CollectiveRow>& CollectiveRelation() {
  static const auto relation =
      RelationOf<CollectiveRow>("collective", "Collective kernels by kind, in the analysed window.")
          .Key("rank", &CollectiveRow::rank, kRankNumber, "Rank.")
          .Key("device", &CollectiveRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("collective", &CollectiveRow::collective, Unit::kText,
               "AllReduce, AllGather, ..., from the kernel's name or the framework; else the kernel's name.")
          .Column("calls", &CollectiveRow::calls, Unit::kCount, "Kernels.")
          .Column("calls_per_step", &CollectiveRow::calls_per_step, Unit::kCount,
                  "Per steady step; unknown without steps.")
          .Column("total_ns", &CollectiveRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("window_ns", &CollectiveRow::window_ns, Unit::kNanoseconds,
                  "Time with one running (union).")
          .Column("exposed_ns", &CollectiveRow::exposed_ns, Unit::kNanoseconds,
                  "Of that, without any computation running.")
          .Column("avg_ns", &CollectiveRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("median_ns", &CollectiveRow::median_ns, Unit::kNanoseconds, "Median duration.")
          .Column("max_ns", &CollectiveRow::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("compute_stream_ns", &CollectiveRow::compute_stream_ns, Unit::kNanoseconds,
                  "Sum of durations in streams that also compute: in order, so that they cannot overlap.")
          .Column("late_ns", &CollectiveRow::late_ns, Unit::kNanoseconds,
                  "Sum of what calls that take at least twice the median of those at the same place in other "
                  "steps take beyond it; unknown without three steps of equally many.")
          .Column("late_steps", &CollectiveRow::late_steps, Unit::kCount,
                  "Steady steps in which that is more than a tenth of their usual time; unknown as late_ns.")
          .Column(
              "waiting_ns", &CollectiveRow::waiting_ns, Unit::kNanoseconds,
              "Sum of what calls take beyond the fastest at the same place in other steps, where it is at "
              "least as much again, or beyond what their bytes take on the slowest of links, where that "
              "sum is more: they wait for other ranks. Unknown without sizes and without three steps of "
              "equally many.")
          .Column("large_calls", &CollectiveRow::large_calls, Unit::kCount,
                  "Calls of at least 1 MiB; unknown where the framework does not record sizes.",
                  capability::kOperatorShapes)
          .Column(
              "best_bus_bandwidth", &CollectiveRow::best_bus_bandwidth, Unit::kBytesPerSecond,
              "Of the fastest of these, as NCCL's tests define it: the one that waits least for other ranks; "
              "for two ranks where the group's size is not recorded.",
              capability::kOperatorShapes)
          .Column("alike_avg_ns", &CollectiveRow::alike_avg_ns, Unit::kNanoseconds,
                  "Mean duration of the other calls that carry at least half as many bytes as the longest; "
                  "unknown where there are none, or the framework does not record sizes.",
                  capability::kOperatorShapes)
          .Column("wide_share", &CollectiveRow::wide_share, Unit::kRatio,
                  "Of the time of calls whose type of elements is recorded, the share of those that carry "
                  "floating-point numbers of more than 16 bits.",
                  capability::kOperatorShapes)
          .Column("steps", &CollectiveRow::steps, Unit::kCount, "Steady steps; 0 where none were found.");
  return relation;
}

namespace {

constexpr int64_t kLargeBytes = 1 << 20;  // from which a transfer takes longer than its latency

std::optional<int64_t> BytesOfCall(const Trace& trace, uint32_t k) {
  const IntColumn& recorded = trace.kernels.collective;
  if (recorded.size() == 0 || recorded[k] <= 0) return std::nullopt;
  return BytesOf(trace, trace.collectives[static_cast<size_t>(recorded[k])]);
}

// What a call may take without waiting: its bytes on Gigabit Ethernet, and latencies that grow with the
// number of ranks; of a group with several large calls, its bytes as the fastest of these moves them.
constexpr double kLeastBytesPerNs = 0.1;
constexpr double kLatencyNs = 200e3, kLatencyPerRankNs = 10e3;
constexpr size_t kSeveral = 4;

// Of calls whose sizes are recorded.
std::optional<int64_t> BeyondBytes(const Trace& trace, const std::vector<uint32_t>& members) {
  struct Call {
    double bytes = 0, duration = 0;
  };
  std::map<std::pair<NameId, int64_t>, std::vector<Call>> groups;
  for (const uint32_t k : members) {
    const auto bytes = BytesOfCall(trace, k);
    if (!bytes) continue;
    const Collective& recorded = trace.collectives[static_cast<size_t>(trace.kernels.collective[k])];
    groups[{recorded.group, recorded.group_size}].push_back(
        {static_cast<double>(*bytes), static_cast<double>(trace.kernels.end[k] - trace.kernels.start[k])});
  }
  if (groups.empty()) return std::nullopt;
  double beyond = 0;
  for (const auto& [group, calls] : groups) {
    size_t large = 0;
    double rate = 0;
    for (const Call& call : calls) {
      if (call.bytes < kLargeBytes || !(call.duration > 0)) continue;
      ++large;
      rate = std::max(rate, call.bytes / call.duration);
    }
    // Of groups that are not told apart one may be within a node and another between nodes.
    const bool one_group = group.first != kNoName || group.second > 0;
    const double latency =
        kLatencyNs + kLatencyPerRankNs * static_cast<double>(std::max<int64_t>(group.second, 2));
    for (const Call& call : calls) {
      const double alike = latency + call.bytes / rate;
      if (one_group && large >= kSeveral && call.duration >= kLate * alike)
        beyond += call.duration - alike;
      else
        beyond += std::max(0.0, call.duration - latency - 2 * call.bytes / kLeastBytesPerNs);
    }
  }
  return static_cast<int64_t>(beyond);
}

// Of the calls that carry at least half as many bytes as the longest, without that.
std::optional<double> MeanOfAlike(const Trace& trace, const std::vector<uint32_t>& members) {
  const auto duration = [&](uint32_t k) { return trace.kernels.end[k] - trace.kernels.start[k]; };
  const auto longest = std::ranges::max_element(members, {}, duration);
  const auto most = BytesOfCall(trace, *longest);
  if (!most) return std::nullopt;
  int64_t count = 0, sum = 0;
  for (const uint32_t k : members) {
    if (k == *longest || 2 * BytesOfCall(trace, k).value_or(0) < *most) continue;
    ++count;
    sum += duration(k);
  }
  return count > 0 ? std::optional(static_cast<double>(sum) / static_cast<double>(count)) : std::nullopt;
}

// Of the time of calls whose type of elements is recorded.
std::optional<double> ShareOfWideNumbers(const Trace& trace, const std::vector<uint32_t>& members) {
  int64_t known = 0, wide = 0;
  if (trace.kernels.collective.size() == 0) return std::nullopt;
  for (const uint32_t k : members) {
    const auto carried = static_cast<size_t>(trace.kernels.collective[k]);
    if (carried == 0 || trace.collectives[carried].dtype == kNoName) continue;
    const auto type = ParseElementType(trace.names.View(trace.collectives[carried].dtype));
    if (!type) continue;
    const int64_t duration = trace.kernels.end[k] - trace.kernels.start[k];
    known += duration;
    if (type->is_float && type->bytes > 2) wide += duration;
  }
  return known > 0 ? std::optional(static_cast<double>(wide) / static_cast<double>(known)) : std::nullopt;
}

void AddRate(const Trace& trace, uint32_t k, CollectiveRow& row) {
  const Kernels& kernels = trace.kernels;
  const auto bytes = BytesOfCall(trace, k);
  if (!bytes) return;
  const Collective& recorded = trace.collectives[static_cast<size_t>(kernels.collective[k])];
  row.large_calls = row.large_calls.value_or(0) + (*bytes >= kLargeBytes);
  if (*bytes < kLargeBytes || kernels.end[k] <= kernels.start[k]) return;
  const auto ranks = static_cast<double>(recorded.group_size > 1 ? recorded.group_size : 2);
  const double rate = static_cast<double>(*bytes) * 1e9 /
                      static_cast<double>(kernels.end[k] - kernels.start[k]) *
                      BusFactor(row.collective, ranks);
  row.best_bus_bandwidth = std::max(row.best_bus_bandwidth.value_or(0), rate);
}

}  // namespace

std::vector<CollectiveRow> ComputeCollectives(const Context& context,
                                              const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  std::vector<CollectiveRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const Interval window = context.windows[gpu];
    CollectiveNames names(context);
    std::map<std::string, std::pair<CollectiveRow, std::vector<uint32_t>>> by_kind;
    std::set<int64_t> compute_streams;
    for (const uint32_t k : context.work[gpu].kernels) {
      if (kernels.start[k] < window.start || kernels.start[k] >= window.end) continue;
      if (!context.kernels[kernels.name[k]].communication) {
        compute_streams.insert(kernels.stream[k]);
        continue;
      }
      by_kind[names.Of(k)].second.push_back(k);
    }
    for (auto& [kind, entry] : by_kind) {
      auto& [row, members] = entry;
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.collective = kind;
      row.calls = static_cast<int64_t>(members.size());
      std::vector<Interval> intervals;
      std::vector<int64_t> durations;
      for (const uint32_t k : members) {
        intervals.push_back({kernels.start[k], kernels.end[k]});
        durations.push_back(kernels.end[k] - kernels.start[k]);
        row.total_ns += durations.back();
        if (compute_streams.contains(kernels.stream[k])) row.compute_stream_ns += durations.back();
        AddRate(trace, k, row);
      }
      const IntervalSet inside = Clip(Union(std::move(intervals)), window);
      row.window_ns = Length(inside);
      row.exposed_ns = Length(Intersect(inside, timelines[gpu].exposed_communication));
      std::sort(durations.begin(), durations.end());
      const size_t n = durations.size();
      row.avg_ns = static_cast<double>(row.total_ns) / static_cast<double>(n);
      row.median_ns = static_cast<double>(durations[(n - 1) / 2] + durations[n / 2]) / 2;
      row.max_ns = durations.back();
      row.alike_avg_ns = MeanOfAlike(trace, members);
      row.waiting_ns = BeyondBytes(trace, members);
      row.wide_share = ShareOfWideNumbers(trace, members);
      if (const auto late = LatenessOf(context, row.rank, members)) {
        row.late_ns = late->ns;
        row.late_steps = late->steps;
        row.waiting_ns = std::max(row.waiting_ns.value_or(0), late->over_fastest_ns);
      }
      row.steps = context.StepCount(row.rank);
      if (row.steps > 0) row.calls_per_step = static_cast<double>(row.calls) / static_cast<double>(row.steps);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const Family& CollectiveFamily() {
  static const Family family = FamilyOf(CollectiveRelation(), ComputeCollectives);
  return family;
}

}  // namespace dladvisor
