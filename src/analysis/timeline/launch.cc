// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/launch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/capture/capability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr size_t kMostSampled = 1 << 16;  // calls that a median is taken of, evenly spaced
constexpr Ns kLong = 20'000;              // calls that only launch return sooner

}  // namespace

const RelationOf<LaunchRow>& LaunchRelation() {
  static const auto relation =
      RelationOf<LaunchRow>("launch",
                            "How kernels were launched, per rank and device, in the analysed window.")
          .Key("rank", &LaunchRow::rank, kRankNumber, "Rank.")
          .Key("device", &LaunchRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("launches", &LaunchRow::launches, Unit::kCount, "Kernels that start in the window.")
          .Column("graph_launches", &LaunchRow::graph_launches, Unit::kCount,
                  "CUDA graph launches traced as a whole.")
          .Column("graph_kernels", &LaunchRow::graph_kernels, Unit::kCount,
                  "Kernels that are nodes of a CUDA graph.")
          .Column(
              "avg_api_ns", &LaunchRow::avg_api_ns, Unit::kNanoseconds,
              "Mean duration of the launching call; of one that launches several kernels, as a CUDA graph, "
              "their share.",
              capability::kGpuWork)
          .Column("median_api_ns", &LaunchRow::median_api_ns, Unit::kNanoseconds,
                  "Median of the same (of every n-th from 65,536 on), which calls that load a kernel at its "
                  "first "
                  "use do not move.",
                  capability::kGpuWork)
          .Column("median_interval_ns", &LaunchRow::median_interval_ns, Unit::kNanoseconds,
                  "Median time from one launching call to the next of its thread: what the host takes for a "
                  "kernel, all that leads up to its launch included.",
                  capability::kGpuWork)
          .Column("api_ns", &LaunchRow::api_ns, Unit::kNanoseconds,
                  "Time in those calls, in the window of the host.", capability::kGpuWork)
          .Column("median_queue_delay_ns", &LaunchRow::median_queue_delay_ns, Unit::kNanoseconds,
                  "Median time from the launching call's start to the kernel's start.", capability::kGpuWork)
          .Column("tiny_kernels", &LaunchRow::tiny_kernels, Unit::kCount,
                  "Kernels shorter than the call that launches them, and only them.", capability::kGpuWork)
          .Column("tiny_share", &LaunchRow::tiny_share, Unit::kRatio, "Of the kernels whose launch is known.",
                  capability::kGpuWork)
          .Column("min_latency_ns", &LaunchRow::min_latency_ns, Unit::kNanoseconds,
                  "The device's own launch latency: 5th percentile of that delay over all kernels, at most "
                  "100 µs.",
                  capability::kGpuWork)
          .Column("long_kernels", &LaunchRow::long_kernels, Unit::kCount,
                  "Kernels of 20 µs and more with a launching call of their own.", capability::kGpuWork)
          .Column("awaited_kernels", &LaunchRow::awaited_kernels, Unit::kCount,
                  "Of those, kernels that run within that call: it returns when they have ended.",
                  capability::kGpuWork)
          .Column("awaited_ns", &LaunchRow::awaited_ns, Unit::kNanoseconds,
                  "Time from the start of kernels of any length that run within their call to its end.",
                  capability::kGpuWork);
  return relation;
}

std::vector<LaunchRow> ComputeLaunches(const Context& context, const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  std::vector<LaunchRow> rows;
  std::vector<uint8_t> kernels_of(trace.api_calls.size(), 0);  // by call: 1, or 2 for more
  std::map<uint32_t, int64_t> many;
  int64_t* of_last = nullptr;  // the kernels of one graph mostly follow one another
  for (uint32_t last = kNoIndex; const uint32_t call : context.launches.kernel) {
    if (call == kNoIndex) continue;
    if (kernels_of[call] == 0) {
      kernels_of[call] = 1;
      continue;
    }
    if (last != call) of_last = &many[last = call];
    *of_last += kernels_of[call] == 1 ? 2 : 1;
    kernels_of[call] = 2;
  }
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    const Interval window = timelines[gpu].window;
    LaunchRow row;
    row.rank = context.ranks.gpus[gpu].rank;
    row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.min_latency_ns = timelines[gpu].min_latency_ns;
    std::vector<int64_t> delays;
    std::vector<double> parts;  // of the calls' durations
    std::vector<int64_t> intervals;
    std::vector<uint32_t> last_call(trace.threads.size(), kNoIndex);  // by thread
    delays.reserve(context.work[gpu].kernels.size());
    const size_t stride = context.work[gpu].kernels.size() / kMostSampled + 1;
    const Interval host = context.HostWindowOf(row.rank);
    int64_t tiny = 0, long_kernels = 0, awaited = 0;
    Ns awaited_ns = 0;
    double api_ns = 0, inside_ns = 0, part = 0;
    uint32_t part_of = kNoIndex;  // the call that `part` is of
    for (const uint32_t k : context.work[gpu].kernels) {
      if (trace.kernels.start[k] < window.start || trace.kernels.start[k] >= window.end) continue;
      ++row.launches;
      row.graph_kernels += trace.kernels.graph_node[k] != 0;
      const uint32_t call = context.launches.kernel[k];
      if (call == kNoIndex) continue;
      const int64_t call_ns = trace.api_calls.end[call] - trace.api_calls.start[call];
      delays.push_back(trace.kernels.start[k] - trace.api_calls.start[call]);
      if (part_of != call) {
        if (const uint32_t thread = trace.api_calls.thread[call]; thread != kNoIndex) {
          const uint32_t before = std::exchange(last_call[thread], call);
          const Ns interval =
              before == kNoIndex ? 0 : trace.api_calls.start[call] - trace.api_calls.start[before];
          if (interval > 0 && delays.size() % stride == 0) intervals.push_back(interval);
        }
        part_of = call;
        part = kernels_of[call] == 1 ? 1 : 1 / static_cast<double>(many.at(call));
      }
      api_ns += part * static_cast<double>(call_ns);
      if (delays.size() % stride == 0) parts.push_back(part * static_cast<double>(call_ns));
      inside_ns +=
          part * static_cast<double>(std::max<Ns>(0, std::min(trace.api_calls.end[call], host.end) -
                                                         std::max(trace.api_calls.start[call], host.start)));
      // One graph launch starts many kernels: its duration is not theirs.
      tiny += kernels_of[call] == 1 && trace.kernels.graph_node[k] == 0 &&
              trace.kernels.end[k] - trace.kernels.start[k] < call_ns;
      if (kernels_of[call] != 1 || trace.kernels.graph_node[k] != 0) continue;
      const bool is_long = trace.kernels.end[k] - trace.kernels.start[k] >= kLong;
      long_kernels += is_long;
      if (trace.kernels.start[k] < trace.api_calls.start[call] ||
          trace.kernels.end[k] > trace.api_calls.end[call])
        continue;
      awaited += is_long;
      awaited_ns += trace.api_calls.end[call] - trace.kernels.start[k];
    }
    for (const uint32_t g : context.work[gpu].graphs)
      row.graph_launches +=
          trace.graph_launches.start[g] >= window.start && trace.graph_launches.start[g] < window.end;
    if (!delays.empty()) {
      const auto count = static_cast<double>(delays.size());
      row.avg_api_ns = api_ns / count;
      row.api_ns = static_cast<int64_t>(inside_ns);
      row.tiny_kernels = tiny;
      row.tiny_share = static_cast<double>(tiny) / count;
      row.long_kernels = long_kernels;
      row.awaited_kernels = awaited;
      row.awaited_ns = awaited_ns;
      row.median_queue_delay_ns = Median(delays);
      row.median_api_ns = Median(parts);
      if (!intervals.empty()) row.median_interval_ns = Median(intervals);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& LaunchFamily() {
  static const Family family = FamilyOf(LaunchRelation(), ComputeLaunches);
  return family;
}

}  // namespace dladvisor
