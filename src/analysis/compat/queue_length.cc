// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/queue_length.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<QueueLengthRow>& QueueLengthRelation() {
  using Row = QueueLengthRow;
  static const auto relation =
      RelationOf<Row>("queue_length", "Operations that wait in the queue of each stream.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("stream", &Row::stream, Unit::kNone, "Stream, as the profiler numbers it.")
          .Column("count", &Row::count, Unit::kCount, "Changes of the length: two per operation.")
          .Column("mean", &Row::mean, Unit::kCount, "Mean length after a change.")
          .Column("stddev", &Row::stddev, Unit::kCount, "Its sample standard deviation.")
          .Column("min", &Row::min, Unit::kCount, "Least length.")
          .Column("q25", &Row::q25, Unit::kCount, "First quartile.")
          .Column("median", &Row::median, Unit::kCount, "Median.")
          .Column("q75", &Row::q75, Unit::kCount, "Third quartile.")
          .Column("max", &Row::max, Unit::kCount, "Greatest length.");
  return relation;
}

const RelationOf<LaunchStatisticsRow>& LaunchStatisticsRelation() {
  using Row = LaunchStatisticsRow;
  static const auto relation =
      RelationOf<Row>("launch_statistics", "Launches of kernels, copies and sets of a rank.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Column("launches", &Row::launches, Unit::kCount, "Operations whose launching call is recorded.")
          .Column("short_kernels", &Row::short_kernels, Unit::kCount,
                  "Those that run shorter than their call took, of calls of 50 us or less.")
          .Column("slow_calls", &Row::slow_calls, Unit::kCount, "Those whose call took more than 50 us.")
          .Column("late_starts", &Row::late_starts, Unit::kCount,
                  "Those that start more than 100 us after their call.")
          .Column("mean_call_ns", &Row::mean_call_ns, Unit::kNanoseconds, "Mean time in the call.")
          .Column("median_call_ns", &Row::median_call_ns, Unit::kNanoseconds, "Median time in the call.")
          .Column("mean_gpu_ns", &Row::mean_gpu_ns, Unit::kNanoseconds, "Mean time on the GPU.")
          .Column("median_gpu_ns", &Row::median_gpu_ns, Unit::kNanoseconds, "Median time on the GPU.")
          .Column("mean_delay_ns", &Row::mean_delay_ns, Unit::kNanoseconds,
                  "Mean time from the end of the call to the start on the GPU, 0 where that is before.")
          .Column("median_delay_ns", &Row::median_delay_ns, Unit::kNanoseconds, "Median of that.")
          .Column("max_delay_ns", &Row::max_delay_ns, Unit::kNanoseconds, "Longest.");
  return relation;
}

namespace {

// By name id, whether calls of it put one operation into a stream's queue.
std::vector<bool> Enqueues(const Context& context) {
  const std::vector<ApiKind>& kinds = context.api_kinds;
  std::vector<bool> result(kinds.size(), false);
  for (NameId name = 0; name < kinds.size(); ++name) {
    const std::string_view call = ApiBaseName(context.trace.names.View(name));
    const bool is_set =
        call == "cudaMemsetAsync" || call == "hipMemsetAsync" || call.starts_with("cuMemsetD");
    const bool is_graph = call.find("Graph") != std::string_view::npos;
    result[name] = (kinds[name] == ApiKind::kLaunch && !is_graph) || kinds[name] == ApiKind::kAsyncCopy ||
                   is_set || call == "hipMemcpyWithStream";
  }
  return result;
}

}  // namespace

std::vector<QueueLengthRow> ComputeQueueLengths(const Context& context,
                                                const std::vector<ProfiledWork>& work) {
  const ApiCalls& calls = context.trace.api_calls;
  const std::vector<bool> enqueues = Enqueues(context);
  std::vector<QueueLengthRow> rows;
  for (const ProfiledWork& rank : work) {
    struct Stream {
      std::vector<Ns> calls, starts;
    };
    std::map<int64_t, Stream> streams;
    ForEachProfiled(context, rank, [&](const ProfiledOperation& operation) {
      if (operation.call == kNoIndex || !enqueues[calls.name[operation.call]]) return;
      Stream& stream = streams[operation.stream];
      stream.calls.push_back(calls.start[operation.call]);
      stream.starts.push_back(operation.time.start);
    });
    for (auto& [number, stream] : streams) {
      std::sort(stream.calls.begin(), stream.calls.end());
      // What is enqueued at a time counts before what starts then.
      std::map<int64_t, int64_t> lengths;  // length -> times
      size_t called = 0, started = 0;
      while (started < stream.starts.size()) {
        if (called < stream.calls.size() && stream.calls[called] <= stream.starts[started])
          ++called;
        else
          ++started;
        ++lengths[static_cast<int64_t>(called) - static_cast<int64_t>(started)];
      }
      for (; called < stream.calls.size();)
        ++lengths[static_cast<int64_t>(++called) - static_cast<int64_t>(started)];
      const Distribution d = Describe(lengths);
      rows.push_back({rank.rank, number, d.count, d.mean, d.stddev, d.min, d.q25, d.median, d.q75, d.max});
    }
  }
  return rows;
}

std::vector<LaunchStatisticsRow> ComputeLaunchStatistics(const Context& context,
                                                         const std::vector<ProfiledWork>& work) {
  constexpr Ns kSlowCall = 50'000, kLateStart = 100'000;
  const ApiCalls& calls = context.trace.api_calls;
  const std::vector<bool> enqueues = Enqueues(context);
  std::vector<LaunchStatisticsRow> rows;
  for (const ProfiledWork& rank : work) {
    LaunchStatisticsRow row;
    row.rank = rank.rank;
    std::vector<int64_t> call_times, gpu_times, delays;
    ForEachProfiled(context, rank, [&](const ProfiledOperation& operation) {
      if (operation.call == kNoIndex || !enqueues[calls.name[operation.call]]) return;
      const Ns call = calls.end[operation.call] - calls.start[operation.call];
      const Ns gpu = operation.time.length();
      const Ns delay = std::max<Ns>(0, operation.time.start - calls.end[operation.call]);
      row.short_kernels += call <= kSlowCall && gpu < call;
      row.slow_calls += call > kSlowCall;
      row.late_starts += delay > kLateStart;
      call_times.push_back(call);
      gpu_times.push_back(gpu);
      delays.push_back(delay);
    });
    if (call_times.empty()) continue;
    const Distribution call = Describe(std::move(call_times)), gpu = Describe(std::move(gpu_times)),
                       delay = Describe(std::move(delays));
    row.launches = call.count;
    row.mean_call_ns = call.mean;
    row.median_call_ns = call.median;
    row.mean_gpu_ns = gpu.mean;
    row.median_gpu_ns = gpu.median;
    row.mean_delay_ns = delay.mean;
    row.median_delay_ns = delay.median;
    row.max_delay_ns = delay.max;
    rows.push_back(row);
  }
  return rows;
}

const Family& QueueLengthFamily() {
  static const Family family = FamilyOf(QueueLengthRelation(), ComputeQueueLengths).OnDemand();
  return family;
}

const Family& LaunchStatisticsFamily() {
  static const Family family = FamilyOf(LaunchStatisticsRelation(), ComputeLaunchStatistics).OnDemand();
  return family;
}

}  // namespace dladvisor
