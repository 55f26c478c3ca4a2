#include "src/analysis/collective.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dladvisor {
namespace {

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" -> "AllReduce"; other kernels by their own name.
std::string CollectiveOf(std::string_view name, std::string_view short_name) {
  static const RE2 pattern(
      R"((?i)(AllReduce|AllGather|ReduceScatter|Broadcast|SendRecv|AllToAll|Reduce|Gather|Scatter))");
  std::string found;
  if (RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), pattern, &found)) return found;
  return std::string(short_name);
}

}  // namespace

const RelationOf<CollectiveRow>& CollectiveRelation() {
  static const auto relation =
      RelationOf<CollectiveRow>("collective", "Collective kernels by kind, in the analysed window.")
          .Key("rank", &CollectiveRow::rank, Unit::kNone, "Rank.")
          .Key("device", &CollectiveRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("collective", &CollectiveRow::collective, Unit::kText, "AllReduce, AllGather, ...")
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
                  "Sum of durations in streams that also compute: in order, so that they cannot overlap.");
  return relation;
}

std::vector<CollectiveRow> ComputeCollectives(const Context& context,
                                              const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  std::vector<CollectiveRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const Interval window = context.windows[gpu];
    std::map<NameId, std::string> names;
    std::map<std::string, std::pair<CollectiveRow, std::vector<uint32_t>>> by_kind;
    std::set<int64_t> compute_streams;
    for (const uint32_t k : context.work[gpu].kernels) {
      if (kernels.start[k] < window.start || kernels.start[k] >= window.end) continue;
      if (!context.kernels[kernels.name[k]].communication) {
        compute_streams.insert(kernels.stream[k]);
        continue;
      }
      const auto [name, is_new] = names.try_emplace(kernels.name[k]);
      if (is_new)
        name->second =
            CollectiveOf(trace.names.View(kernels.name[k]), trace.names.View(kernels.short_name[k]));
      by_kind[name->second].second.push_back(k);
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
      }
      const IntervalSet inside = Clip(Union(std::move(intervals)), window);
      row.window_ns = Length(inside);
      row.exposed_ns = Length(Intersect(inside, timelines[gpu].exposed_communication));
      std::sort(durations.begin(), durations.end());
      const size_t n = durations.size();
      row.avg_ns = static_cast<double>(row.total_ns) / static_cast<double>(n);
      row.median_ns = static_cast<double>(durations[(n - 1) / 2] + durations[n / 2]) / 2;
      row.max_ns = durations.back();
      if (const int64_t steps = context.StepCount(row.rank); steps > 0)
        row.calls_per_step = static_cast<double>(row.calls) / static_cast<double>(steps);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace dladvisor
