#include "src/analysis/launch.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace dladvisor {

const RelationOf<LaunchRow>& LaunchRelation() {
  static const char* kFlag = "--trace=cuda";
  static const auto relation =
      RelationOf<LaunchRow>("launch",
                            "How kernels were launched, per rank and device, in the analysed window.")
          .Key("rank", &LaunchRow::rank, Unit::kNone, "Rank.")
          .Key("device", &LaunchRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("launches", &LaunchRow::launches, Unit::kCount, "Kernels that start in the window.")
          .Column("graph_launches", &LaunchRow::graph_launches, Unit::kCount,
                  "CUDA graph launches traced as a whole.")
          .Column("graph_kernels", &LaunchRow::graph_kernels, Unit::kCount,
                  "Kernels that are nodes of a CUDA graph.")
          .Column("avg_api_ns", &LaunchRow::avg_api_ns, Unit::kNanoseconds,
                  "Mean duration of the launching call.", kFlag)
          .Column("median_queue_delay_ns", &LaunchRow::median_queue_delay_ns, Unit::kNanoseconds,
                  "Median time from the launching call's start to the kernel's start.", kFlag)
          .Column("tiny_kernels", &LaunchRow::tiny_kernels, Unit::kCount,
                  "Kernels shorter than the call that launches them.", kFlag)
          .Column("tiny_share", &LaunchRow::tiny_share, Unit::kRatio, "Of the kernels whose launch is known.",
                  kFlag)
          .Column("min_latency_ns", &LaunchRow::min_latency_ns, Unit::kNanoseconds,
                  "The device's own launch latency: 5th percentile of that delay over all kernels.", kFlag);
  return relation;
}

std::vector<LaunchRow> ComputeLaunches(const Context& context, const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  std::vector<LaunchRow> rows;
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    const Interval window = timelines[gpu].window;
    LaunchRow row;
    row.rank = context.ranks.gpus[gpu].rank;
    row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.min_latency_ns = timelines[gpu].min_latency_ns;
    std::vector<int64_t> delays;
    delays.reserve(context.work[gpu].kernels.size());
    int64_t api_ns = 0, tiny = 0;
    for (const uint32_t k : context.work[gpu].kernels) {
      if (trace.kernels.start[k] < window.start || trace.kernels.start[k] >= window.end) continue;
      ++row.launches;
      row.graph_kernels += trace.kernels.graph_node[k] != 0;
      const uint32_t call = context.launches.kernel[k];
      if (call == kNoIndex) continue;
      const int64_t call_ns = trace.api_calls.end[call] - trace.api_calls.start[call];
      delays.push_back(trace.kernels.start[k] - trace.api_calls.start[call]);
      api_ns += call_ns;
      // One graph launch starts many kernels: its duration is not theirs.
      tiny += trace.kernels.graph_node[k] == 0 && trace.kernels.end[k] - trace.kernels.start[k] < call_ns;
    }
    for (const uint32_t g : context.work[gpu].graphs)
      row.graph_launches +=
          trace.graph_launches.start[g] >= window.start && trace.graph_launches.start[g] < window.end;
    if (!delays.empty()) {
      const auto count = static_cast<double>(delays.size());
      row.avg_api_ns = static_cast<double>(api_ns) / count;
      row.tiny_kernels = tiny;
      row.tiny_share = static_cast<double>(tiny) / count;
      const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
      std::nth_element(delays.begin(), middle, delays.end());
      row.median_queue_delay_ns = static_cast<double>(*middle);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace dladvisor
